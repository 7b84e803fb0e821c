"""The project's own tests, golden runs and benchmarks."""
