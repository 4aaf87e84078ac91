"""Scheduled ShadowSync: the instances of one stage flush together at every checkpoint, and because
RocksDB compacts at every n-th flush they all compact after the same one (ShadowSync, section 3.2).

Held against chance twice: that the instances share a phase (each compacts every n-th flush from
some flush on, so n phases are possible), and that latency is as high after the other checkpoints,
at which they flush and do not all compact.
"""

from techniques.detectors import chance, latency
from techniques.detectors.checkpoints import Checkpoint, Stage, spans, stages, table
from techniques.detectors.finding import Finding
from techniques.model import Evidence
from techniques.view import View

KIND = "scheduled_shadowsync"
FEWEST = 2
SIGNIFICANT = 0.01
RAISED = 1.3
ROWS = 12


def find(view: View) -> list[Finding]:
    found = []
    for stage in stages(view):
        if (period := stage.period) is None or len(stage.in_phase) < FEWEST:
            continue
        numbers = set(stage.in_phase)
        together = [stage.checkpoints[number] for number in sorted(numbers)]
        following = spans(view, stage)
        rise = latency.against(
            view,
            [span for at, span in enumerate(following) if at in numbers],
            [span for at, span in enumerate(following) if at not in numbers],
        )
        if rise and rise.ratio >= RAISED and rise.p_value <= SIGNIFICANT:
            found.append(_finding(view, stage, period, together, rise))
    return found


def _finding(
    view: View, stage: Stage, period: int, together: list[Checkpoint], rise: latency.Rise
) -> Finding:
    most = max(len(checkpoint.compacting) for checkpoint in together)
    by_chance = chance.same_phase(most, stage.instances, period)
    step_ms = stage.step_ms or 0.0
    return Finding(
        kind=KIND,
        title=f"Stage {stage.operator}: {most} of {stage.instances} instances compact together",
        spans_ms=tuple((round(each.start_ms), round(each.end_ms)) for each in together),
        p_value=rise.p_value,
        added_ms=rise.added_ms,
        explanation=(
            f"Every {_nth(period)} flush of stage {stage.operator} sets off a compaction, and "
            f"{most} of its {stage.instances} state stores count their flushes in step, so they "
            f"compact at the same checkpoint. That was so at {len(together)} checkpoints here, and "
            f"the p99 that follows is {rise.ratio:.1f} times that of the other checkpoints."
        ),
        evidence=(
            Evidence("instances in phase", f"{most} of {stage.instances}"),
            Evidence("every n-th flush", str(period)),
            Evidence("that phases agree by chance", f"{by_chance:.2g}"),
            Evidence(
                "p99 at its peaks", f"{rise.ratio:.1f} × the usual, {rise.added_ms:.0f} ms more"
            ),
            Evidence("that latency is as high at other times", f"{rise.p_value:.2g}"),
        ),
        operators=(stage.operator,),
        period_ms=period * step_ms,
        technique="shadowsync",
        table=tuple(table(stage, ROWS)),
    )


def _nth(number: int) -> str:
    return {1: "single", 2: "second", 3: "third", 4: "fourth"}.get(number, f"{number}th")
