"""Durations as people read them."""


def said(ms: float) -> str:
    """Three significant digits with a unit: 0.24 ms, 61.5 ms, 1.2 s, 5000 s."""
    if ms < 999.5:
        return f"{ms:.3g} ms"
    seconds = ms / 1000
    return f"{seconds:.3g} s" if seconds < 999.5 else f"{seconds:.0f} s"
