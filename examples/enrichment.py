"""Orders enriched by a call to a service whose answers have a heavy tail, on a pool of instances.

orders ──▶ enrich (pooled: one HTTP call an order) ──▶ sink
              └──▶ service on this machine: most answers in milliseconds, few in hundreds

Without the pool (`--plain`) each task makes its calls one after the other, and a batch takes as
long as the task with the most bad luck.

What each technique of the pool is for can be planted:

    --hang                 an instance hangs again and again: adaptive timeout with replay
    --slow-instance 1      an instance is slower than the others: latency balancing
    --instances 4 --median-ms 15 --rate 90
                           all are busy, and chunks wait at one while another is idle: shared
                           queue, largest backlog first
"""

import argparse
import http.client
import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from examples import session as example
from techniques.pool import pooled
from techniques.pool.plan import Operator
from techniques.pool.workload.heterogeneity import Heterogeneous

NAME = "enrichment"
SCHEMA = "event_time timestamp, order long, customer string"
CHUNK_ROWS = 4
HANG_EVERY_S = 10.0
HANG_S = 2.0


def main(argv: Sequence[str] | None = None) -> int:
    options = checked(arguments(), argv)
    # Spark's workers use this Python, in which the operator's packages are installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    service = Service(options.median_ms, options.tail)
    spark = example.session(NAME, options)
    known = enriched(orders(spark, options), service.port, options)
    query = example.started(known, NAME, "orders", options)
    return example.run(spark, query, options)


def arguments() -> argparse.ArgumentParser:
    parser = example.parser("Orders enriched by a service with a heavy-tailed response time.")
    # `--orders` is what it was called first.
    parser.add_argument(
        "--rate", "--orders", type=example.positive, default=100, help="orders per second"
    )
    parser.add_argument("--instances", type=example.positive, default=8, help="of the operator")
    parser.add_argument("--median-ms", type=example.positive, default=5, help="of the service")
    parser.add_argument(
        "--tail", type=sigma, default=1.2, help="sigma of the log-normal response time"
    )
    parser.add_argument(
        "--slow-instance", type=int, metavar="N", help="instance, from 0, that is slower"
    )
    parser.add_argument(
        "--slow-times", type=factor, default=4.0, help="how many times slower that one is"
    )
    parser.add_argument(
        "--hang",
        type=int,
        nargs="?",
        const=0,
        metavar="N",
        help=f"instance N (0 if no number is given) hangs for {HANG_S:g} s every "
        f"{HANG_EVERY_S:g} s",
    )
    parser.add_argument("--plain", action="store_true", help="without the pool")
    parser.add_argument("--show", action="store_true", help="print each batch")
    return parser


def checked(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None = None
) -> argparse.Namespace:
    """Parses the options; ends the program with a message where two of them do not fit."""
    options = parser.parse_args(argv)
    for name in ("slow_instance", "hang"):
        number = getattr(options, name)
        if number is None:
            continue
        said = f"--{name.replace('_', '-')} {number}"
        if options.plain:
            parser.error(f"{said}: without the pool (--plain) there are no instances")
        if not 0 <= number < options.instances:
            last = options.instances - 1
            parser.error(f"{said}: there is no such instance, they have the numbers 0 to {last}")
    return options


def factor(text: str) -> float:
    return at_least(1, text)


def sigma(text: str) -> float:
    return at_least(0, text)


def at_least(low: float, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least {low:g}")
    return value


def orders(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    ticks = spark.readStream.format("rate").option("rowsPerSecond", options.rate).load()
    return ticks.select(F.col("timestamp").alias("event_time"), F.col("value").alias("order"))


def enriched(placed: DataFrame, port: int, options: argparse.Namespace) -> DataFrame:
    enrich = Enrich(port)
    if options.plain:
        return placed.mapInArrow(lambda batches: map(enrich, batches), SCHEMA)
    return placed.transform(
        pooled(
            planted(enrich, options),
            SCHEMA,
            instances=options.instances,
            chunk_rows=CHUNK_ROWS,
            name=NAME,
        )
    )


def planted(enrich: Operator, options: argparse.Namespace) -> Operator:
    """Returns the operator with the troubles that the options ask for."""
    slow, hang = options.slow_instance, options.hang
    if slow is None and hang is None:
        return enrich
    return Heterogeneous(
        enrich,
        slow={} if slow is None else {slow: options.slow_times},
        hangs_every={} if hang is None else {hang: (HANG_EVERY_S, HANG_S)},
        slow_operator=True,
    )


class Enrich:
    """One call an order, over one connection per instance."""

    __name__ = "enrich"

    def __init__(self, port: int) -> None:
        self._port = port
        self._service: http.client.HTTPConnection | None = None

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        customers = [self._customer(order) for order in batch.column("order").to_pylist()]
        return batch.append_column("customer", pa.array(customers, pa.string()))

    def _customer(self, order: int) -> str:
        if self._service is None:
            self._service = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        self._service.request("GET", f"/orders/{order}")
        return str(json.loads(self._service.getresponse().read())["customer"])


class Service:
    """Simulates an external service: answers after a log-normal time."""

    def __init__(self, median_ms: float, tail: float) -> None:
        delays = np.random.default_rng(1)

        class Answer(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Head and body are two packets; without TCP_NODELAY the second waits 40 ms for an ACK.
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                time.sleep(delays.lognormal(np.log(median_ms / 1000), tail))
                order = int(self.path.rpartition("/")[2])
                body = json.dumps({"customer": f"customer-{order % 1000}"}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()


if __name__ == "__main__":
    raise SystemExit(main())
