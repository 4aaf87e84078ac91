"""From figures of blocks to ratios, and what may be said of them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from benchmarks import shadowsync, shadowsync_map
from benchmarks.ratios import Interval
from benchmarks.switchback import table
from benchmarks.switchback.arms import (
    CHANGELOG,
    CONTROL,
    DELAY,
    OFF,
    PARTS,
    SNAPSHOTS,
    THREADS,
    THRESHOLDS,
)
from benchmarks.switchback.engine import Measured
from benchmarks.switchback.figures import Figures
from benchmarks.switchback.results import (
    in_phase_share,
    of_part,
    of_restarts,
    of_setting,
    percentile_ratio,
)

BLOCK = Figures(
    round=0,
    arm=OFF,
    first_batch=30,
    last_batch=41,
    records=4_800,
    p95_ms=800.0,
    p99_ms=900.0,
    p999_ms=1_000.0,
    seconds=12.0,
    checkpoints=12,
    overlap_s=0.4,
    saturation_s=1.0,
    compactions=24,
    in_phase=24,
    compacted_mb=800.0,
    in_step=True,
)


def block(number: int, arm: str, times: float = 1.0, **what: Any) -> Figures:
    p95, p99, p999 = (value * times for value in (800.0, 900.0, 1_000.0))
    return replace(BLOCK, round=number, arm=arm, p95_ms=p95, p99_ms=p99, p999_ms=p999, **what)


def rounds(**times: tuple[float, ...]) -> list[Figures]:
    return [
        block(number, arm, value)
        for arm, values in times.items()
        for number, value in enumerate(values)
    ]


def test_a_ratio_is_taken_within_a_round() -> None:
    """A machine that gets slower from round to round changes nothing."""
    found = percentile_ratio(rounds(off=(1, 2, 4), thresholds=(0.5, 1, 2)), "p99", THRESHOLDS, OFF)

    assert found is not None
    assert found.rounded(6) == (0.5, 0.5, 0.5)


def test_a_round_that_lacks_an_arm_does_not_count() -> None:
    figures = [*rounds(off=(1, 1, 1)), block(1, DELAY, 0.8)]
    found = percentile_ratio(figures, "p99", DELAY, OFF)

    assert found is not None
    assert found.rounded(6) == (0.8, None, None)
    assert percentile_ratio(figures, "p99", THREADS, OFF) is None


def test_what_the_control_gains_too_is_not_called_desynchronisation() -> None:
    figures = rounds(off=(1, 1, 1), control=(0.8, 0.8, 0.8), thresholds=(0.6, 0.6, 0.6))
    found = of_part(figures, THRESHOLDS)

    assert found["p999_ratio"] == pytest.approx(0.6)
    assert found["control_p999_ratio"] == pytest.approx(0.8)
    assert found["desynchronised_p999_ratio"] == pytest.approx(0.75)


def test_a_part_with_the_thresholds_of_off_has_no_other_control() -> None:
    found = of_part(rounds(off=(1, 1), control=(1, 1), threads=(0.9, 0.9)), THREADS)

    assert found["p95_ratio"] == pytest.approx(0.9)
    assert found["control_p999_ratio"] is None
    assert found["desynchronised_p999_ratio"] is None


def test_the_share_in_phase_is_of_all_compactions_of_the_arm() -> None:
    figures = [
        block(0, THRESHOLDS, compactions=10, in_phase=0),
        block(1, THRESHOLDS, compactions=30, in_phase=10),
    ]

    assert in_phase_share(figures, THRESHOLDS) == 0.25
    assert in_phase_share(figures, OFF) is None
    assert in_phase_share([block(0, OFF, compactions=0, in_phase=0)], OFF) is None


def test_blocks_without_any_overlap_are_no_division_by_zero() -> None:
    figures = [block(0, OFF, overlap_s=0.0), block(0, THRESHOLDS, overlap_s=0.3)]

    assert of_part(figures, THRESHOLDS)["overlap_ratio"] is None
    assert of_part(figures, THRESHOLDS)["saturation_ratio"] == 1.0


def test_a_part_that_was_not_measured_is_null_with_a_reason() -> None:
    figures = rounds(off=(1, 1), control=(1, 1), thresholds=(1, 1))
    found = of_setting(Measured(tuple(figures), {DELAY: "no delay: the job is at its capacity"}))

    assert found["of"] == THRESHOLDS
    assert found["parts"] == {**dict.fromkeys(PARTS), THRESHOLDS: found["parts"][THRESHOLDS]}  # type: ignore[index]
    assert found["left_out"] == {
        "delay": "no delay: the job is at its capacity",
        "threads": "not in this run",
        "all": "not in this run",
    }
    json.dumps(found)


def test_with_all_parts_the_setting_is_about_them_together() -> None:
    figures = rounds(off=(1, 1), control=(1, 1), thresholds=(0.9, 0.9), all=(0.7, 0.7))

    assert of_setting(Measured(tuple(figures)))["p95_ratio"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        (Interval(0.7, 0.6, 0.8), "p99 -30 %"),
        (Interval(1.2, 1.1, 1.3), "p99 +20 %"),
        (Interval(0.7, 0.4, 1.01), "no effect shown"),
        (Interval(0.2, None, None), "no effect shown"),
        (None, "no effect shown"),
    ],
)
def test_an_interval_that_contains_one_shows_no_effect(
    interval: Interval | None, said: str
) -> None:
    assert table.verdict({"p99": interval}) == said


def test_a_quick_result_is_a_table_that_says_what_was_left_out() -> None:
    figures = rounds(off=(1, 1, 1), control=(1, 0.9, 1.1), thresholds=(0.6, 0.61, 0.59))
    result = {
        "scheduled": None,
        "statistical": of_setting(Measured(tuple(figures))),
        "word_count": None,
        "thresholds_7_14": None,
        "changelog": None,
        "left_out": {
            "scheduled": "left out of a quick run",
            "word_count": "left out, too",
            "thresholds_7_14": "not in this run",
            "changelog": "not in this run",
        },
        "machine": {"cores": 2, "load_before": 0.1},
    }
    said = shadowsync.table(json.loads(json.dumps(result)))

    assert "scheduled: left out of a quick run" in said
    (line,) = [line for line in said.splitlines() if line.startswith("thresholds ")]
    assert "0.60 [" in line
    assert line.endswith("p95 -40 %, p99 -40 %, p99.9 -40 %")
    (control,) = [line for line in said.splitlines() if line.startswith(CONTROL)]
    assert control.endswith("no effect shown")
    assert "delay                  left out: not in this run" in said


def test_changelogs_are_compared_with_off_and_snapshots_with_changelogs() -> None:
    figures = rounds(
        off=(1, 2, 1),
        changelog=(0.5, 1, 0.5),
        snapshots=(0.4, 0.8, 0.4),
        thresholds=(0.8, 1.6, 0.8),
    )
    found: Any = of_restarts(Measured(tuple(figures)))
    ratios = {pair: each["p999_ratio"] for pair, each in found["pairs"].items()}

    assert ratios == pytest.approx(
        {
            "changelog/off": 0.5,
            "snapshots/changelog": 0.8,
            "snapshots/off": 0.4,
            "thresholds/off": 0.8,
            "changelog/thresholds": 0.625,
        }
    )
    assert set(found["arms"]) == {OFF, THRESHOLDS, CHANGELOG, SNAPSHOTS}
    assert found["rounds"] == 3
    said = table.of_restarts("changelog", json.loads(json.dumps(found)))
    _, _, first, *_ = said.splitlines()
    assert first.startswith("changelog / off ")
    assert first.endswith("p95 -50 %, p99 -50 %, p99.9 -50 %")


def test_snapshots_that_were_refused_are_left_out_with_the_reason() -> None:
    figures = rounds(off=(1, 1), changelog=(0.5, 0.5), thresholds=(0.8, 0.8))
    found: Any = of_restarts(Measured(tuple(figures), {SNAPSHOTS: "refused: no"}))

    assert found["pairs"]["snapshots/off"] is None
    said = table.of_restarts("changelog", json.loads(json.dumps(found)))
    assert "snapshots / changelog  left out: refused: no" in said


def test_the_map_has_a_line_per_regime_with_what_is_desynchronisation() -> None:
    helped = rounds(off=(1, 1, 1), control=(1, 1, 1), thresholds=(0.6, 0.6, 0.6))
    less_work = rounds(off=(1, 1, 1), control=(0.8, 0.8, 0.8), thresholds=(0.8, 0.79, 0.81))
    result = {
        "regimes": {
            "large": of_setting(Measured(tuple(helped))),
            "small": of_setting(Measured(tuple(less_work))),
            "slow": of_setting(Measured((), {THRESHOLDS: "the time was up"})),
        },
        "left_out": {"huge": "left out of a quick run"},
        "machine": {"cores": 2, "load_before": 0.1},
    }
    _, large, small, slow, huge, *_ = shadowsync_map.table(
        json.loads(json.dumps(result))
    ).splitlines()

    assert "900 ms" in large
    assert large.endswith("by desynchronisation: p95 -40 %, p99 -40 %, p99.9 -40 %")
    assert "p99 -20 %" in small
    assert small.endswith("by desynchronisation: no effect shown")
    assert "left out: " in slow
    assert huge == "huge: left out of a quick run"


def test_a_run_that_was_cut_short_is_a_table_too() -> None:
    only_off = of_setting(Measured((block(0, OFF),), {CONTROL: "the time was up"}))
    said = table.of_setting("statistical", json.loads(json.dumps(only_off)))

    assert said.startswith("statistical: 1 round; off has p95 800 ms")
    assert "control                left out: the time was up" in said
    assert "thresholds             left out: not in this run" in said


@pytest.mark.parametrize(("load", "busy"), [(0.2, False), (3.0, True)])
def test_figures_of_a_busy_machine_are_said_to_be_none(load: float, busy: bool) -> None:
    assert ("no figures to quote" in table.of_machine({"load_before": load})) is busy
