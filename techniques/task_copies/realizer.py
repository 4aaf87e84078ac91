from collections.abc import Mapping, Sequence

from techniques.orders import COPIES, DRIVER, PLACEMENT, TASK_COPIES, JobFacts, Order, Refused
from techniques.schema import Setting, Settings
from techniques.task_copies import sinks

# Spark's name for the one executor of local mode.
LOCAL = "driver"


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    """One order for the driver, whose scheduler starts copies."""
    _need_two_hosts(job)
    timeouts_ms = _by_kind(settings, "timeouts_ms")
    if not timeouts_ms:
        why = "; ".join(str(each) for each in _by_kind(settings, "left_out").values())
        raise Refused(f"no stage may be copied: {why or 'none had enough tasks yet'}")
    if settings.get("run", job.run_id) not in ("", job.run_id):
        raise Refused(
            "these timeouts are of an earlier run of the query, whose stages may have been others"
        )
    costs_ms = _by_kind(settings, "costs_ms")
    if missing := sorted(timeouts_ms.keys() - costs_ms.keys()):
        raise Refused(f"what a copy costs is not known of stage {', '.join(missing)}")
    values: dict[str, Setting] = {
        "timeouts_ms": timeouts_ms,
        "costs_ms": {kind: costs_ms[kind] for kind in timeouts_ms},
        "budget_percent": settings["budget_percent"],
        # Asked once more here, where the sink of the running query is known for certain.
        "sink": bool(
            settings["sink"] and (settings.get("any_sink") or sinks.harm(job.sink) is None)
        ),
    }
    # The next batch runs a state partition where a copy of its task ran last. Whoever moves state
    # on purpose would move it back, and the two would load it again and again.
    claims = (COPIES, PLACEMENT) if settings.get("stateful") else (COPIES,)
    return (Order(TASK_COPIES, DRIVER, values, claims),)


def _need_two_hosts(job: JobFacts) -> None:
    if job.executors and all(each.executor_id == LOCAL for each in job.executors):
        raise Refused("Spark runs in local mode: there is no other host for a copy")
    hosts = sorted({each.host for each in job.executors if each.executor_id != LOCAL})
    if not hosts:
        raise Refused("no executor is known yet")
    if len(hosts) == 1:
        raise Refused(
            f"all executors are on {hosts[0]}, and Spark never runs a copy on the same host"
        )


def _by_kind(settings: Settings, name: str) -> Mapping[str, Setting]:
    found = settings.get(name, {})
    if not isinstance(found, Mapping) or not all(_is_kind(kind) for kind in found):
        raise Refused(f"{name} has to be by the number of a stage in its batch")
    return dict(found)


def _is_kind(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= len("1000000")
