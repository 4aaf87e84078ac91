"""Addresses without their passwords, for everything a person or a log may see."""

import re

_USER_INFO = re.compile(r"(://[^:/@\s]*:)\S*@")
_QUERY = re.compile(r"([?&]password=)[^&\s'\"]*")


def masked(text: str) -> str:
    return _QUERY.sub(r"\1***", _USER_INFO.sub(r"\1***@", text))
