"""Weeks of windows: what Redis held for an hour, kept in Delta tables and asked without Spark.

`archive.Archive` is the way in. Executors of the user's cluster import these modules, so there is
neither Django nor Redis nor the dashboard's store here, and PySpark only in `spark`.
"""
