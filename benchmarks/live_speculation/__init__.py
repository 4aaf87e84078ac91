"""Switches Spark's own speculation on or off in a running driver; a technique for the benchmark."""
