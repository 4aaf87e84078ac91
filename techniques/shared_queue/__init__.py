"""One queue for all instances of an operator on a host (Du & Gupta, DCC'16, section 3.2)."""
