"""Settings made up from a technique's schema, and what only looks like settings."""

from typing import Any

from hypothesis import strategies as st

from techniques.schema import Fields, Flag, ListOf, MapOf, Number, Schema, Word

garbage: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4)
    ),
    max_leaves=12,
)


def fitting(schema: Schema) -> st.SearchStrategy[Any]:
    match schema:
        case Flag():
            return st.booleans()
        case Number(low, high, whole):
            if whole:
                return st.integers(int(low), int(high))
            return st.floats(low, high) | st.integers(int(low), int(high))
        case Word(choices, longest):
            return st.sampled_from(choices) if choices else st.text(max_size=min(longest, 20))
        case ListOf(item, most):
            return st.lists(fitting(item), max_size=min(most, 5))
        case MapOf(value, most):
            names = st.text(min_size=1, max_size=8)
            return st.dictionaries(names, fitting(value), max_size=min(most, 5))
        case Fields(required, optional):
            return st.fixed_dictionaries(
                {name: fitting(each) for name, each in required.items()},
                optional={name: fitting(each) for name, each in optional.items()},
            )
