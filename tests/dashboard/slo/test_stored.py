"""SLOs in the database: what its checks refuse, and the way from a p99 to an objective and back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.db.migrations.executor import MigrationExecutor

from dashboard.fleet import jobs
from dashboard.models import Slo
from dashboard.slo.current import current
from techniques.slo.objective import JuiceTarget, LatencyTarget, Objective, Statistic, as_data
from tests.factories import ANNOUNCEMENT, announcement, p99_objective

BEFORE, AFTER = ("dashboard", "0009_analysis"), ("dashboard", "0010_objectives")


def changed(part: str, **values: Any) -> dict[str, Any]:
    whole: dict[str, Any] = as_data(Objective(LatencyTarget(500.0), JuiceTarget(0.9)))
    if part:
        whole[part].update(values)
        return whole
    return whole | values


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("objective", "check"),
    [
        (changed("latency", threshold_ms=0), "slo_latency_within_an_hour"),
        (changed("latency", threshold_ms=3_600_001), "slo_latency_within_an_hour"),
        (changed("juice", threshold=-0.5), "slo_juice_is_a_share"),
        (changed("juice", threshold=1.01), "slo_juice_is_a_share"),
        (changed("", priority=0), "slo_priority_is_bounded"),
        (changed("", priority=1_001), "slo_priority_is_bounded"),
    ],
)
def test_the_database_refuses_what_no_objective_may_be(
    objective: dict[str, Any], check: str
) -> None:
    jobs.record([ANNOUNCEMENT])
    with pytest.raises(IntegrityError, match=check):
        Slo.objects.create(job_id=ANNOUNCEMENT.job_id, objective=objective)


@pytest.mark.django_db
def test_objectives_with_one_target_and_none_are_stored_and_read() -> None:
    held = {
        "a.latency": Objective(LatencyTarget(3_600_000.0)),
        "b.juice": Objective(juice=JuiceTarget(1.0)),
        "c.both": Objective(LatencyTarget(0.5), JuiceTarget(0.01), priority=1_000.0),
    }
    jobs.record([announcement(job_id=name) for name in (*held, "d.none", "e.later")])
    for name, each in held.items():
        Slo.objects.create(job_id=name, objective=as_data(each))
    Slo.objects.create(job_id="d.none", objective=None)
    # Written by a later version, which knows more than this one.
    Slo.objects.create(job_id="e.later", objective={"priority": 35, "cost": {}})
    assert current() == held


@pytest.fixture
def migrated(transactional_db: None) -> Iterator[Any]:
    def to(name: tuple[str, str]) -> Any:
        executor = MigrationExecutor(connection)
        executor.migrate([name])
        return MigrationExecutor(connection).loader.project_state([name]).apps

    yield to
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_a_p99_becomes_an_objective_and_a_p99_again(migrated: Any) -> None:
    apps = migrated(BEFORE)
    job, slo = apps.get_model("dashboard", "Job"), apps.get_model("dashboard", "Slo")
    for name, p99_ms in {"a.kept": 250.5, "b.mean": 100.0, "c.withdrawn": None}.items():
        job.objects.create(id=name, first_seen_ms=1, last_seen_ms=1)
        slo.objects.create(job_id=name, p99_ms=p99_ms, version=3, violated_ms=p99_ms and 7)

    apps = migrated(AFTER)
    slo = apps.get_model("dashboard", "Slo")
    stored = dict(slo.objects.values_list("job_id", "objective"))
    # It was judged by the p99 of processed records.
    assert stored == {
        "a.kept": as_data(p99_objective(250.5)),
        "b.mean": as_data(p99_objective(100.0)),
        "c.withdrawn": None,
    }
    mean = as_data(Objective(LatencyTarget(100.0, Statistic.MEAN)))
    slo.objects.filter(job_id="b.mean").update(objective=mean)

    apps = migrated(BEFORE)
    slo = apps.get_model("dashboard", "Slo")
    found = {
        each.job_id: (each.p99_ms, each.version, each.violated_ms) for each in slo.objects.all()
    }
    assert found == {
        "a.kept": (250.5, 3, 7),
        # What is no p99 cannot be said there: it is withdrawn, and ends being violated.
        "b.mean": (None, 4, None),
        "c.withdrawn": (None, 3, None),
    }
