import pytest

from techniques.slo.states import TRANSITIONS, Event, State, after


@pytest.mark.parametrize(
    ("state", "event", "then"),
    [
        (State.STARTING, Event.BEGAN, State.NOT_CONVERGED),
        (State.NOT_CONVERGED, Event.RECONFIGURED, State.SETTLING),
        (State.NOT_CONVERGED, Event.REACHED, State.WATCHING),
        (State.NOT_CONVERGED, Event.EXHAUSTED, State.CONVERGED),
        (State.NOT_CONVERGED, Event.REVERTED, State.CONVERGED),
        (State.SETTLING, Event.SETTLED, State.NOT_CONVERGED),
        (State.SETTLING, Event.REDUCED, State.SETTLING),
        (State.SETTLING, Event.REVERTED, State.CONVERGED),
        (State.SETTLING, Event.COMPENSATED, State.SETTLING),
        (State.WATCHING, Event.STABLE, State.CONVERGED),
        (State.WATCHING, Event.UNSTABLE, State.NOT_CONVERGED),
        (State.CONVERGED, Event.DROPPED, State.NOT_CONVERGED),
        (State.CONVERGED, Event.EXPIRED, State.NOT_CONVERGED),
        (State.CONVERGED, Event.CHANGED, State.NOT_CONVERGED),
        (State.SETTLING, Event.DATA_LOST, State.BLIND),
        (State.BLIND, Event.DATA_BACK, State.COLLECTING),
        (State.COLLECTING, Event.COLLECTED, State.NOT_CONVERGED),
    ],
)
def test_each_state_is_followed_by(state: State, event: Event, then: State) -> None:
    assert after(state, event) is then


def test_what_is_not_in_the_table_cannot_happen() -> None:
    with pytest.raises(KeyError):
        after(State.BLIND, Event.RECONFIGURED)
    with pytest.raises(KeyError):
        after(State.CONVERGED, Event.REDUCED)


def test_actions_are_taken_only_with_data() -> None:
    acting = {Event.RECONFIGURED, Event.REDUCED, Event.REVERTED, Event.COMPENSATED}

    assert {state for state, event in TRANSITIONS if event in acting} == {
        State.NOT_CONVERGED,
        State.SETTLING,
    }


def test_every_state_leads_to_converged() -> None:
    leading = {State.CONVERGED}
    for _ in State:
        leading |= {state for (state, _), then in TRANSITIONS.items() if then in leading}

    assert leading == set(State)
