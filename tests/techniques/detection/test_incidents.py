from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from techniques.detection.finding import Finding
from techniques.detection.incidents import QUIET_MS, Changes, Incident, Severity, merged

NOW_MS = 1_700_000_000_000


def finding(*starts_s: float, **changes: object) -> Finding:
    spans = tuple((round(NOW_MS + s * 1000), round(NOW_MS + s * 1000) + 300) for s in starts_s)
    made = Finding(
        kind="scheduled_shadowsync",
        title="",
        spans_ms=spans,
        p_value=0.001,
        added_ms=200.0,
        explanation="",
        operators=(0,),
        period_ms=4_000.0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def at(seconds: float) -> int:
    return round(NOW_MS + seconds * 1000)


def opened(*starts_s: float) -> Incident:
    (incident,) = merged([], [finding(*starts_s)], at(starts_s[-1] + 1)).opened
    return incident


def test_a_finding_opens_an_incident_with_all_its_occurrences() -> None:
    incident = opened(0, 4, 8)

    assert (incident.onset_ms, incident.end_ms, incident.occurrences) == (at(0), at(8.3), 3)


def test_the_same_finding_again_changes_nothing() -> None:
    assert merged([opened(0, 4, 8)], [finding(0, 4, 8)], at(10)) == Changes()


def test_only_what_began_since_is_a_new_occurrence() -> None:
    changes = merged([opened(0, 4, 8)], [finding(4, 8, 12, 16)], at(17))

    (incident,) = changes.continued
    assert (incident.occurrences, incident.onset_ms, incident.end_ms) == (5, at(0), at(16.3))
    assert changes.opened == changes.ended == ()


def test_another_stage_is_another_incident() -> None:
    changes = merged([opened(0, 4)], [finding(1, 5, operators=(1,))], at(6))

    assert len(changes.opened) == 1
    assert changes.continued == ()


def test_it_ends_when_it_has_not_come_back() -> None:
    known = opened(0, 4, 8)

    assert merged([known], [], known.end_ms + QUIET_MS) == Changes()
    assert merged([known], [], known.end_ms + QUIET_MS + 1).ended == (known,)


def test_a_long_period_makes_for_a_long_wait() -> None:
    rare = finding(0, 60, 120, period_ms=60_000.0)
    (known,) = merged([], [rare], at(121)).opened

    assert merged([known], [], known.end_ms + 149_000) == Changes()
    assert merged([known], [], known.end_ms + 151_000).ended == (known,)


def test_what_was_over_long_ago_is_not_news() -> None:
    assert merged([], [finding(0, 4, 8)], at(60)) == Changes()


def test_severity_goes_by_the_worst_that_was_added() -> None:
    known = opened(0, 4)
    worse = merged([known], [finding(0, 4, 8, added_ms=2_000.0)], at(9)).continued[0]
    better = merged([worse], [finding(8, 12, added_ms=10.0)], at(13)).continued[0]

    assert known.severity == Severity.WARNING
    assert worse.severity == better.severity == Severity.CRITICAL


@given(st.lists(st.integers(1, 20), min_size=2, max_size=30))
def test_however_often_one_looks_every_occurrence_counts_once(gaps_s: list[int]) -> None:
    starts = [float(sum(gaps_s[: at + 1])) for at in range(len(gaps_s))]
    known: list[Incident] = []
    total = 0
    for look in range(2, len(starts) + 1):
        changes = merged(known, [finding(*starts[max(0, look - 6) : look])], at(starts[look - 1]))
        now = [*changes.opened, *changes.continued] or known
        assert len(now) == 1
        known, total = now, now[0].occurrences

    assert total == len(starts)
