"""Converts what a frame reports about techniques for the live feed."""

from typing import Any

from collectors.formats.asked import Asked


def row(asked: Asked | None) -> dict[str, Any] | None:
    """Returns None as long as no technique was switched on for the job."""
    if asked is None:
        return None
    return {
        "version": asked.version,
        "settled": asked.settled,
        "techniques": {
            told.technique: {
                "mode": told.mode,
                "state": told.state.name.lower(),
                "version": told.version,
                "because": told.because,
            }
            for told in asked.techniques
        },
    }
