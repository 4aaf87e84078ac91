from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.activity import Activity, Kind
from collectors.formats.wire import PHASES, Batch
from collectors.process.events.batch_phases import IN_SPARKS_ORDER, phases

BATCH = Batch(9, 1_000_000, 807, 2000, (1, 0, 31, 38, 696, 40))


def test_the_phases_lie_end_to_end_in_the_order_of_spark() -> None:
    whole, *parts = phases(BATCH)
    assert whole == Activity(Kind.BATCH, 1_000_000_000, 1_000_807_000, name="batch 9")
    assert [(each.name, each.start_us, each.end_us) for each in parts] == [
        ("latestOffset", 1_000_000_000, 1_000_001_000),
        ("walCommit", 1_000_001_000, 1_000_039_000),
        ("queryPlanning", 1_000_039_000, 1_000_070_000),
        ("addBatch", 1_000_070_000, 1_000_766_000),
        ("commitOffsets", 1_000_766_000, 1_000_806_000),
    ]
    assert {(each.kind, each.reason) for each in parts} == {(Kind.PHASE, "batch 9")}


def test_every_phase_of_the_wire_has_its_place() -> None:
    assert sorted(IN_SPARKS_ORDER) == sorted(PHASES)


@given(
    st.integers(0, 10_000),
    st.tuples(*[st.integers(0, 5_000)] * len(PHASES)),
)
def test_no_phase_leaves_its_batch_or_overlaps_another(
    duration_ms: int, phases_ms: tuple[int, ...]
) -> None:
    batch = Batch(1, 50, duration_ms, 0, phases_ms)
    whole, *parts = phases(batch)
    at_us = whole.start_us
    for each in parts:
        assert at_us == each.start_us < each.end_us <= whole.end_us
        at_us = each.end_us
