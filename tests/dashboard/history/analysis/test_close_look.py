"""Archived minutes go through the detectors of the live page; what they find is one incident."""

from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from collectors.formats import keys, wire
from collectors.formats.buckets import Histogram
from collectors.formats.keys import Entry
from collectors.formats.metrics import BY_NAME
from collectors.formats.wire import WINDOW_MS, ExecutorSample, Frame
from dashboard.history.analysis.close_look import look
from dashboard.history.archive import Archive, Place

START_MS = 1_793_577_600_000
JOB = "shop.orders"
# Saturations of the host, each followed by latency: what a millibottleneck is.
SATURATED_S = (23.0, 51.3, 80.7, 104.2)


def frames(seconds: int, saturated: tuple[float, ...]) -> list[Entry]:
    random = np.random.default_rng(1)
    busy = {int(at * 20) + by for at in saturated for by in range(8)}
    late = {at + by for at in busy for by in range(1, 6)}
    entries = []
    for at in range(seconds * 20):
        window = START_MS // WINDOW_MS + at
        latencies = 200_000 * np.exp(0.1 * random.normal(size=30)) * (4 if at in late else 1)
        cpu = 1_000 if at in busy else int(random.integers(300, 500))
        frame = Frame(
            window,
            at,
            UUID(int=1),
            latency=Histogram.of(latencies.astype(int).tolist()),
            stamped=True,
            executors=(ExecutorSample("1", "node-1", {BY_NAME["host_cpu"].id: cpu}),),
        )
        entries.append(Entry(window * WINDOW_MS, wire.encode(frame)))
    return entries


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(Place(str(tmp_path)))


def test_millibottlenecks_of_a_range_are_one_incident_with_all_its_times(archive: Archive) -> None:
    archive.append({keys.frames(JOB): frames(120, SATURATED_S)}, {})

    seen = look(archive, JOB, [(START_MS, START_MS + 120_000)])

    (incident,) = seen.incidents
    assert incident.latest.kind == "millibottleneck"
    assert incident.occurrences == len(SATURATED_S)
    starts_s = {round((start - START_MS) / 1000) for start, _ in seen.spans_ms["millibottleneck"]}
    assert starts_s == {round(at) for at in SATURATED_S}
    assert seen.windows == 2_400


def test_minutes_without_a_cause_have_no_incident(archive: Archive) -> None:
    archive.append({keys.frames(JOB): frames(120, ())}, {})

    seen = look(archive, JOB, [(START_MS, START_MS + 120_000)])

    assert (seen.incidents, seen.spans_ms) == ([], {})


def test_an_entry_that_is_no_frame_is_counted_and_left_out(archive: Archive) -> None:
    entries = frames(30, ())
    entries[7] = Entry(entries[7].at_ms, b"no frame")
    archive.append({keys.frames(JOB): entries}, {})

    seen = look(archive, JOB, [(START_MS, START_MS + 30_000)])

    assert (seen.windows, seen.unreadable) == (599, 1)


def test_a_range_without_frames_has_nothing(archive: Archive) -> None:
    seen = look(archive, JOB, [(START_MS, START_MS + 60_000)])

    assert (seen.incidents, seen.windows) == ([], 0)
