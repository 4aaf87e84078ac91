from collections.abc import Mapping

from techniques.model import Conditions, Decision, Options, Past
from techniques.view import View


def conditions(view: View) -> Conditions:
    return Conditions(True if len(view) else None, "every job has a share")


def decide_all(
    views: Mapping[str, View], options: Mapping[str, Options], past: Mapping[str, Past]
) -> Mapping[str, Decision]:
    share = round(1 / len(views), 3)
    together = ", ".join(sorted(views))
    return {
        job_id: Decision({"word": "share", "share": share}, f"{share:.0%} each of {together}")
        for job_id in views
    }
