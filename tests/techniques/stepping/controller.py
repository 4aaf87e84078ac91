from techniques.model import Conditions, Decision, Options, Past
from techniques.view import View


def conditions(view: View) -> Conditions:
    return Conditions(True, "it can always count")


def decide(view: View, options: Options, past: Past) -> Decision | None:
    if past.refused:
        return None
    known = past.decision.memory if past.decision else {}
    looks = known["looks"] + 1 if known.get("run") == past.run else options["from"]
    memory = {"run": past.run, "mode": str(past.mode), "looks": looks}
    return Decision({"word": "step"}, f"look {looks}", memory=memory)
