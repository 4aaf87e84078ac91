"""Ratios between arms with confidence intervals, from the figures of blocks.

A ratio is taken within a round, so between blocks that are minutes or less apart, and the interval
is Student's over rounds, on logarithms. One that contains 1, or that comes from a single round,
shows no effect.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from benchmarks.ratios import Interval, ratio_of
from benchmarks.switchback.arms import (
    ALL,
    CHANGELOG,
    CONTROL,
    OFF,
    PARTS,
    SNAPSHOTS,
    STARTS,
    THRESHOLDS,
)
from benchmarks.switchback.engine import Measured
from benchmarks.switchback.figures import Figures

PERCENTILES = ("p95", "p99", "p999")
# Arms with higher thresholds than Spark's compact less often, so they have a control arm.
CONTROLLED = (THRESHOLDS, ALL)
# Pairs of arms: changelogs first, as an expert would set them, then those without a restart.
RESTART_PAIRS = (
    (CHANGELOG, OFF),
    (SNAPSHOTS, CHANGELOG),
    (SNAPSHOTS, OFF),
    (THRESHOLDS, OFF),
    (CHANGELOG, THRESHOLDS),
)
DIGITS = 3


def of_setting(measured: Measured) -> dict[str, object]:
    """The technique as a whole first: all its parts, or the most of them that was measured."""
    figures = measured.figures
    there = {each.arm for each in figures}
    whole = ALL if ALL in there else THRESHOLDS
    left_out = {
        **{part: "not in this run" for part in PARTS if part not in there},
        **measured.left_out,
    }
    return {
        "of": whole,
        **of_part(figures, whole),
        "control": of_part(figures, CONTROL),
        "parts": {part: of_part(figures, part) if part in there else None for part in PARTS},
        "left_out": left_out,
        "delay": measured.delay or None,
        "arms": {arm: of_arm(figures, arm) for arm in (OFF, CONTROL, *PARTS) if arm in there},
        "rounds": len({each.round for each in figures}),
        "blocks": [vars(each) for each in figures],
    }


def of_restarts(measured: Measured) -> dict[str, object]:
    """With changelogs and without: what each arm of `restarts` gains over another."""
    figures = measured.figures
    there = {each.arm for each in figures}
    return {
        "pairs": {
            f"{arm}/{against}": of_pair(figures, arm, against) for arm, against in RESTART_PAIRS
        },
        "left_out": measured.left_out,
        "arms": {arm: of_arm(figures, arm) for start in STARTS for arm in start if arm in there},
        "rounds": len({each.round for each in figures}),
        "blocks": [vars(each) for each in figures],
    }


def of_pair(figures: Sequence[Figures], arm: str, against: str) -> dict[str, object] | None:
    """None where no round has both."""
    if not in_rounds(figures, arm, against):
        return None
    found: dict[str, object] = {}
    for name in PERCENTILES:
        found |= keyed(f"{name}_ratio", percentile_ratio(figures, name, arm, against))
    return found


def of_part(figures: Sequence[Figures], arm: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in PERCENTILES:
        found |= keyed(f"{name}_ratio", percentile_ratio(figures, name, arm, OFF))
    control = CONTROL if arm in CONTROLLED else None
    found |= keyed("control_p999_ratio", percentile_ratio(figures, "p999", control, OFF))
    for name in PERCENTILES:
        ratio = percentile_ratio(figures, name, arm, control)
        found |= keyed(f"desynchronised_{name}_ratio", ratio)
    return {
        **found,
        "in_phase_share": in_phase_share(figures, arm),
        "overlap_ratio": sums_ratio(figures, "overlap_s", arm),
        "saturation_ratio": sums_ratio(figures, "saturation_s", arm),
        "compactions_ratio": sums_ratio(figures, "compactions", arm),
        "compacted_bytes_ratio": sums_ratio(figures, "compacted_mb", arm),
    }


def of_arm(figures: Sequence[Figures], arm: str) -> dict[str, object]:
    """The means over the blocks of an arm."""
    own = [each for each in figures if each.arm == arm]
    return {
        "blocks": len(own),
        "blocks_in_step": sum(each.in_step for each in own),
        "in_phase_share": in_phase_share(figures, arm),
        **{
            name: round(fmean(float(getattr(each, name)) for each in own), 3)
            for name in (
                *("p95_ms", "p99_ms", "p999_ms", "overlap_s", "saturation_s"),
                *("compactions", "compacted_mb", "checkpoints", "seconds"),
            )
        },
    }


def percentile_ratio(
    figures: Iterable[Figures], name: str, arm: str | None, against: str | None
) -> Interval | None:
    """Returns None if no round has both arms."""
    pairs = [
        (float(getattr(one, f"{name}_ms")), float(getattr(other, f"{name}_ms")))
        for one, other in in_rounds(figures, arm, against)
    ]
    return ratio_of(pairs) if pairs else None


def sums_ratio(figures: Sequence[Figures], name: str, arm: str) -> float | None:
    """The ratio of sums, arm / off, over rounds that have both: a single block may have a 0."""
    pairs = in_rounds(figures, arm, OFF)
    own = sum(float(getattr(each, name)) for each, _ in pairs)
    others = sum(float(getattr(each, name)) for _, each in pairs)
    return round(own / others, DIGITS) if others else None


def in_phase_share(figures: Iterable[Figures], arm: str) -> float | None:
    own = [each for each in figures if each.arm == arm]
    compactions = sum(each.compactions for each in own)
    return round(sum(each.in_phase for each in own) / compactions, DIGITS) if compactions else None


def in_rounds(
    figures: Iterable[Figures], arm: str | None, against: str | None
) -> list[tuple[Figures, Figures]]:
    by_round: dict[int, dict[str, Figures]] = {}
    for each in figures:
        by_round.setdefault(each.round, {})[each.arm] = each
    return [
        (round_[arm], round_[against])
        for round_ in by_round.values()
        if arm in round_ and against in round_
    ]


def keyed(name: str, interval: Interval | None) -> dict[str, float | None]:
    mean, low, high = interval.rounded(DIGITS) if interval else (None, None, None)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def interval_of(found: Mapping[str, object], name: str) -> Interval | None:
    """Reads an interval from a result, or from the JSON made of it."""
    mean, low, high = (found[f"{name}{end}"] for end in ("", "_low", "_high"))
    if not isinstance(mean, int | float):
        return None
    return Interval(
        float(mean),
        float(low) if isinstance(low, int | float) else None,
        float(high) if isinstance(high, int | float) else None,
    )
