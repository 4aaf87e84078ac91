"""What a frame says of techniques, as pages get it."""

from typing import Any

from collectors.formats.asked import Asked


def row(asked: Asked | None) -> dict[str, Any] | None:
    """None as long as nothing was asked of the job."""
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
