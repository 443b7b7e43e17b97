"""Benchmarks of the kernel and the server; `python -m benchmarks` runs them all."""
