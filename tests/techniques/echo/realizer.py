from collections.abc import Sequence

from techniques.orders import ECHO, EXECUTORS, JobFacts, Order
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    values = {"word": settings["word"]}
    if settings.get("refuse"):
        values["refuse"] = "it was told to refuse"
    return (Order(ECHO, EXECUTORS, values),)
