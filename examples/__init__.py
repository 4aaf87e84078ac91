"""Streaming jobs to look at: each runs alone (`python -m examples.traffic_jam --help`)."""
