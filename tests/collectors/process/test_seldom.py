from collectors.formats.metrics import BY_NAME
from collectors.process.seldom import KEPT_WINDOWS, SeldomMetrics

CPU = BY_NAME["host_cpu"].id
RESIDENT = BY_NAME["process_resident_bytes"].id
MEMTABLES = BY_NAME["rocksdb_memtables_bytes"].id


def test_what_is_seldom_is_held_and_the_rest_passes() -> None:
    held = SeldomMetrics()
    assert held.take("1", 100, {CPU: 5, RESIDENT: 7_000}) == {CPU: 5}
    assert held.take("1", 101, {CPU: 6}) == {CPU: 6}
    assert held.of("1", 110) == {RESIDENT: 7_000}
    assert held.of("2", 110) == {}


def test_a_part_that_comes_late_does_not_bring_an_older_value_back() -> None:
    held = SeldomMetrics()
    held.take("1", 120, {RESIDENT: 8_000})
    held.take("1", 100, {RESIDENT: 7_000, MEMTABLES: 9})
    assert held.of("1", 121) == {RESIDENT: 8_000, MEMTABLES: 9}


def test_a_level_that_is_no_longer_reported_is_no_longer_told() -> None:
    held = SeldomMetrics()
    held.take("1", 100, {RESIDENT: 7_000, MEMTABLES: 9})
    held.take("1", 100 + KEPT_WINDOWS, {RESIDENT: 7_500})
    assert held.of("1", 100 + KEPT_WINDOWS) == {RESIDENT: 7_500, MEMTABLES: 9}
    assert held.of("1", 101 + KEPT_WINDOWS) == {RESIDENT: 7_500}


def test_an_executor_that_left_is_forgotten() -> None:
    held = SeldomMetrics()
    held.take("1", 100, {RESIDENT: 7_000})
    held.forget("1")
    assert held.of("1", 100) == {}
