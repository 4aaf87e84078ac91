"""A job whose analysis fails is told with its reason, and the others are analysed all the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from dashboard.history.analysis.result import JobAnalysis
from dashboard.history.archive import Archive, Place
from dashboard.history.spark import analysis
from tests.dashboard.history.analysis.test_report import JOB


@dataclass(frozen=True)
class InThisProcess:
    """What the analysis uses of a Spark context, without a JVM."""

    rows: Sequence[Any] = ()
    defaultParallelism: int = 2

    @property
    def sparkContext(self) -> "InThisProcess":
        return self

    def parallelize(self, rows: Sequence[Any], _slices: int) -> "InThisProcess":
        return InThisProcess(rows)

    def map(self, task: Callable[[Any], Any]) -> "InThisProcess":
        return InThisProcess([task(row) for row in self.rows])

    def collect(self) -> list[Any]:
        return list(self.rows)


def test_one_that_fails_is_told_and_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def analyse(archive: Archive, job_id: str, *_: Any) -> JobAnalysis:
        if job_id == "broken":
            raise RuntimeError("Traceback …\n  File x\nValueError: a column is missing")
        return JOB

    monkeypatch.setattr(analysis, "analyse", analyse)
    progress: list[tuple[int, int]] = []
    spark = cast(SparkSession, InThisProcess())

    report = analysis.analyse_jobs(
        spark,
        Place(str(tmp_path)),
        ["broken", "whole"],
        1_793_577_600_000,
        1_793_577_600_000 + 7 * 86_400_000,
        {},
        lambda done, total: progress.append((done, total)),
    )

    assert report["failed"] == [{"job_id": "broken", "why": "ValueError: a column is missing"}]
    assert [job["job"] for job in report["jobs"]] == [JOB.job_id]
    assert progress == [(0, 2), (1, 2), (2, 2)]
