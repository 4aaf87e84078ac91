"""Adaptive timeout by speculation: Algorithm 1 of Du & Gupta (DCC'16) over the tasks of Spark."""
