"""A job of which something is asked, for tests of steering: the worker's rounds by hand."""

from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync

from collectors.formats import control, keys, wire
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.control import Control
from collectors.formats.wire import WINDOW_MS, Frame
from dashboard.models import Job, TechniqueSetting
from dashboard.steering import cards, computed, documents, switches
from dashboard.steering.rounds import Steering
from dashboard.steering.switches import Switch
from dashboard.store.memory import MemoryStore
from dashboard.worker.histories import Histories
from dashboard.worker.job_leases import Leases
from techniques.model import Mode
from tests.factories import RUN_ID, START_MS, frame

JOB = "orders.scored"


def worker() -> Steering:
    """As a process that has just been started."""
    return Steering(Leases("a worker"), Histories())


@dataclass
class World:
    job: Job
    store: MemoryStore
    now_ms: int = START_MS
    asked: Asked | None = None
    sent: int = field(default=0)
    steering: Steering = field(default_factory=lambda: worker())
    technique: str = "echo"
    run_id: UUID = RUN_ID

    def switch(self, mode: str, version: int = 0, who: str = "olga", **options: Any) -> None:
        asked = Switch(Mode(mode), options, "because", version)
        switches.switch(self.job, self.technique, asked, who, self.now_ms)

    def pass_s(self, seconds: float, latency_ms: int = 100, warming_up: bool = False) -> None:
        """The job sends windows meanwhile."""
        self.now_ms += round(seconds * 1000)
        until = (self.now_ms - START_MS) // WINDOW_MS
        for at in range(self.sent, until):
            sent = frame(at, (latency_ms,), asked=self.asked, run_id=self.run_id)
            self._send(replace(sent, warming_up=warming_up))
        self.sent = until

    def silence_s(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)
        self.sent = (self.now_ms - START_MS) // WINDOW_MS

    def round(self) -> None:
        self.steering.round(self.store, self.now_ms)

    def restart_worker(self) -> None:
        self.steering = worker()

    def card(self) -> dict[str, Any]:
        """As a page gets it, now."""
        told = async_to_sync(computed.told)(self.store, self.job.pk)
        return cards.cards(self.job, told, (self.technique,))[0]

    def looked_at(self) -> dict[str, Any]:
        """The card of a page that has been open for a while."""
        self.card()
        self.pass_s(5)
        self.round()
        return self.card()

    def obey(self, state: State = State.APPLIED, because: str = "") -> None:
        """As the agent does: the next frames say what became of the document in the store."""
        document = self.document
        self.asked = Asked(
            document.version,
            True,
            tuple(
                Applied(name, wanted.mode, state, wanted.version, because)
                for name, wanted in document.techniques.items()
            ),
        )

    @property
    def document(self) -> Control:
        return control.decode(self.store.controls[JOB])

    @property
    def setting(self) -> TechniqueSetting:
        return TechniqueSetting.objects.get(job=self.job)

    @property
    def stand(self) -> tuple[str, str]:
        return str(self.setting.stand), self.setting.because

    def decided(self) -> list[dict[str, Any]]:
        found = documents.decisions(JOB, self.technique, 0)
        return [each.settings for each in found]

    def _send(self, sent: Frame) -> None:
        self.store.append(keys.frames(JOB), sent.start_ms, wire.encode(sent))
