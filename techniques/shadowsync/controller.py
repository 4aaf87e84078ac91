"""Chooses the paper's mitigations for a job by the kind of ShadowSync that is found in it.

Scheduled (the instances of one stage compact together): a threshold per instance, section 4.1, and
optionally a delay after the flush. Statistical (compactions of stages overlap): the threads of
section 4.2 as well (`threads`). With changelog checkpoints: a separate phase for the snapshots of
each instance. A decision stays when the pattern is gone: making it go is what the decision is for.
"""

from techniques.detection.changelogs import with_changelogs
from techniques.detection.checkpoints import Stage, stages
from techniques.detection.finding import Finding
from techniques.detection.incidents import QUIET_MS, QUIET_PERIODS
from techniques.detection.rules import scheduled_shadowsync, statistical_shadowsync
from techniques.model import Conditions, Decision, Evidence, Options, Past
from techniques.schema import Settings
from techniques.shadowsync.algorithm import Delay, delay
from techniques.shadowsync.load import load
from techniques.shadowsync.snapshot_batches import snapshot_conditions, snapshot_stages
from techniques.shadowsync.threads import calmed, threads, withdrawn
from techniques.view import View

# With fewer compaction cycles of a stage it is not known whether it is in phase.
FEWEST_CYCLES = 2

NOTHING_YET = Past()


def conditions(view: View) -> Conditions:
    if not len(view):
        return Conditions(None, "nothing is known of this job yet")
    if not (known := stages(view)):
        return Conditions(
            False,
            "no state store flushed lately: this job has none in RocksDB, or they keep changelogs, "
            "with which commits do not flush, and wrote no snapshot",
        )
    if not (several := _several(known)):
        return Conditions(
            False, "there is only one state store per stage: nothing to desynchronise"
        )
    if found := _found(view):
        advised = next((each.first for each in found if each.first), None)
        return Conditions(True, found[0].title, advised)
    if (snapshots := snapshot_conditions(view)) is not None:
        return snapshots
    if together := [stage for stage in several if len(stage.in_phase) >= FEWEST_CYCLES]:
        operators = ", ".join(str(stage.operator) for stage in together)
        why = f"stage {operators} compacts together, but p99 is not found to be higher then"
        return Conditions(False, why)
    if all(len(stage.compactions) < FEWEST_CYCLES * stage.instances for stage in several):
        return Conditions(None, "there were too few compactions so far")
    return Conditions(False, "the state stores compact at different checkpoints already")


def decide(view: View, options: Options, past: Past = NOTHING_YET) -> Decision | None:
    if not len(view):
        return None
    if kept := withdrawn(past):
        return kept
    if not (several := _several(stages(view))):
        return calmed(view, past)
    found = [each for each in _found(view) if _goes_on(each, view)]
    noticed = options.get("snapshots") and any(each.is_noticed for each in snapshot_stages(view))
    if not found and not noticed and not options["preventive"]:
        return calmed(view, past)
    return _decision(view, several, found, options, past)


def _decision(
    view: View, several: list[Stage], found: list[Finding], options: Options, past: Past
) -> Decision:
    statistical = any(each.kind == statistical_shadowsync.KIND for each in found)
    waits = _delay(view, several) if options["delay"] else Delay(None, "")
    changelogs = bool(options.get("snapshots") and with_changelogs(view))
    snapshots = snapshot_stages(view) if changelogs else []
    others = bool(options["thresholds"] or waits.ms)
    compacting = threads(view, options, past, statistical, bool(found), others)
    settings = {
        "thresholds": bool(options["thresholds"] and (found or options["preventive"])),
        "lowest": options["lowest"],
        "spread": options["spread"],
        "seed": options["seed"],
        "threads": bool(options["threads"]) and statistical,
        "compaction_threads": compacting.number,
        "delay_ms": waits.ms or 0,
        "snapshots": changelogs,
    }
    evidence = [each for finding in found for each in (_what(finding), *finding.evidence)]
    if waits.why:
        length = "no delay" if waits.ms is None else f"{waits.ms} ms"
        evidence.append(Evidence("compaction waits", f"{length}: {waits.why}"))
    evidence += [each for stage in snapshots for each in stage.evidence]
    evidence.extend(compacting.evidence)
    titles = [finding.title for finding in found] + [stage.title for stage in snapshots]
    reason = _reason(settings, titles, compacting.says)
    return Decision(settings, reason, tuple(evidence), compacting.memory)


def _found(view: View) -> list[Finding]:
    return view.once(_search)


def _search(view: View) -> list[Finding]:
    return statistical_shadowsync.find(view) + scheduled_shadowsync.find(view)


def _several(known: list[Stage]) -> list[Stage]:
    return [stage for stage in known if stage.instances > 1]


def _goes_on(finding: Finding, view: View) -> bool:
    """Whether the pattern still occurs: one that is over is no reason to change anything."""
    quiet_ms = max(QUIET_MS, QUIET_PERIODS * (finding.period_ms or 0.0))
    return view.end_ms - finding.end_ms <= quiet_ms


def _delay(view: View, several: list[Stage]) -> Delay:
    """The longest delay that any stage needs; none if one of them has no room for it."""
    loads = [each for stage in several if (each := load(view, stage))]
    if not loads:
        return Delay(None, "too little is known of the job's load yet")
    delays = [delay(each) for each in loads]
    return next(
        (each for each in delays if each.ms is None),
        max(delays, key=lambda each: each.ms or 0),
    )


def _what(finding: Finding) -> Evidence:
    return Evidence("found", finding.title)


def _reason(settings: Settings, found: list[str], compacting: str) -> str:
    parts = [
        words
        for name, words in (
            ("thresholds", "a threshold of its own for each state store"),
            ("delay_ms", f"compaction {settings['delay_ms']} ms after the flush"),
            ("threads", "as many flush threads as cores"),
            ("snapshots", "snapshots spread over the batches"),
        )
        if settings[name]
    ]
    parts.extend([compacting] if compacting else [])
    cause = found[0] if found else "no ShadowSync is found yet (preventive)"
    return f"{'; '.join(parts) or 'no part applies'}: {cause}"
