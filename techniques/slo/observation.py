"""What the state machine sees of a cluster in one round: frozen values, whoever measured them.

*Parallelism* is what the machine changes: instances of an operator, executors of a job, a weight in
Spark's fair scheduler. A cluster has so many *units* (threads, instances, slots); one more of an
operator's parallelism takes `units` of them, 0 if it is only a share of what there is already.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

# A parallelism by operator, and such maps by job.
Parallelisms = Mapping[str, int]
Configuration = Mapping[str, Parallelisms]


@dataclass(frozen=True)
class Operator:
    """`capacity` is the share of time in which its busiest instance worked (equation 3); None where
    it is not known.

    DS2 needs more, None or empty where it is not known: `true_per_s`, the records that one instance
    executes in a second of work; `arrived_per_s`, what comes from outside to an operator without
    parents; and for each parent how many records it sends here for each that it executes."""

    parallelism: int
    low: int = 1
    high: int = 64
    units: int = 1
    is_source: bool = False
    capacity: float | None = None
    true_per_s: float | None = None
    arrived_per_s: float | None = None
    parents: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """`max_utility` is None for a job without an SLO. `utility` and `meets` are None while they are
    not measured. `slo` is any text that changes when the SLO does. `refused` says why the job does
    not hold what it was last asked, empty where it does or nobody knows yet."""

    operators: Mapping[str, Operator]
    max_utility: float | None = None
    utility: float | None = None
    meets: bool | None = None
    slo: str = ""
    refused: str = ""

    @property
    def has_slo(self) -> bool:
        return self.max_utility is not None

    @property
    def is_measured(self) -> bool:
        return self.utility is not None and self.meets is not None

    @property
    def parallelisms(self) -> dict[str, int]:
        return {name: each.parallelism for name, each in self.operators.items()}


@dataclass(frozen=True)
class Machine:
    """`load` is the number of threads that run or wait for a core, None if it is not known."""

    cores: int
    load: float | None = None

    @property
    def is_congested(self) -> bool:
        return self.load is not None and self.load > self.cores


@dataclass(frozen=True)
class Observation:
    """`size` is how many units all jobs together may take."""

    at_ms: int
    jobs: Mapping[str, Job]
    size: int
    machines: tuple[Machine, ...] = ()

    @property
    def is_congested(self) -> bool:
        """A majority of the machines has more to run than cores (section 5.2)."""
        return 2 * sum(each.is_congested for each in self.machines) > len(self.machines)
