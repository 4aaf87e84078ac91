"""Latency-based load balancing (Du & Gupta, DCC'16, Algorithm 2)."""
