"""The mean wait of a chunk: what Erlang C says of separate queues and of one, and what is seen."""

from techniques.model import Axis, Bar, Decision, Figure, FigureKind
from techniques.pool.policies import name_of
from techniques.shared_queue.prediction import Prediction, best
from techniques.view import View


def figure(view: View, decision: Decision | None) -> Figure:
    prediction = best(view) if len(view) else None
    return Figure(
        kind=FigureKind.BARS,
        title="Mean wait of a chunk",
        x=Axis("queues"),
        y=Axis("mean wait", "ms"),
        bars=_bars(prediction) if prediction else (),
        note=_note(prediction),
    )


def _bars(prediction: Prediction) -> tuple[Bar, ...]:
    load = prediction.load
    policy = name_of(load.siblings.pool.policy)
    waits = (
        ("a queue per instance, predicted", prediction.separate_ms),
        ("one queue, predicted", prediction.shared_ms),
        (f"seen now ({policy})", load.wait_ms),
    )
    return tuple(Bar(label, ms, f"{label}: {ms:.3g} ms") for label, ms in waits)


def _note(prediction: Prediction | None) -> str:
    if prediction is None:
        return "Nothing to draw yet: too few chunks went through a pool of this job."
    load = prediction.load
    return (
        f"{load.where}: {load.instances} instances, busy {load.utilisation:.0%}, "
        f"{load.service_ms:.3g} ms of work per chunk. The theory assumes that chunks come one by "
        f"one at any time; those of a micro-batch come together and wait longer."
    )
