"""The control agent: from what is asked of the jobs of one application to what its probe holds.

Documents come in (`hear`), one *edition* of orders for the whole application goes out to the
driver's JVM, and every JVM says which edition it holds and what it refused. What is true of each
technique then rides on the job's frames. Time is an argument.

Three leases make sure that nothing stays switched on because somebody went away: the server
renews the document (a technique's lease), this process renews the edition (`LEASE_MS`, kept by the
driver), and the driver's replies renew it for the executors (the same, kept by each of them).
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from collectors.formats import control
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.codec import Garbled
from collectors.formats.control import Control, Wanted
from techniques.model import Order, Refused
from techniques.registry import Realizer

LEASE_MS = 10_000
RENEW_MS = 2_000
# An executor that has not sent a part for this long need not agree.
GONE_MS = 3_000
WHY_CHARS = 200


@dataclass(frozen=True)
class Status:
    """What one JVM says it holds."""

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


@dataclass
class _Job:
    query_id: str
    run_id: str
    document: Control = field(default_factory=Control)
    renewed_at_ms: int = 0
    # Of the document: which orders each technique led to, or why it led to none.
    orders: dict[str, list[int]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


class Agent:
    def __init__(self, realizer: Callable[[str], Realizer], now_ms: int) -> None:
        self._realizer = realizer
        self._jobs: dict[str, _Job] = {}
        # Starts at the clock: a collector that is started again must not repeat an old number.
        self._edition = now_ms
        self._orders: dict[int, dict[str, Any]] = {}
        self._sent_ms = 0
        self._changed = False
        self._status: dict[str, Status] = {}
        self._seen_ms: dict[str, int] = {}

    @property
    def idle(self) -> bool:
        """Nothing was ever asked: the probe need not be told anything."""
        return not any(job.document.version for job in self._jobs.values())

    def start(self, job_id: str, query_id: str, run_id: str) -> None:
        before = self._jobs.get(job_id)
        if before and before.run_id == run_id:
            return
        self._jobs[job_id] = _Job(query_id, run_id)

    def end(self, job_id: str, now_ms: int) -> None:
        if self._jobs.pop(job_id, None):
            self._compose(now_ms)

    def hear(self, job_id: str, data: bytes, now_ms: int) -> None:
        """A document as it is in Redis now. Raises `Garbled`; the one before stays in force."""
        job = self._jobs.get(job_id)
        if job is None:
            return
        document = control.decode(data)
        before = _in_force(job, now_ms)
        if document.renewed_ms != job.document.renewed_ms:
            # By our clock: the server's may differ, but its renewals come or they do not.
            job.renewed_at_ms = now_ms
        job.document = document
        if _in_force(job, now_ms) != before:
            self._compose(now_ms)

    def saw(self, executor_id: str, now_ms: int) -> None:
        self._seen_ms[executor_id] = now_ms

    def report(self, executor_id: str, status: Status) -> None:
        self._status[executor_id] = status

    def tell(self, now_ms: int) -> bytes | None:
        """What the driver's JVM is to hear now: a new edition, or the same again as a renewal."""
        if self.idle and not self._changed:
            return None
        self._lapse(now_ms)
        if not self._changed and now_ms - self._sent_ms < RENEW_MS:
            return None
        self._changed = False
        self._sent_ms = now_ms
        edition = {
            "edition": self._edition,
            "lease_ms": LEASE_MS,
            "orders": list(self._orders.values()),
        }
        return json.dumps(edition, separators=(",", ":")).encode()

    def asked(self, job_id: str, now_ms: int) -> Asked | None:
        """For the job's next frame; None while nothing was ever asked of it."""
        job = self._jobs.get(job_id)
        if job is None or not job.document.version:
            return None
        behind = sorted(self._behind(now_ms))
        return Asked(
            version=job.document.version,
            settled=not behind,
            techniques=tuple(
                self._applied(job, name, wanted, behind, now_ms)
                for name, wanted in sorted(job.document.techniques.items())
            ),
        )

    def _applied(
        self, job: _Job, name: str, wanted: Wanted, behind: list[str], now_ms: int
    ) -> Applied:
        state, because = State.APPLIED, ""
        if _lapsed(job, wanted, now_ms):
            state = State.LAPSED
            because = f"not renewed for {wanted.lease_ms // 1000} s: back to the defaults"
        elif why := job.refused.get(name):
            state, because = State.REFUSED, why
        elif wanted.mode == "act" and (no := next(self._refusals(job.orders[name]), None)):
            state, because = State.REFUSED, no
        elif wanted.mode == "act" and behind:
            state, because = State.ASKED, f"waiting for {', '.join(behind)}"
        return Applied(name, wanted.mode, state, wanted.version, because[:WHY_CHARS])

    def _behind(self, now_ms: int) -> Iterator[str]:
        """Who has not said yet that it holds this edition, the driver among them."""
        for who, seen_ms in self._seen_ms.items():
            status = self._status.get(who)
            held = status is not None and status.edition == self._edition
            if not held and now_ms - seen_ms < GONE_MS:
                yield who

    def _refusals(self, numbers: list[int]) -> Iterator[str]:
        for who, status in sorted(self._status.items()):
            if status.edition == self._edition:
                for number in numbers:
                    if number in status.refused:
                        yield f"{who}: {status.refused[number]}"

    def _lapse(self, now_ms: int) -> None:
        for job in self._jobs.values():
            for name, wanted in job.document.techniques.items():
                if job.orders.get(name) and _lapsed(job, wanted, now_ms):
                    self._compose(now_ms)
                    return

    def _compose(self, now_ms: int) -> None:
        self._edition += 1
        self._changed = True
        self._orders = {}
        for job in self._jobs.values():
            job.orders, job.refused = {}, {}
            for name, wanted in sorted(job.document.techniques.items()):
                job.orders[name] = []
                if wanted.mode != "act" or _lapsed(job, wanted, now_ms):
                    continue
                try:
                    orders = self._realizer(name).orders(wanted.settings)
                except Refused as why:
                    job.refused[name] = str(why)
                except KeyError:
                    job.refused[name] = f"this job's Curtail does not know {name}"
                else:
                    job.orders[name] = [self._number(job, order) for order in orders]

    def _number(self, job: _Job, order: Order) -> int:
        number = len(self._orders)
        self._orders[number] = {
            "number": number,
            "lever": order.lever,
            "where": order.where,
            "query": job.query_id,
            "run": job.run_id,
            "values": dict(order.values),
        }
        return number


def _in_force(job: _Job, now_ms: int) -> tuple[int, dict[str, Wanted]]:
    """What changes an edition: renewals alone do not."""
    held = {
        name: wanted
        for name, wanted in job.document.techniques.items()
        if not _lapsed(job, wanted, now_ms)
    }
    return job.document.version, held


def _lapsed(job: _Job, wanted: Wanted, now_ms: int) -> bool:
    return now_ms - job.renewed_at_ms > wanted.lease_ms
