from collections.abc import Sequence

from techniques.orders import DRIVER, SPARK_CONF, SPECULATION, JobFacts, Order
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    options = {
        "spark.speculation": "true",
        "spark.speculation.multiplier": str(settings["factor"]),
    }
    return (Order(SPARK_CONF, DRIVER, {"options": options}, (SPECULATION,)),)
