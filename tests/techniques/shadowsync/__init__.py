"""The ShadowSync technique without Spark."""
