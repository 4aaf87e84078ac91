"""The harness of our own tests and benchmarks: real programs, started and ended by process id."""
