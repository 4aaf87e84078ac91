"""Which stages get no copies although they have a tail, and why."""

from techniques.model import Options
from techniques.task_copies import sinks
from techniques.task_copies.attempts import Kind
from techniques.task_copies.technique import ALWAYS, NEVER


def reason(kind: Kind, sink: str, options: Options) -> str | None:
    """Says why tasks of this kind are not copied; None if they may be."""
    if kind.result and options["sink"] != ALWAYS:
        writes = f"{kind.title}, which writes to {sinks.name(sink)}, is left out"
        if options["sink"] == NEVER:
            return f"{writes}: its option says so"
        if why := sinks.harm(sink):
            return f"{writes}: {why}"
    if kind.stateful and not options["stateful"]:
        return (
            f"{kind.title}, which uses a state store, is left out: its copy would first load the "
            f"state on another host, and leaves the partition there (option: stateful)"
        )
    return None
