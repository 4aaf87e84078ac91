"""Clusters for tests of the state machine: a model in which utility follows from parallelism."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from techniques.slo.actions import Action
from techniques.slo.machine import AS_IN_THE_PAPER, step
from techniques.slo.memory import Kind, Memory
from techniques.slo.observation import Job, Machine, Observation, Operator
from techniques.slo.parameters import Parameters
from techniques.slo.states import State

ROUND_MS = 10_000
IDLE, CROWDED = (Machine(4, 1.0),) * 3, (Machine(4, 9.0),) * 3


@dataclass
class Model:
    """A job whose operators each need so many instances. Its share of the maximum utility is that
    of the scarcest operator; `best` is the most that it ever reaches."""

    needs: dict[str, float]
    has: dict[str, int]
    max_utility: float | None = 35.0
    best: float = 1.0
    lows: dict[str, int] = field(default_factory=dict)
    high: int = 1_000
    # Another operator than those of `needs` is a source.
    sources: tuple[str, ...] = ()
    # What DS2 reads: an instance executes 100 in a second of work.
    arrived_per_s: float | None = None
    # Capacities that do not follow from needs; None where it is not known.
    capacities: dict[str, float | None] = field(default_factory=dict)
    refused: str = ""
    is_missing: bool = False

    @property
    def share(self) -> float:
        found = [self.has[name] / need for name, need in self.needs.items()]
        return min(self.best, 1.0, *found)

    def seen(self, penalty: float = 1.0) -> Job:
        share = self.share * penalty
        operators = {
            name: Operator(
                parallelism,
                self.lows.get(name, 1),
                self.high,
                is_source=name in self.sources,
                capacity=self._capacity(name, parallelism),
                true_per_s=100.0,
                arrived_per_s=self.arrived_per_s,
            )
            for name, parallelism in self.has.items()
        }
        if self.max_utility is None:
            return Job(operators)
        utility = None if self.is_missing else self.max_utility * share
        meets = None if self.is_missing else share >= 1 - 1e-12
        return Job(operators, self.max_utility, utility, meets, "slo", self.refused)

    def _capacity(self, name: str, parallelism: int) -> float | None:
        """An operator is busy until it has what it needs."""
        if name in self.capacities:
            return self.capacities[name]
        return 0.9 if self.needs.get(name, 0.0) > parallelism else 0.25


@dataclass
class Cluster:
    """Carries actions out at once, unless `carries_out` says otherwise."""

    jobs: dict[str, Model]
    size: int = 10_000
    machines: tuple[Machine, ...] = IDLE
    parameters: Parameters = AS_IN_THE_PAPER
    # What a job's utility is multiplied with, from the configuration as a whole.
    penalty: Callable[["Cluster", str], float] = lambda cluster, job: 1.0
    carries_out: Callable[[str, str, int], int | None] = lambda job, operator, to: to
    memory: Memory = field(default_factory=Memory)
    now_ms: int = 1_700_000_000_000
    actions: list[Action] = field(default_factory=list)

    @property
    def used(self) -> int:
        return sum(sum(job.has.values()) for job in self.jobs.values())

    @property
    def kinds(self) -> list[Kind]:
        return [each.kind for each in self.actions]

    @property
    def utility(self) -> float:
        return sum(each.utility or 0.0 for each in self.observation().jobs.values())

    def is_in(self, state: State) -> bool:
        return self.memory.state is state

    def observation(self) -> Observation:
        jobs = {name: job.seen(self.penalty(self, name)) for name, job in self.jobs.items()}
        return Observation(self.now_ms, jobs, self.size, self.machines)

    def round(self) -> tuple[Action, ...]:
        self.now_ms += ROUND_MS
        self.memory, actions = step(self.memory, self.observation(), self.parameters)
        for action in actions:
            self.actions.append(action)
            for name, asked in action.asked.items():
                for operator, to in asked.items():
                    there = self.carries_out(name, operator, to)
                    if there is not None:
                        self.jobs[name].has[operator] = there
        return actions

    def run(self, rounds: int) -> "Cluster":
        for _ in range(rounds):
            self.round()
        return self

    def until(self, *states: State, most: int = 2_000) -> "Cluster":
        for _ in range(most):
            self.round()
            if self.memory.state in states:
                return self
        raise AssertionError(f"{self.memory.state} after {most} rounds, not {states}")

    def remember(self, **changes: object) -> None:
        self.memory = replace(self.memory, **changes)  # type: ignore[arg-type]


def short_of(
    needed: float, max_utility: float | None = 35.0, has: int = 2, **changes: object
) -> Model:
    model = Model({"score": needed}, {"score": has, "source": 1}, max_utility, sources=("source",))
    return replace(model, **changes)  # type: ignore[arg-type]


def fine(max_utility: float | None = 35.0, has: int = 20) -> Model:
    return short_of(has / 2, max_utility, has)
