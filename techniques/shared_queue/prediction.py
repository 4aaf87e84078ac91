"""What one queue for all instances would gain, by Erlang C with the operator's own numbers."""

from dataclasses import dataclass

from techniques.model import Evidence
from techniques.pool.controllers.loads import CROSSING, Load, loads
from techniques.shared_queue.erlang import mean_wait
from techniques.view import View

# A shorter saving is lost in the cost of sending a chunk.
LEAST_SAVING_MS = 1.0
# Theory has no mean wait for a queue that is always full: from here on it is a lower bound.
FULLEST = 0.99


@dataclass(frozen=True, eq=False)
class Prediction:
    """Mean waits of a chunk with a queue per instance (M/M/1 each) and with one for all (M/M/c)."""

    load: Load
    separate_ms: float
    shared_ms: float

    @property
    def saving_ms(self) -> float:
        return self.separate_ms - self.shared_ms

    @property
    def helps(self) -> bool:
        return (
            self.load.instances > 1
            and self.load.utilisation >= CROSSING
            and self.saving_ms >= LEAST_SAVING_MS
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return (
            Evidence("mean wait, a queue per instance (Erlang C)", f"{self.separate_ms:.3g} ms"),
            Evidence("mean wait, one queue (Erlang C)", f"{self.shared_ms:.3g} ms"),
            Evidence("mean wait, seen", f"{self.load.wait_ms:.3g} ms"),
        )


def best(view: View) -> Prediction | None:
    """For the operator that would gain most; None while too little is known of all of them."""
    predictions = [predicted(load) for load in loads(view)]
    return max(predictions, key=lambda each: (each.helps, each.saving_ms), default=None)


def predicted(load: Load) -> Prediction:
    utilisation = min(load.utilisation, FULLEST)
    if utilisation <= 0:
        return Prediction(load, 0.0, 0.0)
    service_s = load.service_ms / 1000
    return Prediction(
        load,
        separate_ms=1000 * mean_wait(1, utilisation, service_s),
        shared_ms=1000 * mean_wait(load.instances, utilisation, service_s),
    )
