"""What a decision says of itself: its reason in a sentence, and the numbers behind it."""

from collections.abc import Mapping, Sequence

from techniques.durations import said
from techniques.model import Evidence
from techniques.state_balancing.memory import Move, Verdict
from techniques.state_balancing.prediction import Plan
from techniques.state_balancing.proposals import Proposals
from techniques.state_balancing.slowest import slowest
from techniques.view import View

BECAME = {
    Verdict.PAID: "paid off",
    Verdict.FAILED: "did not bring half of its gain and is not repeated",
    Verdict.WORSE: "made the two finish later and is taken back if that pays",
}


def reason(
    plans: Sequence[Plan], forced: Mapping[int, str], verdicts: Sequence[Move], why: str
) -> str:
    """What moves now and why; else what became of the moves before; else why nothing moves."""
    parts = [_planned(each) for each in plans]
    if forced:
        numbers = ", ".join(str(each) for each in sorted(forced)[:8])
        more = ", …" if len(forced) > 8 else ""
        parts.append(f"partitions {numbers}{more} leave an executor that is about to go")
    if not parts:
        parts = [
            f"the move of partition {move.partition} to executor {move.target} "
            f"{BECAME[move.verdict]}"
            for move in verdicts
        ]
    return "; ".join(parts) or f"nothing moves: {why}"


def _planned(plan: Plan) -> str:
    number = len(plan.partitions)
    what = "that is" if number == 1 else f"{number} such moves are"
    return (
        f"partition {plan.partitions[0]} moves from executor {plan.source} to {plan.target}, "
        f"because {what} predicted to let the two finish after {said(plan.after_ms)} instead of "
        f"{said(plan.before_ms)}"
    )


def evidence(view: View, found: Proposals | None) -> tuple[Evidence, ...]:
    if found is None:
        return ()
    slow = slowest(view)
    return (
        *(
            Evidence(f"aged latency of executor {name} (Wt)", f"{wt:.2f} × its stages' median")
            for name, wt in found.latency.items()
        ),
        *(slow.evidence if slow else ()),
        *(
            Evidence(
                f"predicted finish of executors {each.source} and {each.target}",
                f"{said(each.before_ms)} now, {said(each.after_ms)} after {_moves(each)}",
            )
            for each in found.plans
        ),
        Evidence("cost of a move", said(found.cost_ms)),
        Evidence("batches in the payback time", f"{found.batches:.3g}"),
    )


def _moves(plan: Plan) -> str:
    return "this move" if len(plan.partitions) == 1 else f"{len(plan.partitions)} moves"
