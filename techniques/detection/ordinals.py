"""Ordinal numbers in words, for "every n-th"."""

SPELT = {1: "single", 2: "second", 3: "third", 4: "fourth"}
ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def nth(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return SPELT.get(number) or f"{number}{'th' if teens else ENDINGS.get(number % 10, 'th')}"
