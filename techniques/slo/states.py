"""The states of a cluster, and which follows from which event: Figure 4, with its waits.

The paper has two states. *Converged* is ours as well; its *Not Converged* is the four others that
have data: deciding, waiting for an action to show its effect, and watching whether the maximum
lasts. What is not in the table cannot happen, and asking for it is an error.

    STARTING ──began──▶ NOT_CONVERGED ──reconfigured, reduced──▶ SETTLING ──settled──▶ NOT_CONVERGED
                          │    ▲  │                                 │ fell
                  reached │    │  │ exhausted, reverted             ├─reduced─▶ SETTLING
                          ▼    │  ▼                                 └─reverted─▶ CONVERGED
                    WATCHING   CONVERGED ──dropped, expired──▶ NOT_CONVERGED
                          └──────stable──▶ CONVERGED
    any ──data lost──▶ BLIND ──data back──▶ COLLECTING ──collected──▶ NOT_CONVERGED
"""

from collections.abc import Mapping
from enum import StrEnum


class State(StrEnum):
    STARTING = "starting"  # nothing is known of any job with an SLO yet
    NOT_CONVERGED = "not converged"
    SETTLING = "settling"  # an action was taken; its effect is not known yet
    WATCHING = "watching"  # the maximum is reached: does it last?
    CONVERGED = "converged"
    BLIND = "blind"  # data is missing: no action
    COLLECTING = "collecting"  # data is back: none yet


class Event(StrEnum):
    BEGAN = "began"
    RECONFIGURED = "reconfigured"
    REDUCED = "reduced"
    REVERTED = "reverted"  # to the best past configuration
    COMPENSATED = "compensated"  # what one job did not carry out was taken back
    SETTLED = "settled"
    REACHED = "reached"  # all jobs meet their SLOs
    UNSTABLE = "unstable"
    STABLE = "stable"
    EXHAUSTED = "exhausted"  # nothing is left to try, and nothing past was better
    DROPPED = "dropped"
    EXPIRED = "expired"  # a black-listed job may be tried again
    LEFT = "left"  # the last job with an SLO
    CHANGED = "changed"  # other jobs, other SLOs or another size of the cluster
    DATA_LOST = "data lost"
    DATA_BACK = "data back"
    COLLECTED = "collected"


_S, _E = State, Event
_WITH_DATA = (_S.NOT_CONVERGED, _S.SETTLING, _S.WATCHING, _S.CONVERGED)

TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (_S.STARTING, _E.BEGAN): _S.NOT_CONVERGED,
    (_S.NOT_CONVERGED, _E.RECONFIGURED): _S.SETTLING,
    (_S.NOT_CONVERGED, _E.REDUCED): _S.SETTLING,
    (_S.NOT_CONVERGED, _E.REVERTED): _S.CONVERGED,
    (_S.NOT_CONVERGED, _E.REACHED): _S.WATCHING,
    (_S.NOT_CONVERGED, _E.EXHAUSTED): _S.CONVERGED,
    (_S.SETTLING, _E.SETTLED): _S.NOT_CONVERGED,
    (_S.SETTLING, _E.REDUCED): _S.SETTLING,
    (_S.SETTLING, _E.COMPENSATED): _S.SETTLING,
    (_S.SETTLING, _E.REVERTED): _S.CONVERGED,
    (_S.WATCHING, _E.STABLE): _S.CONVERGED,
    (_S.WATCHING, _E.UNSTABLE): _S.NOT_CONVERGED,
    (_S.CONVERGED, _E.DROPPED): _S.NOT_CONVERGED,
    (_S.CONVERGED, _E.EXPIRED): _S.NOT_CONVERGED,
    (_S.SETTLING, _E.EXHAUSTED): _S.CONVERGED,
    **{(state, _E.LEFT): _S.STARTING for state in _S if state is not _S.STARTING},
    **{(state, _E.CHANGED): _S.NOT_CONVERGED for state in _WITH_DATA},
    **{(state, _E.DATA_LOST): _S.BLIND for state in (*_WITH_DATA, _S.COLLECTING)},
    (_S.BLIND, _E.DATA_BACK): _S.COLLECTING,
    # The jobs whose data was missing are gone: that of the others never was.
    (_S.BLIND, _E.CHANGED): _S.NOT_CONVERGED,
    (_S.COLLECTING, _E.COLLECTED): _S.NOT_CONVERGED,
}


def after(state: State, event: Event) -> State:
    return TRANSITIONS[state, event]
