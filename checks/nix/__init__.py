"""The parts of the flake, and what puts it to work on a machine without nixpkgs (`run`, `offline/`)."""
