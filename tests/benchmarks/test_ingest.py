from benchmarks.ingest import lags, looked_at_per_s, not_looked_at
from benchmarks.ingest_stream import job_id
from benchmarks.made_job import PER_SECOND, Bodies, MadeJob
from collectors.formats import activity, wire

ONE, OTHER = job_id(0), job_id(1)


def test_the_lag_of_a_frame_is_from_its_writing_to_the_first_that_says_it_was_looked_at() -> None:
    written_ms = {100: 5_010, 101: 5_060, 102: 5_110}
    looked = [
        (5_000.0, {ONE: 4_950, OTHER: 4_950}),
        (5_200.0, {ONE: 5_050, OTHER: 4_950}),
        (5_300.0, {ONE: 5_100, OTHER: 5_100}),
    ]

    assert sorted(lags(looked, written_ms, 2, 0).tolist()) == [140, 190, 190, 190, 240, 290]
    assert sorted(lags(looked, written_ms, 2, 5_100).tolist()) == [190, 190]


def test_looks_are_counted_over_all_jobs() -> None:
    looked = [
        (1_000.0, {ONE: 50_000}),
        (2_000.0, {ONE: 51_000, OTHER: 50_000}),
        (4_000.0, {ONE: 52_000, OTHER: 51_000}),
    ]

    assert looked_at_per_s(looked, 2, 0) == 20


def test_what_was_never_looked_at_is_dropped() -> None:
    written_ms = {100: 5_010, 101: 5_060, 102: 5_110}

    assert not_looked_at({ONE: 5_050}, written_ms, 2) == 1 + 3


def test_made_frames_are_frames_of_their_window() -> None:
    job = MadeJob(Bodies(seconds=2), phase=1)
    windows = range(1_700_000_000 * PER_SECOND, 1_700_000_001 * PER_SECOND)
    frames = [wire.decode(job.frame(window, window - windows[0])) for window in windows]

    assert [frame.window for frame in frames] == list(windows)
    assert [frame.sequence for frame in frames] == list(range(PER_SECOND))
    assert all(len(frame.executors) == 4 for frame in frames)
    assert any(frame.latency.count for frame in frames)
    assert len(activity.decode(job.activities(1_700_000_000))) > 20
