import builtins
from collections.abc import Sequence

from techniques.orders import JobFacts, Order
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    raise getattr(builtins, str(settings["error"]))("as it was told")
