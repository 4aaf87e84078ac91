"""What the state machine finds again in the next round: frozen, and plain data for JSON.

It is stored with the decisions of the jobs, so that a worker that dies between deciding and acting
leaves the machine where it was. Times are those of the observations.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from techniques.slo.observation import Configuration
from techniques.slo.states import State

# Of the newest entries of the log.
MOST_ENTRIES = 30


class Kind(StrEnum):
    RECONFIGURATION = "reconfiguration"
    REDUCTION = "reduction"
    REVERSION = "reversion"


class Why(StrEnum):
    """Why a job is black-listed."""

    MARGINAL = "more resources hardly helped"
    FAILED = "its resources could not be changed"
    NOTHING_TO_GIVE = "nothing was left to give it"


@dataclass(frozen=True)
class Listed:
    until_ms: int
    why: Why


@dataclass(frozen=True)
class Pending:
    """An action whose effect is not known yet: what is asked, what was there before, and what had
    been asked before, of the jobs that it touches; utilities are those of all jobs. `compensates`
    if it takes back what one job did not carry out."""

    kind: Kind
    at_ms: int
    asked: Configuration
    before: Configuration
    wished: Configuration
    utilities: Mapping[str, float]
    compensates: bool = False


@dataclass(frozen=True)
class Best:
    """The configuration with the highest utility since the workload changed."""

    configuration: Configuration
    utility: float


@dataclass(frozen=True)
class Entry:
    """Something that happened, for people: `utility` is the total then, None if not known."""

    at_ms: int
    what: str
    jobs: tuple[str, ...]
    says: str
    utility: float | None = None


@dataclass(frozen=True)
class Memory:
    """`since_ms` is when it came into this state, `seen_ms` the latest round. `jobs` are those with
    an SLO and data, with their SLOs; `missing` are those of them without data, and since when.
    `wishes` are all parallelisms that are asked of jobs now. `highest` has, while converged, the
    highest utility of each job, `met` the jobs that met their SLO then. `total` is the latest total
    utility while it settles. `is_back` once data of a job came back while that of others was still
    missing."""

    state: State = State.STARTING
    since_ms: int = 0
    seen_ms: int = 0
    size: int = 0
    jobs: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    pending: Pending | None = None
    best: Best | None = None
    is_reduced: bool = False
    blacklist: Mapping[str, Listed] = field(default_factory=dict)
    wishes: Configuration = field(default_factory=dict)
    highest: Mapping[str, float] = field(default_factory=dict)
    met: tuple[str, ...] = ()
    total: float | None = None
    is_back: bool = False
    log: tuple[Entry, ...] = ()

    def forgetting(self) -> "Memory":
        """Without what was learnt under another workload. That a job hardly gained from resources
        is remembered until it expires; what is asked of jobs stays in force."""
        kept = {
            job: each for job, each in self.blacklist.items() if each.why is not Why.NOTHING_TO_GIVE
        }
        return replace(
            self,
            pending=None,
            best=None,
            is_reduced=False,
            blacklist=kept,
            highest={},
            met=(),
            total=None,
        )

    def noting(self, *entries: Entry) -> "Memory":
        return replace(self, log=(*self.log, *entries)[-MOST_ENTRIES:])

    def same_as(self, other: "Memory") -> bool:
        """Whether nothing happened but that time went by."""
        return replace(self, seen_ms=0) == replace(other, seen_ms=0)

    def as_data(self) -> dict[str, Any]:
        data = asdict(self)
        data["state"] = str(self.state)
        data["met"] = list(self.met)
        data["log"] = [{**asdict(each), "jobs": list(each.jobs)} for each in self.log]
        data["blacklist"] = {
            job: {"until_ms": each.until_ms, "why": str(each.why)}
            for job, each in self.blacklist.items()
        }
        if self.pending:
            data["pending"] = {**data["pending"], "kind": str(self.pending.kind)}
        return data

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Memory":
        """Reads what `as_data` wrote; an empty memory if it is of another version or garbled."""
        try:
            pending, best = data["pending"], data["best"]
            found = Memory(
                **{
                    **data,
                    "state": State(data["state"]),
                    "met": tuple(data["met"]),
                    "log": tuple(
                        Entry(**{**each, "jobs": tuple(each["jobs"])}) for each in data["log"]
                    ),
                    "blacklist": {
                        job: Listed(each["until_ms"], Why(each["why"]))
                        for job, each in data["blacklist"].items()
                    },
                    "pending": pending and Pending(**{**pending, "kind": Kind(pending["kind"])}),
                    "best": best and Best(**best),
                }
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return Memory()
        return found
