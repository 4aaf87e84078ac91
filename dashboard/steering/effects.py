"""What a technique changed on a job: blocks before it was applied against blocks since."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.formats import keys, wire
from dashboard.models import TechniqueSetting
from dashboard.series import blocks, windows
from dashboard.store import Store
from techniques.effect import BLOCK_MS, ratio

LOOKS_BACK_MS = 300_000
# Not counted after a change: rewriting files and working off the backlog is not its effect.
SETTLES_MS = 10_000
# Frames may arrive this late: a block is read only when all of its frames must be there.
LATE_MS = 2_000

# The parts of a frame that blocks need.
NEEDS = wire.Only(
    sections=frozenset((wire.LATENCY, wire.BATCHES, wire.STAMPED, wire.WARMING_UP)),
    metrics=frozenset(),
)

BlockRow = Mapping[str, float]


@dataclass(frozen=True)
class _Since:
    """The whole blocks of a job from `start_ms` to `end_ms`."""

    start_ms: int
    end_ms: int
    blocks: Sequence[BlockRow] = ()


class Effects:
    """Caches the blocks since a technique was applied, so that every frame is read only once."""

    def __init__(self) -> None:
        self._since: dict[str, _Since] = {}

    async def effect(
        self, store: Store, setting: TechniqueSetting, now_ms: int
    ) -> dict[str, Any] | None:
        if setting.applied_ms is None or not setting.before:
            return None
        start_ms = max(setting.applied_ms + SETTLES_MS, now_ms - LOOKS_BACK_MS)
        since = await self._read(store, setting.job_id, start_ms, now_ms)
        after = [block for block in since if block["start_ms"] >= start_ms]
        return compared(setting.before, after)

    def forget_all_but(self, job_ids: Collection[str]) -> None:
        self._since = {job_id: held for job_id, held in self._since.items() if job_id in job_ids}

    async def _read(
        self, store: Store, job_id: str, start_ms: int, now_ms: int
    ) -> Sequence[BlockRow]:
        first_ms = start_ms // BLOCK_MS * BLOCK_MS
        held = self._since.get(job_id)
        if held is None or first_ms < held.start_ms or first_ms > held.end_ms:
            held = _Since(first_ms, first_ms)
        end_ms = (now_ms - LATE_MS) // BLOCK_MS * BLOCK_MS
        if end_ms > held.end_ms:
            news = await _between(store, job_id, held.end_ms, end_ms)
            kept = [block for block in held.blocks if block["start_ms"] >= now_ms - LOOKS_BACK_MS]
            held = _Since(held.start_ms, end_ms, (*kept, *news))
        self._since[job_id] = held
        return held.blocks


async def before(store: Store, job_id: str, applied_ms: int) -> list[BlockRow]:
    """The blocks before the change. Stored with the setting: streams keep only an hour."""
    return await _between(store, job_id, applied_ms - LOOKS_BACK_MS, applied_ms)


def compared(first: Sequence[BlockRow], second: Sequence[BlockRow]) -> dict[str, Any] | None:
    if not first or not second:
        return None
    ratios = {}
    for name in blocks.PERCENTILES:
        found = ratio([block[name] for block in first], [block[name] for block in second])
        ratios[name] = found and {"ratio": found.ratio, "low": found.low, "high": found.high}
    return {"before": _summary(first), "after": _summary(second), "ratios": ratios}


def _summary(found: Sequence[BlockRow]) -> dict[str, float]:
    """The range and the mean percentiles over blocks, which the ratios compare too."""
    means = {name: sum(block[name] for block in found) / len(found) for name in blocks.PERCENTILES}
    return {
        "start_ms": found[0]["start_ms"],
        "end_ms": found[-1]["start_ms"] + BLOCK_MS,
        "count": sum(block["count"] for block in found),
        "blocks": len(found),
        **means,
    }


async def _between(store: Store, job_id: str, start_ms: int, end_ms: int) -> list[BlockRow]:
    entries = await store.entries(keys.frames(job_id), start_ms, end_ms)
    frames, _ = windows.read(entries, NEEDS)
    whole = blocks.whole(blocks.blocks(frames), start_ms, end_ms)
    return [block.as_dict() for block in whole]
