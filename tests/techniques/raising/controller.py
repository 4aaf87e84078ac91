from techniques.model import Conditions, Decision, Options, Past
from techniques.view import View


def conditions(view: View) -> Conditions:
    return Conditions(True, "anything can fail")


def decide(view: View, options: Options, past: Past) -> Decision | None:
    return Decision({"error": "ZeroDivisionError"}, "it is told to fail")
