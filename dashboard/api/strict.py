"""JSON as the standard has it, and only text that a database can hold."""

import json
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja.parser import Parser


class StrictParser(Parser):
    def parse_body(self, request: HttpRequest) -> Any:
        text = request.body.decode()
        # PostgreSQL has no room for the first, UTF-8 none for the second.
        body = json.loads(text, parse_constant=_no_number)
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
