from collections.abc import Sequence

from techniques.model import Order, Settings, Where


def orders(settings: Settings) -> Sequence[Order]:
    return (Order("echo", Where.EXECUTORS, {"word": settings["word"]}),)
