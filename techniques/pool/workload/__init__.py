"""Loads on a pool without Spark: topologies, arrivals, heterogeneity, and the driver."""
