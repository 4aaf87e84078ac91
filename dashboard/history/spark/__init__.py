"""The parts of the history that run on Spark: the only ones that import PySpark."""
