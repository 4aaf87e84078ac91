from collections.abc import Sequence

from techniques.orders import DRIVER, SPARK_CONF, SPECULATION, JobFacts, Order
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    """Spark reads the option for each task set, and looks for late tasks only if it was true when
    the application started."""
    options = {"spark.speculation": str(bool(settings["on"])).lower()}
    return (Order(SPARK_CONF, DRIVER, {"options": options}, (SPECULATION,)),)
