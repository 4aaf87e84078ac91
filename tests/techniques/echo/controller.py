from techniques.model import Conditions, Decision, Evidence, Options, Past
from techniques.view import View


def conditions(view: View) -> Conditions:
    if not len(view):
        return Conditions(None, "nothing is known of this job yet")
    return Conditions(True, "the job sends windows")


def decide(view: View, options: Options, past: Past) -> Decision | None:
    if not len(view):
        return None
    return Decision(options, f"says {options['word']}", (Evidence("word", str(options["word"])),))
