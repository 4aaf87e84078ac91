"""Adaptive timeout with selective replay (Du & Gupta, DCC'16, Algorithm 1)."""
