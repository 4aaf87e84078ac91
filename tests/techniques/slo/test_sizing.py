import pytest

from techniques.slo.observation import Job, Operator
from techniques.slo.parameters import Parameters, Sizing
from techniques.slo.sizing import demand_per_s, extra_threads, wanted

HENGE, DS2 = Parameters(), Parameters(sizing=Sizing.DS2, utilisation=0.5)


@pytest.mark.parametrize(
    ("capacity", "threads"), [(0.31, 1), (0.33, 1), (0.45, 5), (0.6, 10), (1.0, 23)]
)
def test_equation_4_gives_threads_by_how_congested_an_operator_is(
    capacity: float, threads: int
) -> None:
    assert extra_threads(capacity, HENGE) == threads


def test_only_congested_operators_get_more_the_most_congested_first() -> None:
    job = Job(
        {
            "idle": Operator(3, capacity=0.3),
            "busy": Operator(3, capacity=0.45),
            "full": Operator(3, capacity=0.9),
            "unknown": Operator(3),
        }
    )

    assert list(wanted(job, HENGE).items()) == [("full", 23), ("busy", 8)]


def test_nothing_gets_more_than_its_bound() -> None:
    job = Job({"a": Operator(3, high=5, capacity=1.0), "b": Operator(4, high=4, capacity=1.0)})

    assert wanted(job, HENGE) == {"a": 5}


def test_an_executor_brings_as_many_threads_as_it_has_slots() -> None:
    assert wanted(Job({"executors": Operator(2, capacity=0.9, units=4)}), HENGE) == {"executors": 7}


# 1 000 rows arrive in a second. `parse` makes two of each, of which `score` gets three quarters and
# `audit` one quarter; `sink` gets what `score` lets through, a third.
PIPELINE = {
    "source": Operator(1, capacity=0.1, is_source=True, arrived_per_s=1_000),
    "parse": Operator(1, capacity=1.0, true_per_s=250, parents={"source": 1.0}),
    "score": Operator(2, capacity=0.5, true_per_s=100, parents={"parse": 1.5}),
    "audit": Operator(2, capacity=0.2, true_per_s=1_000, parents={"parse": 0.5}),
    "sink": Operator(1, capacity=0.4, true_per_s=500, parents={"score": 1 / 3}),
}


def test_ds2_follows_the_demand_from_the_source_through_the_graph() -> None:
    demand = demand_per_s(Job(PIPELINE))

    assert demand == pytest.approx(
        {"source": 1_000, "parse": 1_000, "score": 1_500, "audit": 500, "sink": 500}
    )


def test_ds2_sizes_every_congested_operator_in_one_step_for_what_it_will_get() -> None:
    # As many as do the demand while they work half of the time. `audit` is not congested.
    assert wanted(Job(PIPELINE), DS2) == {"parse": 8, "score": 30, "sink": 2}


def test_where_ds2_finds_enough_though_the_slo_is_missed_henges_step_is_taken() -> None:
    enough = {
        "source": Operator(1, arrived_per_s=100),
        "score": Operator(4, capacity=0.6, true_per_s=100, parents={"source": 1.0}),
    }

    assert wanted(Job(enough), DS2) == {"score": 14}


@pytest.mark.parametrize(
    "operators",
    [
        {"a": Operator(1, capacity=0.6)},
        {"a": Operator(1, capacity=0.6, true_per_s=0.0, arrived_per_s=10)},
        {"a": Operator(1, capacity=0.6, true_per_s=1e-320, arrived_per_s=1e300)},
        {"a": Operator(1, capacity=0.6, true_per_s=10.0, parents={"gone": 1.0})},
        {"a": Operator(1, capacity=0.6, true_per_s=10.0, parents={"a": 1.0})},
    ],
)
def test_where_rates_are_not_known_ds2_takes_henges_step(operators: dict[str, Operator]) -> None:
    assert wanted(Job(operators), DS2) == {"a": 11}
