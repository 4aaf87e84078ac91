from collections.abc import Sequence

from techniques.model import Order, Settings, Where


def orders(settings: Settings) -> Sequence[Order]:
    values = {"word": settings["word"]}
    if settings.get("refuse"):
        values["refuse"] = "it was told to refuse"
    return (Order("echo", Where.EXECUTORS, values),)
