"""Skewed partition: a state partition whose tasks take persistently longer than those of its
siblings on the same executor, wherever it runs. Its key range is heavy, not its executor, so moving
it would not help. Where the job watches its keys, the finding names the heavy ones.

Held against chance: `slow_partitions`.
"""

from techniques.detection.finding import Finding
from techniques.detection.skew_advice import MORE_PARTITIONS, SALT_THE_KEY, WATCH_THE_KEYS
from techniques.detection.slow_partitions import SlowPartition, slow_partitions
from techniques.durations import said
from techniques.model import Advice, Evidence
from techniques.view import HeavyKey, Reads, View

KIND = "skewed_partition"
TECHNIQUE: str | None = None
READS = frozenset((Reads.TASKS, Reads.HEAVY_KEYS))
# A single key is to blame once it alone has half of what a partition has on average.
HEAVY = 0.5
MOST_KEYS = 3
# Beside a heavy key, one with less than this share of its rows is not worth a line.
BESIDE = 0.1


def find(view: View) -> list[Finding]:
    """The slowest partition, with the other slow ones in its evidence: the remedy is the same."""
    slow = slow_partitions(view)
    return [_finding(view, slow[0], slow[1:])] if slow else []


def _finding(view: View, slow: SlowPartition, others: tuple[SlowPartition, ...]) -> Finding:
    keys = _heaviest([key for key in view.heavy_keys if key.partition == slow.partition])
    return Finding(
        kind=KIND,
        title=(
            f"Partition {slow.partition} takes {slow.ratio:.1f} times as long as the others, "
            "wherever it runs"
        ),
        spans_ms=((view.start_ms, view.end_ms),),
        p_value=slow.p_value,
        added_ms=max(0.0, slow.mean_ms - slow.others_ms),
        explanation=(
            f"Over {slow.tasks} tasks, state partition {slow.partition} took {said(slow.mean_ms)} "
            f"on average; the other partitions of its stage took {said(slow.others_ms)} on the "
            f"same {_executors(slow)}. So its keys have more work than others, and every batch "
            "waits for it. Moving it to another executor would not help: the work moves with it. "
            "What helps is to split the work: salt a heavy key, or spread many keys over more "
            "partitions."
        ),
        evidence=(
            Evidence("tasks compared", str(slow.tasks)),
            Evidence("median against siblings on the same executor", f"{slow.ratio:.2f} ×"),
            Evidence("slow on", ", ".join(f"executor {each}" for each in slow.executors)),
            *_others(others),
            *_keys(view, keys),
            Evidence("p-value: equal partitions would differ so (rank sum)", f"{slow.p_value:.2g}"),
        ),
        first=_advice(view, slow, keys),
    )


def _heaviest(keys: list[HeavyKey]) -> list[HeavyKey]:
    """Of the most frequent keys, the heaviest first, those that are about as heavy as the first."""
    return [key for key in keys[:MOST_KEYS] if key.share >= BESIDE * keys[0].share]


def _executors(slow: SlowPartition) -> str:
    return "executor" if len(slow.executors) == 1 else f"{len(slow.executors)} executors"


def _others(others: tuple[SlowPartition, ...]) -> tuple[Evidence, ...]:
    if not others:
        return ()
    named = ", ".join(f"{each.partition} ({each.ratio:.1f} ×)" for each in others[:MOST_KEYS])
    more = len(others) - MOST_KEYS
    return (Evidence("also slow", f"{named} and {more} more" if more > 0 else named),)


def _keys(view: View, keys: list[HeavyKey]) -> tuple[Evidence, ...]:
    if not view.heavy_keys:
        return (Evidence("heavy keys", f"not watched; {WATCH_THE_KEYS.line} names them"),)
    if not keys:
        return (Evidence("heavy keys", "none of the most frequent ones is in this partition"),)
    return tuple(
        Evidence(
            f"heavy key {key.columns} = {key.key}",
            f"at least {key.share:.2%} of the rows ({key.sampled_rows} rows sampled)",
        )
        for key in keys
    )


def _advice(view: View, slow: SlowPartition, keys: list[HeavyKey]) -> Advice:
    if not view.heavy_keys:
        return WATCH_THE_KEYS
    partitions = int(view.tasks.partition[view.tasks.kind == slow.kind].max()) + 1
    is_heavy = bool(keys) and keys[0].share * partitions >= HEAVY
    return SALT_THE_KEY if is_heavy else MORE_PARTITIONS
