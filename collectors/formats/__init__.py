"""Bytes and values that the collector writes and the dashboard reads. Standard library only."""
