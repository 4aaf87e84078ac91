"""The rule on skewed partitions: what it says, and what it advises, by what is known of keys."""

from dataclasses import replace

import numpy as np
import pytest

from techniques.detection import find_all
from techniques.detection.finding import Finding
from techniques.detection.rules import skewed_partition
from techniques.detection.skew_advice import MORE_PARTITIONS, SALT_THE_KEY, WATCH_THE_KEYS
from techniques.view import HeavyKey, View
from tests.techniques.detection.traces import HEAVY_PARTITION, PLANTED, Setting, trace

SKEWED = trace(PLANTED["skewed_partition"])
ALICE = HeavyKey("user_id", "alice", HEAVY_PARTITION, 0.4125, 9_800)
ELSEWHERE = HeavyKey("user_id", "bob", HEAVY_PARTITION + 1, 0.02, 9_800)


def found(view: View) -> Finding:
    (finding,) = skewed_partition.find(view)
    return finding


def facts(finding: Finding) -> dict[str, str]:
    return {each.name: each.value for each in finding.evidence}


def test_the_partition_is_named_with_how_much_longer_it_takes_and_why_moving_does_not_help() -> (
    None
):
    finding = found(SKEWED)

    assert finding.title.startswith(f"Partition {HEAVY_PARTITION} takes 3.")
    assert "would not help" in finding.explanation
    assert finding.technique is None
    assert finding.added_ms == pytest.approx(600, rel=0.15)
    assert facts(finding)["slow on"] == "executor 2"
    p_value = facts(finding)["p-value: equal partitions would differ so (rank sum)"]
    assert float(p_value) == pytest.approx(finding.p_value, rel=0.1)


def test_no_other_rule_takes_it_for_something_else() -> None:
    assert [finding.kind for finding in find_all(SKEWED)] == [skewed_partition.KIND]


def test_a_slow_executor_is_a_straggler_and_no_skew() -> None:
    assert skewed_partition.find(trace(Setting(slow_executor=3.0))) == []


def test_a_job_that_does_not_watch_its_keys_is_told_the_line_that_does() -> None:
    finding = found(SKEWED)

    assert finding.first == WATCH_THE_KEYS
    assert WATCH_THE_KEYS.line in facts(finding)["heavy keys"]


def test_a_heavy_key_of_that_partition_is_named_with_its_share_and_salting_is_advised() -> None:
    finding = found(replace(SKEWED, heavy_keys=(ALICE, ELSEWHERE)))

    assert facts(finding)["heavy key user_id = alice"] == (
        "at least 41.25% of the rows (9800 rows sampled)"
    )
    assert not any("bob" in name for name in facts(finding))
    assert finding.first == SALT_THE_KEY


def test_keys_that_are_light_beside_the_heavy_one_are_not_called_heavy() -> None:
    light = replace(ALICE, key="carol", share=0.0005)
    half = replace(ALICE, key="dave", share=ALICE.share / 2)
    named = facts(found(replace(SKEWED, heavy_keys=(ALICE, half, light))))

    assert [name for name in named if name.startswith("heavy key")] == [
        "heavy key user_id = alice",
        "heavy key user_id = dave",
    ]


@pytest.mark.parametrize("share", [None, 0.05])
def test_where_no_single_key_is_heavy_more_partitions_are_advised(share: float | None) -> None:
    """Of eight partitions each has an eighth on average, and half of that makes a key heavy."""
    light = () if share is None else (replace(ALICE, share=share),)

    assert found(replace(SKEWED, heavy_keys=(*light, ELSEWHERE))).first == MORE_PARTITIONS


def test_several_slow_partitions_are_one_finding() -> None:
    # Both are on executor 2, beside two others.
    tasks = SKEWED.tasks
    longer_ms = np.where(tasks.partition == 1, 4 * tasks.duration_ms, 0.0)
    finding = found(replace(SKEWED, tasks=replace(tasks, end_ms=tasks.end_ms + longer_ms)))

    assert finding.title.startswith("Partition 1 takes")
    assert facts(finding)["also slow"].startswith(f"{HEAVY_PARTITION} (")
