from techniques.model import Conditions, Decision, Evidence, Settings
from techniques.view import View


def conditions(view: View) -> Conditions:
    if not len(view.t_ms):
        return Conditions(None, "nothing is known of this job yet")
    return Conditions(True, f"the job sends windows: {len(view.t_ms) > 0}")


def decide(view: View, options: Settings) -> Decision | None:
    if not len(view.t_ms):
        return None
    return Decision(options, f"says {options['word']}", (Evidence("word", str(options["word"])),))
