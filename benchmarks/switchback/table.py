"""Results as a person reads them: a line per arm, with what it shows or that it shows nothing."""

from collections.abc import Mapping
from typing import Any

from benchmarks.ratios import Interval
from benchmarks.switchback.arms import CONTROL, OFF, PARTS, THRESHOLDS
from benchmarks.switchback.results import CONTROLLED, PERCENTILES, interval_of

# Zhang et al., Middleware '22: of the original, with all mitigations.
PAPER = {"p95": "< 0.50", "p999": "< 0.20"}
PAPER_WORD_COUNT = {"p999": "0.54 (1.3 → 0.7 s)"}
TITLES = {"p95": "p95", "p99": "p99", "p999": "p99.9"}
NOTHING = "no effect shown"
NOT_RUN = "not in this run"
QUIET_LOAD = 0.5
_WIDTH = 24
_LABEL = 22


def of_setting(name: str, result: Mapping[str, Any], paper: bool = True) -> str:
    rounds = result["rounds"]
    lines = [f"{name}: {rounds} round{'s' * (rounds != 1)}{_levels(result)}", _head()]
    if CONTROL in result["arms"]:
        lines += _line(CONTROL, _controls(result), result["arms"][CONTROL])
    else:
        lines.append(f"{CONTROL:<{_LABEL}} left out: {result['left_out'].get(CONTROL, NOT_RUN)}")
    for part in PARTS:
        found = result["parts"][part]
        if found is None:
            lines.append(f"{part:<{_LABEL}} left out: {result['left_out'].get(part, NOT_RUN)}")
            continue
        ratios = {each: interval_of(found, f"{each}_ratio") for each in PERCENTILES}
        lines += _line(part, ratios, result["arms"][part])
        if part in CONTROLLED:
            against = {
                each: interval_of(found, f"desynchronised_{each}_ratio") for each in PERCENTILES
            }
            lines += _line("  against control", against, None)
    if paper:
        said = PAPER_WORD_COUNT if name == "word_count" else PAPER
        cells = "".join(f"{said.get(each, ''):<{_WIDTH}}" for each in PERCENTILES)
        lines.append(f"{'the paper':<{_LABEL}} {cells}")
    return "\n".join(lines)


def of_restarts(name: str, result: Mapping[str, Any]) -> str:
    """A line per pair of arms."""
    rounds = result["rounds"]
    lines = [f"{name}: {rounds} round{'s' * (rounds != 1)}{_levels(result)}", _head("arm / arm")]
    for pair, found in result["pairs"].items():
        arm, _, against = pair.partition("/")
        label = f"{arm} / {against}"
        if found is None:
            why = result["left_out"].get(arm) or result["left_out"].get(against) or NOT_RUN
            lines.append(f"{label:<{_LABEL}} left out: {why}")
            continue
        ratios = {each: interval_of(found, f"{each}_ratio") for each in PERCENTILES}
        lines += _line(label, ratios, result["arms"][arm])
    return "\n".join(lines)


def of_machine(machine: Mapping[str, Any]) -> str:
    told = ", ".join(f"{key} {value}" for key, value in machine.items())
    if machine["load_before"] <= QUIET_LOAD:
        return told
    return f"{told}\nThe machine was busy with something else: these are no figures to quote."


def of_regimes(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line each: how slow it is, how much of that is in phase, and what thresholds change."""
    head = f"{'regime':<28} {'off p99':<12}{'in phase':<18}"
    lines = [f"{head}{'p99 / off':<{_WIDTH}}{'p99 / control':<{_WIDTH}}"]
    for name, result in results.items():
        off, part = result["arms"].get(OFF), result["parts"][THRESHOLDS]
        if off is None or part is None:
            lines.append(f"{name:<28} left out: {'; '.join(result['left_out'].values())}")
            continue
        shares = f"{_share(off)} → {_share(result['arms'][THRESHOLDS])}"
        ratio, against = (
            {each: interval_of(part, f"{kind}{each}_ratio") for each in PERCENTILES}
            for kind in ("", "desynchronised_")
        )
        level = f"{off['p99_ms']:.0f} ms"
        lines.append(
            f"{name:<28} {level:<12}{shares:<18}{_cell(ratio['p99']):<{_WIDTH}}"
            f"{_cell(against['p99']):<{_WIDTH}}{verdict(ratio)}; of that by desynchronisation: "
            f"{verdict(against)}"
        )
    return lines


def verdict(ratios: Mapping[str, Interval | None]) -> str:
    """The ratios whose interval does not contain 1, in percent."""
    shown = [
        f"{TITLES[name]} {(ratio.mean - 1) * 100:+.0f} %"
        for name, ratio in ratios.items()
        if ratio and not ratio.contains(1.0)
    ]
    return ", ".join(shown) or NOTHING


def _controls(result: Mapping[str, Any]) -> dict[str, Interval | None]:
    return {each: interval_of(result["control"], f"{each}_ratio") for each in PERCENTILES}


def _levels(result: Mapping[str, Any]) -> str:
    if not (off := result["arms"].get(OFF)):
        return ""
    told = ", ".join(f"{TITLES[each]} {off[f'{each}_ms']:.0f} ms" for each in PERCENTILES)
    return f"; off has {told}, {_share(off)} of its compactions in phase"


def _head(label: str = "part / off") -> str:
    titles = "".join(f"{TITLES[each]:<{_WIDTH}}" for each in PERCENTILES)
    return f"{label:<{_LABEL}} {titles}{'in phase':<10}"


def _line(
    label: str, ratios: Mapping[str, Interval | None], arm: Mapping[str, Any] | None
) -> list[str]:
    cells = "".join(f"{_cell(ratios[each]):<{_WIDTH}}" for each in PERCENTILES)
    share = _share(arm) if arm else ""
    return [f"{label:<{_LABEL}} {cells}{share:<10}{verdict(ratios)}"]


def _cell(ratio: Interval | None) -> str:
    if ratio is None:
        return "-"
    if ratio.low is None or ratio.high is None:
        return f"{ratio.mean:.2f} [one round]"
    return f"{ratio.mean:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _share(arm: Mapping[str, Any]) -> str:
    share = arm["in_phase_share"]
    return "none" if share is None else f"{share:.2f}"
