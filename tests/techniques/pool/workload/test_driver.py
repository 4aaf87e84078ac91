"""The driver without Spark: open loop, with what is planted showing in the latencies."""

import json
import uuid
from collections.abc import Iterator

import numpy as np
import pytest

from techniques.pool.workload import driver
from techniques.pool.workload.arrivals import poisson, trace
from techniques.pool.workload.topologies import TOPOLOGIES

EXCLAMATION = TOPOLOGIES["exclamation"].with_tasks(1)


@pytest.fixture
def application() -> Iterator[str]:
    made = f"test-{uuid.uuid4().hex[:12]}"
    yield made
    driver.ended(made, "bench")


def test_latency_counts_from_the_intended_time(application: str) -> None:
    """One instance hangs for 0.3 s: all that was meant to be sent meanwhile is late as well."""
    hang_s = 0.3
    plan = driver.planned(EXCLAMATION, hangs={0: (driver.WARM_UP_CHUNKS + 10, hang_s)}, window=2)
    times_s = trace([0.005 * at for at in range(100)])
    run = driver.drive(plan, driver.tuples(EXCLAMATION, 100, 1, 0, None), times_s, application)
    assert run.rows == 100
    # A closed loop would have one slow answer; here all of the sixty that came meanwhile are slow.
    expected_ms = (hang_s - 0.005 * np.arange(60)) * 1000
    assert (run.latency_ms[10:70] >= expected_ms - 1).all()
    # And what was not sent in time is counted as such.
    assert run.late_ms[20] > 100


def test_a_topology_is_driven_with_skewed_costs_from_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = "--topology page_load --rate 100 --seconds 0.5 --instances 1 --skew-us 100,5000"
    assert driver.main(given.split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["chunks"] == len(poisson(100, 0.5))
    assert told["instances"] == [1] * 4
    latency_ms = told["latency_ms"]
    assert 0 < latency_ms["p50"] <= latency_ms["p99"] <= latency_ms["p99.9"]


def test_chunks_and_arrivals_have_to_match() -> None:
    with pytest.raises(ValueError, match="1 chunks for 2 arrivals"):
        driver.drive(
            driver.planned(EXCLAMATION),
            driver.tuples(EXCLAMATION, 1, 1, 0, None),
            trace([0, 1]),
            "nobody",
        )
