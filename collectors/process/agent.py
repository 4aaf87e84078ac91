"""The control agent: turns the control documents of an application's jobs into orders.

Documents come in (`hear`), one *edition* of orders for the whole application goes out to the
driver's JVM, and every JVM reports which edition it holds and what it refused. The resulting state
of each technique is sent with the job's frames. Time is an argument.

Three leases make sure that nothing stays switched on after a process went away: the server
renews the document (a technique's lease), this process renews the edition (`LEASE_MS`, kept by the
driver), and the driver's replies renew it for the executors (the same, kept by each of them).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from collectors.formats import control
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.codec import Garbled
from collectors.formats.control import Control, Wanted
from collectors.process.arbitration import Arbitration
from collectors.process.facts import Facts
from techniques.orders import Order, Refused
from techniques.registry import Registry
from techniques.schema import SettingFault

LEASE_MS = 10_000
RENEW_MS = 2_000
# An executor that has not sent a part for this long is not waited for.
GONE_MS = 3_000
WHY_CHARS = 200


@dataclass(frozen=True)
class Status:
    """The edition that one JVM reports to hold."""

    edition: int
    refused: dict[int, str]

    @staticmethod
    def parse(text: str | bytes) -> "Status":
        try:
            found = json.loads(text)
            refused = {int(number): str(why) for number, why in dict(found["refused"]).items()}
            return Status(int(found["edition"]), refused)
        except (ValueError, KeyError, TypeError) as error:
            raise Garbled(f"not a status of levers: {error}") from error


@dataclass(frozen=True)
class _Numbered:
    number: int
    order: Order


@dataclass(frozen=True)
class _Outcome:
    """The orders that one technique of one job led to, or the reason why there are none."""

    orders: tuple[_Numbered, ...] = ()
    refused: str = ""


@dataclass
class _Job:
    query_id: str
    run_id: str
    document: Control = field(default_factory=Control)
    renewed_at_ms: int = 0
    outcomes: dict[str, _Outcome] = field(default_factory=dict)

    def is_acting(self, name: str, now_ms: int) -> bool:
        wanted = self.document.techniques[name]
        return wanted.mode == "act" and not self.has_lapsed(wanted, now_ms)

    def has_lapsed(self, wanted: Wanted, now_ms: int) -> bool:
        return now_ms - self.renewed_at_ms > wanted.lease_ms


class Agent:
    def __init__(self, techniques: Registry, facts: Facts, now_ms: int) -> None:
        self._techniques = techniques
        self._facts = facts
        self._jobs: dict[str, _Job] = {}
        self._composed_of: object = None
        # Starts at the clock: a collector that is started again must not repeat an old number.
        self._edition = now_ms
        self._orders: list[dict[str, Any]] = []
        self._sent_ms = 0
        self._changed = False
        self._status: dict[str, Status] = {}
        self._seen_ms: dict[str, int] = {}

    @property
    def idle(self) -> bool:
        """Whether nothing was ever asked, so that the probe needs no edition."""
        return not any(job.document.version for job in self._jobs.values())

    def start(self, job_id: str, query_id: str, run_id: str) -> None:
        before = self._jobs.get(job_id)
        if before and before.run_id == run_id:
            return
        self._jobs[job_id] = _Job(query_id, run_id)

    def end(self, job_id: str, now_ms: int) -> None:
        if job := self._jobs.pop(job_id, None):
            self._facts.forget(job.run_id)
            self._compose(now_ms)

    def hear(self, job_id: str, data: bytes, now_ms: int) -> None:
        """Takes a document from Redis. If it raises `Garbled`, the previous one stays in force."""
        job = self._jobs.get(job_id)
        if job is None:
            return
        document = control.decode(data)
        before = job.document
        if document.version < before.version and document.renewed_ms <= before.renewed_ms:
            return  # two writers: this one composed its document before the other's change
        if document.renewed_ms != job.document.renewed_ms:
            # By our clock: the server's may differ, but its renewals come or they do not.
            job.renewed_at_ms = now_ms
        job.document = document
        self._compose(now_ms)

    def saw(self, executor_id: str, host: str, now_ms: int) -> None:
        self._seen_ms[executor_id] = now_ms
        self._facts.executor(executor_id, host)

    def left(self, executor_id: str) -> None:
        """Forgets an executor that Spark removed, so that its answer is not waited for."""
        self._seen_ms.pop(executor_id, None)
        self._status.pop(executor_id, None)
        self._facts.executor_left(executor_id)

    def report(self, executor_id: str, status: Status) -> None:
        self._status[executor_id] = status

    def tell(self, now_ms: int) -> bytes | None:
        """Returns what to send to the driver's JVM: a new edition, or the same as a renewal."""
        if self.idle and not self._changed:
            return None
        self._compose(now_ms)
        if not self._changed and now_ms - self._sent_ms < RENEW_MS:
            return None
        self._changed = False
        self._sent_ms = now_ms
        edition = {"edition": self._edition, "lease_ms": LEASE_MS, "orders": self._orders}
        return json.dumps(edition, separators=(",", ":")).encode()

    def asked(self, job_id: str, now_ms: int) -> Asked | None:
        """Returns the control section of the job's next frame; None if nothing was ever asked."""
        job = self._jobs.get(job_id)
        if job is None or not job.document.version:
            return None
        return Asked(
            version=job.document.version,
            settled=not any(self._behind(now_ms)),
            techniques=tuple(
                self._applied(job, name, wanted, now_ms)
                for name, wanted in sorted(job.document.techniques.items())
            ),
        )

    def _applied(self, job: _Job, name: str, wanted: Wanted, now_ms: int) -> Applied:
        state, because = State.APPLIED, ""
        outcome = job.outcomes.get(name, _Outcome())
        if job.has_lapsed(wanted, now_ms):
            state = State.LAPSED
            because = f"not renewed for {wanted.lease_ms // 1000} s: back to the defaults"
        elif outcome.refused:
            state, because = State.REFUSED, outcome.refused
        elif no := next(self._refusals(outcome.orders), None):
            state, because = State.REFUSED, no
        elif wanted.mode == "act" and (behind := self._waited_for(outcome.orders, now_ms)):
            state, because = State.ASKED, f"waiting for {', '.join(behind)}"
        return Applied(name, wanted.mode, state, wanted.version, because[:WHY_CHARS])

    def _waited_for(self, orders: Sequence[_Numbered], now_ms: int) -> list[str]:
        """Returns the JVMs that got one of these orders and have not confirmed this edition yet."""
        asked = [each.order.to for each in orders]
        return sorted(
            who for who in self._behind(now_ms) if any(self._facts.reaches(to, who) for to in asked)
        )

    def _behind(self, now_ms: int) -> Iterator[str]:
        """Yields every JVM, including the driver, that has not confirmed this edition yet."""
        for who, seen_ms in self._seen_ms.items():
            status = self._status.get(who)
            holds = status is not None and status.edition == self._edition
            if not holds and now_ms - seen_ms < GONE_MS:
                yield who

    def _refusals(self, orders: Sequence[_Numbered]) -> Iterator[str]:
        for who, status in sorted(self._status.items()):
            if status.edition == self._edition:
                for each in orders:
                    if each.number in status.refused:
                        yield f"{who}: {status.refused[each.number]}"

    def _compose(self, now_ms: int) -> None:
        """Makes a new edition if the documents in force lead to other orders than before."""
        in_force = self._in_force(now_ms)
        runs = [job.run_id for job in self._jobs.values()]
        composed_of = (in_force, runs, self._facts.version)
        if composed_of == self._composed_of:
            return
        # The first edition is sent even if it is empty: an earlier collector may have sent orders.
        is_first = self._composed_of is None
        self._composed_of = composed_of
        arbitration = Arbitration()
        orders: list[dict[str, Any]] = []
        for job_id, name, wanted in sorted(in_force, key=self._precedence):
            job = self._jobs[job_id]
            found = self._realized(job, name, wanted)
            if not found.refused:
                found = self._granted(arbitration, job_id, name, found)
            numbered = []
            for each in found.orders:
                numbered.append(_Numbered(len(orders), each.order))
                orders.append(_as_json(len(orders), job, each.order))
            job.outcomes[name] = _Outcome(tuple(numbered), found.refused)
        acting = {(job_id, name) for job_id, name, _ in in_force}
        for job_id, job in self._jobs.items():
            kept = {n: each for n, each in job.outcomes.items() if (job_id, n) in acting}
            job.outcomes = kept
        if is_first or orders != self._orders:
            self._orders = orders
            self._edition += 1
            self._changed = True

    def _precedence(self, asked: tuple[str, str, Wanted]) -> tuple[bool, int, str, str]:
        """Sort key: techniques that already have orders come first, then those asked earlier."""
        job_id, name, wanted = asked
        has_orders = bool(self._jobs[job_id].outcomes.get(name, _Outcome()).orders)
        return not has_orders, wanted.version, job_id, name

    def _in_force(self, now_ms: int) -> list[tuple[str, str, Wanted]]:
        return [
            (job_id, name, wanted)
            for job_id, job in self._jobs.items()
            for name, wanted in job.document.techniques.items()
            if job.is_acting(name, now_ms)
        ]

    def _realized(self, job: _Job, name: str, wanted: Wanted) -> _Outcome:
        """Returns the technique's orders; any exception in its code becomes a refusal."""
        technique = self._techniques.techniques.get(name)
        if technique is None:
            return _Outcome(refused=f"this job's Curtail does not know {name}")
        try:
            technique.settings.check(wanted.settings)
            facts = self._facts.of(job.query_id, job.run_id)
            orders = self._techniques.realizer(name).orders(wanted.settings, facts)
            return _Outcome(tuple(_Numbered(0, order) for order in orders))
        except Refused as why:
            return _Outcome(refused=str(why))
        except SettingFault as fault:
            return _Outcome(refused=f"its settings do not fit: {fault}")
        except Exception as error:
            return _Outcome(refused=f"{name} failed here: {type(error).__name__}: {error}")

    @staticmethod
    def _granted(arbitration: Arbitration, job_id: str, name: str, found: _Outcome) -> _Outcome:
        claims = [claim for each in found.orders for claim in each.order.claims]
        owner = arbitration.claim(job_id, name, claims)
        return _Outcome(refused=owner) if owner else found


def _as_json(number: int, job: _Job, order: Order) -> dict[str, Any]:
    return {
        "number": number,
        "lever": order.lever,
        "to": {key: value for key, value in asdict(order.to).items() if value},
        "query": job.query_id,
        "run": job.run_id,
        "values": dict(order.values),
    }
