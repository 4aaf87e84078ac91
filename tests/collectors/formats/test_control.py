import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import control
from collectors.formats.codec import Garbled
from collectors.formats.control import Control, Wanted

names = st.text(min_size=1, max_size=20)
numbers = st.integers(0, 2**53 - 1)
scalars = (
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
leases = st.integers(0, control.MAX_LEASE_MS)
values = scalars | st.lists(scalars, max_size=5) | st.dictionaries(names, scalars, max_size=5)
wanted = st.builds(
    Wanted, st.sampled_from(["advise", "act"]), numbers, leases, st.dictionaries(names, values)
)
documents = st.builds(Control, numbers, numbers, st.dictionaries(names, wanted, max_size=5))

GOOD = {
    "version": 7,
    "renewed_ms": 1,
    "techniques": {"echo": {"mode": "act", "version": 7, "lease_ms": 1, "settings": {"a": 1}}},
}


def settings(given: Mapping[str, object]) -> dict[str, object]:
    return {"techniques": {"echo": {**GOOD["techniques"]["echo"], "settings": given}}}  # type: ignore[index]


def test_settings_may_be_lists_and_maps_four_deep() -> None:
    deep = {"placement": {"1": [{"partition": 3}]}}
    document = {**GOOD, **settings(deep)}

    assert control.decode(json.dumps(document).encode()).techniques["echo"].settings == deep


def test_a_lease_that_would_never_end_is_cut() -> None:
    document = json.dumps(GOOD).replace('"lease_ms": 1', f'"lease_ms": {2**52}')

    assert control.decode(document.encode()).techniques["echo"].lease_ms == control.MAX_LEASE_MS


@given(documents)
def test_a_document_comes_back_as_it_went(document: Control) -> None:
    assert control.decode(control.encode(document)) == document


@given(st.binary(max_size=200))
def test_garbage_is_called_garbage(data: bytes) -> None:
    with pytest.raises(Garbled):
        control.decode(data)


@pytest.mark.parametrize(
    "change",
    [
        {"version": -1},
        {"version": True},
        {"version": "7"},
        {"renewed_ms": None},
        {"techniques": [1]},
        {"techniques": {"echo": {}}},
        {"techniques": {"echo": {**GOOD["techniques"]["echo"], "mode": "off"}}},  # type: ignore[index]
        settings({"a": None}),
        settings({"a": [[[[[1]]]]]}),
        settings({"a": {"": 1}}),
        settings({"a": float("nan")}),
        settings({"a": [1] * 4_097}),
        {"techniques": {"": GOOD["techniques"]["echo"]}},  # type: ignore[index]
        {"techniques": {f"t{n}": GOOD["techniques"]["echo"] for n in range(33)}},  # type: ignore[index]
        settings({f"s{n}": n for n in range(4_097)}),
        {"more": "x" * control.MAX_BYTES},
    ],
)
def test_a_document_out_of_bounds_is_refused(change: dict[str, object]) -> None:
    assert control.decode(json.dumps(GOOD).encode()).version == 7
    with pytest.raises(Garbled):
        control.decode(json.dumps({**GOOD, **change}).encode())
