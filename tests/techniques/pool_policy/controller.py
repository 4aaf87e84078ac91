from techniques.model import Conditions, Decision, Options, Past
from techniques.view import View


def conditions(view: View) -> Conditions:
    return Conditions(True if len(view) else None, "every pool has a policy")


def decide(view: View, options: Options, past: Past) -> Decision | None:
    return Decision({"policy": options["policy"]}, f"{options['policy']} was asked for")
