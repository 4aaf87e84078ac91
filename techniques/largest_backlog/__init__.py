"""Largest backlog first: which of several siblings may send (Hone, TPDS'21, Algorithm 1)."""
