"""Where a setting stands, from what the job's frames say: what is true, not what was asked."""

from dataclasses import dataclass

from collectors.asked import Asked, State
from dashboard.models import TechniqueSetting
from dashboard.models.techniques import Stand
from techniques.model import Mode

_STANDS = {
    State.ASKED: Stand.ASKED,
    State.APPLIED: Stand.APPLIED,
    State.REFUSED: Stand.REFUSED,
    # Back to the defaults because nobody renewed it: it is being asked again.
    State.LAPSED: Stand.ASKED,
}


@dataclass(frozen=True)
class Standing:
    stand: Stand
    because: str = ""


def standing(setting: TechniqueSetting, asked: Asked | None, is_running: bool) -> Standing:
    """`asked` is of the job's newest frame."""
    if not is_running:
        stand = Stand.OFF if setting.mode == Mode.OFF else Stand.ASKED
        return Standing(stand, "the job is not running")
    if asked is None or asked.version < setting.document_version:
        return Standing(Stand.ASKED, "the job has not heard of it yet")
    if setting.mode == Mode.OFF:
        if asked.settled:
            return Standing(Stand.OFF)
        return Standing(Stand.ASKED, "not every executor has let go yet")
    for told in asked.techniques:
        if told.technique == setting.technique:
            if told.mode != setting.mode:
                return Standing(Stand.ASKED, "waiting for the first decision")
            return Standing(_STANDS[told.state], told.because)
    return Standing(Stand.ASKED, "the job has not heard of it yet")
