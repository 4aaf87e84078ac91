"""Scheduled ShadowSync: the instances of one stage flush together at every checkpoint, and because
RocksDB compacts at every n-th flush they all compact after the same one (ShadowSync, section 3.2).

Held against chance twice: that the instances share a phase (each compacts every n-th flush from
some flush on, so n phases are possible), and that latency is as high after the other checkpoints,
at which they flush and do not all compact (`aftermath`).
"""

from techniques.detection import chance, changelogs
from techniques.detection.aftermath import Aftermath, aftermath
from techniques.detection.checkpoints import Stage, stages, table
from techniques.detection.finding import Finding
from techniques.detection.ordinals import nth
from techniques.model import Evidence
from techniques.view import Reads, View

KIND = "scheduled_shadowsync"
TECHNIQUE: str | None = "shadowsync"
READS = frozenset((Reads.SERIES, Reads.INTERVALS))
FEWEST = 2
ROWS = 12
# A stage that mostly compacts together with another is a case of statistical ShadowSync.
MOSTLY = 0.75


def find(view: View) -> list[Finding]:
    found = []
    known = [stage for stage in stages(view) if len(stage.in_phase) >= FEWEST]
    for stage in known:
        if (period := stage.period) is None or _is_shared(stage, known):
            continue
        if after := aftermath(view, stage, stage.in_phase):
            found.append(_finding(view, stage, period, after))
    return found


def _is_shared(stage: Stage, known: list[Stage]) -> bool:
    return any(
        other.weighs(stage) and stage.meets(other).mean() >= MOSTLY
        for other in known
        if other is not stage
    )


def _finding(view: View, stage: Stage, period: int, after: Aftermath) -> Finding:
    most = int(stage.compacting[stage.in_phase].max())
    by_chance = chance.same_phase(most, stage.instances, period)
    together = len(stage.in_phase)
    return Finding(
        kind=KIND,
        title=f"Stage {stage.operator}: {most} of {stage.instances} instances compact together",
        spans_ms=tuple((round(start), round(end)) for start, end in stage.occurrences_ms.tolist()),
        p_value=after.p_value,
        added_ms=after.added_ms,
        explanation=(
            f"Every {nth(period)} flush of stage {stage.operator} sets off a compaction, and "
            f"{most} of its {stage.instances} state stores count their flushes in step, so they "
            f"compact at the same checkpoint. This was seen at {together} checkpoints, and p99 is "
            f"{after.ratio:.2f} times that of other checkpoints: it rises {after.words}."
        ),
        evidence=(
            Evidence("instances in phase", f"{most} of {stage.instances}"),
            Evidence("flushes per compaction", str(period)),
            Evidence("p-value: independent phases would agree", f"{by_chance:.2g}"),
            *after.evidence,
        ),
        operators=(stage.operator,),
        period_ms=stage.lasts_ms(period),
        technique=TECHNIQUE,
        first=changelogs.advice(view, (stage.operator,)),
        table=tuple(table(stage, ROWS)),
    )
