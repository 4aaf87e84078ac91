"""Strict request bodies: one standard JSON object whose text a database can store."""

import json
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja.parser import Parser


class StrictParser(Parser):
    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """Raises ValueError, which `dashboard.api.root` turns into the answer."""
        try:
            body = json.loads(request.body.decode(), parse_constant=_no_number)
        except RecursionError:
            raise ValueError("too deep") from None
        # Ninja accepts any body without a wrong field, such as [] where all fields are optional.
        if not isinstance(body, dict):
            raise ValueError("not an object")
        _check(body)
        return body


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _check(value: Any) -> None:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            if "\x00" in found:
                raise ValueError("a text holds the character NUL")
            found.encode()  # raises for half of a surrogate pair
        elif isinstance(found, dict):
            waiting += [*found.keys(), *found.values()]
        elif isinstance(found, list):
            waiting += found
