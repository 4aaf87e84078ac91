"""What a technique changed on a job: blocks before it was applied against blocks since."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors.formats import keys
from dashboard.models import TechniqueSetting
from dashboard.series import blocks, windows
from dashboard.store import Store
from techniques.effect import BLOCK_MS, ratio

LOOKS_BACK_MS = 300_000
# The change itself, files it rewrites and backlogs it leaves, is no part of its effect.
SETTLES_MS = 10_000


async def before(store: Store, job_id: str, applied_ms: int) -> list[dict[str, float]]:
    """Kept with the setting: the stream forgets after an hour."""
    return await _between(store, job_id, applied_ms - LOOKS_BACK_MS, applied_ms)


async def effect(store: Store, setting: TechniqueSetting, now_ms: int) -> dict[str, Any] | None:
    if setting.applied_ms is None or not setting.before:
        return None
    start_ms = max(setting.applied_ms + SETTLES_MS, now_ms - LOOKS_BACK_MS)
    after = await _between(store, setting.job_id, start_ms, now_ms)
    return compared(setting.before, after)


def compared(
    first: Sequence[Mapping[str, float]], second: Sequence[Mapping[str, float]]
) -> dict[str, Any] | None:
    if not first or not second:
        return None
    ratios = {}
    for name in blocks.PERCENTILES:
        found = ratio([block[name] for block in first], [block[name] for block in second])
        ratios[name] = found and {"ratio": found.ratio, "low": found.low, "high": found.high}
    return {"before": _summary(first), "after": _summary(second), "ratios": ratios}


def _summary(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means over blocks, as the ratios are."""
    means = {name: sum(block[name] for block in found) / len(found) for name in blocks.PERCENTILES}
    return {
        "start_ms": found[0]["start_ms"],
        "end_ms": found[-1]["start_ms"] + BLOCK_MS,
        "count": sum(block["count"] for block in found),
        "blocks": len(found),
        **means,
    }


async def _between(store: Store, job_id: str, start_ms: int, end_ms: int) -> list[dict[str, float]]:
    frames, _ = windows.read(await store.entries(keys.frames(job_id), start_ms, end_ms))
    whole = blocks.whole(blocks.blocks(frames), start_ms, end_ms)
    return [block.as_dict() for block in whole]
