"""Latency-based balancing of state partitions (Du & Gupta, DCC'16, Algorithm 2)."""
