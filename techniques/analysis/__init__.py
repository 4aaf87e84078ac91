"""What weeks of history say that two minutes do not: arrays in, frozen values out, pure.

One question per file; each answer carries the p-value or the interval that it is held against.
"""
