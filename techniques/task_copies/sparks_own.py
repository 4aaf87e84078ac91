"""Whether Spark's own speculation would do as well here: its rule, replayed on tasks that ended.

Spark copies a task once most tasks of its stage have succeeded (`QUANTILE`) and it has run longer
than `MULTIPLIER` times their median. So it copies late where several tasks of a stage hang at once,
or where a task is only a few times as slow as others; where single tasks hang for long, its
constants find them nearly as soon as a timeout of their own does, and need nothing of ours.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import floor
from statistics import median

from techniques.model import Advice
from techniques.task_copies.algorithm import timeout_ms
from techniques.task_copies.attempts import Task
from techniques.task_copies.seen import FEW_KNOWN, Seen

# Spark 4's constants; it looks for late tasks every 100 ms.
QUANTILE, MULTIPLIER, LEAST_MS, LOOK_MS = 0.9, 3.0, 100.0, 100.0
# With this share of what our timeouts save it does as well.
AS_WELL = 0.9
# Fewer late tasks than this say little.
FEWEST_LATE = 5

LINE = (
    "--conf spark.speculation=true"
    f" --conf spark.speculation.quantile={QUANTILE:g}"
    f" --conf spark.speculation.multiplier={MULTIPLIER:g}"
)
PRICE = (
    "a restart; it holds for all queries of the application, has no budget, and would copy tasks "
    "that write to a sink or use a state store as well, should any be added. While it is on, this "
    "technique is refused"
)


@dataclass(frozen=True)
class Saved:
    """What copies would have saved of the durations of `late` tasks: with Spark's rule and ours."""

    late: int
    sparks_ms: float
    ours_ms: float

    @property
    def ratio(self) -> float:
        return self.sparks_ms / self.ours_ms if self.ours_ms else 0.0


def advice(found: Seen) -> Advice | None:
    """Advice to use Spark's own speculation instead; None where it saves clearly less, where it
    would copy what we leave out, and where too little is known."""
    if found.left_out or found.share_known < FEW_KNOWN:
        return None
    saved = replayed(found)
    if saved.late < FEWEST_LATE or saved.ratio < AS_WELL:
        return None
    return Advice(
        title="Switch on Spark's own speculation and restart the job",
        why=(
            f"Replayed on the {saved.late} late tasks of the last {found.period_s:g} s, its rule "
            f"would have saved {saved.ratio:.0%} of the time that the timeouts of this technique "
            "would have saved, and no task is here that must not run twice."
        ),
        line=LINE,
        price=PRICE,
    )


def replayed(found: Seen) -> Saved:
    timeouts = {kind.number: timeout_ms(kind.durations) for kind in found.fit}
    usual_ms = {kind.number: kind.durations.median_ms for kind in found.fit}
    late, sparks_ms, ours_ms = 0, 0.0, 0.0
    for tasks in _by_stage(found.tasks).values():
        due_ms, longest_ms = _sparks_rule(tasks)
        for task in tasks:
            age_ms = timeouts.get(task.kind)
            took_ms = _uncut_ms(task)
            if age_ms is None or took_ms is None or took_ms <= age_ms:
                continue
            late += 1
            began_ms = task.attempts[0].start_ms
            sparks_age_ms = max(due_ms - began_ms, longest_ms) + LOOK_MS
            copy_ms = usual_ms[task.kind]
            ours_ms += max(0.0, took_ms - age_ms - copy_ms)
            sparks_ms += max(0.0, took_ms - sparks_age_ms - copy_ms)
    return Saved(late, sparks_ms, ours_ms)


def _by_stage(tasks: Iterable[Task]) -> Mapping[int, list[Task]]:
    found: dict[int, list[Task]] = {}
    for task in tasks:
        if task.winner is not None:
            found.setdefault(task.stage, []).append(task)
    return found


def _sparks_rule(tasks: list[Task]) -> tuple[float, float]:
    """When enough tasks of the stage had succeeded, and the age from which others were late."""
    winners = sorted((task.winner for task in tasks if task.winner), key=lambda each: each.end_ms)
    enough = winners[: max(1, floor(QUANTILE * len(winners)))]
    usual_ms = median(each.duration_ms for each in enough)
    return enough[-1].end_ms, max(MULTIPLIER * usual_ms, LEAST_MS)


def _uncut_ms(task: Task) -> float | None:
    """How long the task took by itself; None if a copy or a second try had a part in that."""
    if len(task.attempts) > 1 or task.winner is None or task.winner.speculative:
        return None
    return task.winner.duration_ms
