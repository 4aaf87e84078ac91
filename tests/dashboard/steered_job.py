"""A job of which something is asked, for tests of steering: the worker's rounds by hand."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from collectors.formats import control, keys, wire
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.control import Control
from collectors.formats.wire import WINDOW_MS, Frame
from dashboard.models import Job, TechniqueSetting
from dashboard.steering import documents, rounds, switches
from dashboard.steering.switches import Switch
from dashboard.store.memory import MemoryStore
from dashboard.worker.job_leases import Leases
from techniques.model import Mode
from tests.factories import RUN_ID, START_MS, frame

JOB = "orders.scored"


@dataclass
class World:
    job: Job
    store: MemoryStore
    now_ms: int = START_MS
    asked: Asked | None = None
    sent: int = field(default=0)
    leases: Leases = field(default_factory=lambda: Leases("a worker"))
    technique: str = "echo"
    run_id: UUID = RUN_ID

    def switch(self, mode: str, version: int = 0, who: str = "olga", **options: Any) -> None:
        asked = Switch(Mode(mode), options, "because", version)
        switches.switch(self.job, self.technique, asked, who, self.now_ms)

    def pass_s(self, seconds: float, latency_ms: int = 100) -> None:
        """The job sends windows meanwhile."""
        self.now_ms += round(seconds * 1000)
        until = (self.now_ms - START_MS) // WINDOW_MS
        for at in range(self.sent, until):
            self._send(frame(at, (latency_ms,), asked=self.asked, run_id=self.run_id))
        self.sent = until

    def silence_s(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)
        self.sent = (self.now_ms - START_MS) // WINDOW_MS

    def round(self) -> None:
        rounds.steer(self.store, self.now_ms, self.leases)

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
