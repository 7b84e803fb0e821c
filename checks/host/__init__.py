"""The real Claude Code client against a scripted model server: `lab` starts it, `policy` plays the model."""
