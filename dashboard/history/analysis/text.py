"""The report as lines for a terminal. All times are in UTC."""

from collections.abc import Iterator, Sequence
from typing import Any

from dashboard.history.analysis.report import Report
from dashboard.history.analysis.times import iso

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MOST_ROWS = 20

Rows = list[tuple[str, ...]]


def lines(report: Report) -> Iterator[str]:
    jobs = report["jobs"]
    yield f"{iso(report['start_ms'])} to {iso(report['end_ms'])} UTC, {_count(len(jobs), 'job')}"
    yield from _section("p99 changed for good", _changes(report))
    yield from _section("Jobs that share a host and stall together", _together(report))
    yield from _section("Incidents recur", _recurrence(report))
    yield from _section("Latency added by kind of incident", _added(report))
    yield from _section("Switches of techniques", _effects(report))
    yield from _section("Jobs with the most raised seconds", _jobs(report))
    if report["failed"]:
        yield from _section(
            "Not analysed", [("job", "why"), *((e["job_id"], e["why"]) for e in report["failed"])]
        )


def _section(title: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    yield title
    if len(rows) < 2:
        yield "  none"
        return
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows[: MOST_ROWS + 1]:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()
    if len(rows) > MOST_ROWS + 1:
        yield f"  … and {len(rows) - MOST_ROWS - 1} more (--json has all)"


def _changes(report: Report) -> Rows:
    rows: Rows = [("job", "since", "p99 before", "after", "p-value", "changed with it")]
    for each in report["changes"]:
        together = ", ".join(_changed(other) for other in each["with"]) or "nothing that we know"
        p99 = (f"{each['before']:.3g} ms", f"{each['after']:.3g} ms")
        rows.append((each["job"], iso(each["at_ms"]), *p99, f"{each['p_value']:.2g}", together))
    return rows


def _changed(other: dict[str, Any]) -> str:
    before, after = (
        side[:8] if isinstance(side, str) else f"{side:.3g}"
        for side in (other["before"], other["after"])
    )
    return f"{other['what']} {before} → {after}"


def _together(report: Report) -> Rows:
    rows: Rows = [("host", "jobs", "together", "by chance", "p-value", "for example")]
    for group in report["together"]:
        for pair in group["pairs"]:
            rows.append(
                (
                    group["host"],
                    " and ".join(pair["jobs"]),
                    f"{pair['meetings']} of {min(pair['stalls'])} stalls",
                    f"{pair['expected']:.1f}",
                    f"{pair['p_value']:.2g}",
                    iso(pair["examples_ms"][0]),
                )
            )
    return rows


def _recurrence(report: Report) -> Rows:
    rows: Rows = [("incidents", "when", "on", "by chance", "p-value")]
    for kind, found in report["recurrence"].items():
        for hour in found["hours"]:
            when = f"{hour['place']:02d}:00–{(hour['place'] + 1) % 24:02d}:00"
            rows.append((kind, when, *_often(hour, "days")))
        for weekday in found["weekdays"]:
            rows.append((kind, WEEKDAYS[weekday["place"]], *_often(weekday, "weeks")))
    return rows


def _often(often: dict[str, Any], of: str) -> tuple[str, str, str]:
    share = f"{often['hits']} of {often['tries']} {of}"
    return share, f"{often['expected']:.1f}", f"{often['p_value']:.2g}"


def _added(report: Report) -> Rows:
    rows: Rows = [("job", "kind", "times", "adds to p99", "95 % interval", "share of records")]
    worst = sorted(report["added"], key=lambda each: -each["added_ms"] * each["records"])
    for each in worst:
        interval = (
            "too few" if each["low_ms"] is None else f"{each['low_ms']:.3g}–{each['high_ms']:.3g}"
        )
        rows.append(
            (
                *(each["job"], each["kind"], str(each["occurrences"])),
                f"{each['added_ms']:.3g} ms",
                interval,
                f"{each['share_of_records']:.2%}",
            )
        )
    return rows


def _effects(report: Report) -> Rows:
    rows: Rows = [("job", "technique", "switched", "at", "p99 after / before", "95 % interval")]
    for each in report["effects"]:
        switch, p99 = each["switch"], each["p99"]
        known = p99 is not None and p99["low"] is not None
        rows.append(
            (
                *(each["job"], switch["technique"], switch["to"], iso(switch["at_ms"])),
                "not known" if p99 is None else f"{p99['ratio']:.2f}",
                f"{p99['low']:.2f}–{p99['high']:.2f}" if known else "too little data",
            )
        )
    return rows


def _jobs(report: Report) -> Rows:
    rows: Rows = [("job", "raised", "of", "incidents", "looked at closely")]
    for job in sorted(report["jobs"], key=lambda each: -each["raised_s"]):
        rows.append(
            (
                *(job["job"], f"{job['raised_s']} s", f"{job['seconds'] / 3600:.1f} h"),
                str(job["incidents"]),
                f"{job['windows'] / 1200:.0f} min",
            )
        )
    return rows


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
