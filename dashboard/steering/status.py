"""The state of a setting, from what the job's frames report and not from what was asked."""

from dataclasses import dataclass

from collectors.formats.asked import Asked, State
from dashboard.models import TechniqueSetting
from dashboard.models.techniques import Stand
from techniques.model import Mode

_STANDS = {
    State.ASKED: Stand.ASKED,
    State.APPLIED: Stand.APPLIED,
    State.REFUSED: Stand.REFUSED,
    # The job went back to its defaults because the lease expired: the setting is sent again.
    State.LAPSED: Stand.ASKED,
}


@dataclass(frozen=True)
class Status:
    stand: Stand
    because: str = ""


def status(setting: TechniqueSetting, asked: Asked | None, is_running: bool) -> Status:
    """`asked` is from the job's newest frame."""
    if not is_running:
        stand = Stand.OFF if setting.mode == Mode.OFF else Stand.ASKED
        return Status(stand, "the job is not running")
    if asked is None or asked.version < setting.document_version:
        return Status(Stand.ASKED, "the job has not heard of it yet")
    if setting.mode == Mode.OFF:
        if asked.settled:
            return Status(Stand.OFF)
        return Status(Stand.ASKED, "not every executor has let go yet")
    for told in asked.techniques:
        if told.technique == setting.technique:
            if told.mode != setting.mode:
                return Status(Stand.ASKED, "waiting for the first decision")
            return Status(_STANDS[told.state], told.because)
    return Status(Stand.ASKED, "the job has not heard of it yet")
