"""The table of metrics: every id once, the same on both sides, and explained."""

import re
from pathlib import Path

from collectors.formats.metrics import BY_NAME, METRICS
from collectors.spark.build import PROBE_DIR

DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"
BY_ID = {metric.id: metric for metric in METRICS}
UNITS = {"us": "µs", "bytes": "bytes", "cores": "cores"}


def test_no_id_and_no_name_is_used_twice() -> None:
    assert len(BY_ID) == len(BY_NAME) == len(METRICS)


def test_the_probe_knows_the_same_ids() -> None:
    source = (PROBE_DIR / "machine" / "Metrics.scala").read_text()
    table = source.partition("object Metrics {")[2]
    scala = {int(id): name for name, id in re.findall(r"val (\w+) = (\d+)", table)}
    assert set(scala) == set(BY_ID)
    for id, name in scala.items():
        # ContainerCpu here is container_cpu_us there: one has the unit beside it, one in it.
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        assert BY_ID[id].name in {snake, *(f"{snake}_{unit}" for unit in UNITS)}


def test_a_unit_in_a_name_is_the_unit_of_the_metric() -> None:
    for metric in METRICS:
        ending = metric.name.rpartition("_")[2]
        if ending in UNITS:
            assert metric.unit == UNITS[ending], metric.name


def test_every_metric_is_in_the_documentation() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| ([^|]+) \|", DOCS.read_text(), re.MULTILINE)
    documented = {int(id): (name, unit.strip()) for id, name, unit in rows}
    assert len(documented) == len(rows)
    assert documented == {metric.id: (metric.name, metric.unit) for metric in METRICS}
