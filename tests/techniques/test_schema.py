import pytest

from techniques.schema import Fields, Flag, ListOf, MapOf, Number, SettingFault, Word

PLACEMENT = Fields(
    {"moves": MapOf(ListOf(Number(0, 10, whole=True), most=2), most=2)},
    {"dry": Flag(), "policy": Word(("even", "near"))},
)


def test_lists_in_maps_fit() -> None:
    PLACEMENT.check({"moves": {"1": [0, 10], "2": []}, "dry": True, "policy": "near"})


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (None, "settings: a map"),
        ({}, "settings.moves: is missing"),
        ({"moves": {}, "code": "x"}, "settings.code: not known; there are moves, dry, policy"),
        ({"moves": [1]}, "settings.moves: a map"),
        ({"moves": {"1": "ab"}}, "settings.moves.1: a list"),
        ({"moves": {"1": [11]}}, r"settings.moves.1\[0\]: 0 to 10"),
        ({"moves": {"1": [0.5]}}, r"settings.moves.1\[0\]: a whole number"),
        ({"moves": {"1": [True]}}, r"settings.moves.1\[0\]: a number"),
        ({"moves": {"1": [1, 2, 3]}}, "settings.moves.1: at most 2 of them"),
        ({"moves": {"1": [], "2": [], "3": []}}, "settings.moves: at most 2 of them"),
        ({"moves": {1: []}}, "a name in settings.moves: a word"),
        ({"moves": {}, "dry": 1}, "settings.dry: true or false"),
        ({"moves": {}, "policy": "far"}, "settings.policy: one of even, near"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(settings: object, why: str) -> None:
    with pytest.raises(SettingFault, match=f"^{why}$"):
        PLACEMENT.check(settings)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**70])
def test_a_number_is_finite_and_within_its_bounds(value: float) -> None:
    with pytest.raises(SettingFault):
        Number(0, 1e9).check(value, "it")
