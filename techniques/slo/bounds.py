"""The most that a job may be given. Without NumPy: the collector in the user's driver reads it."""

MOST_INSTANCES, MOST_SHARE, MOST_EXECUTORS = 64, 100, 10_000
