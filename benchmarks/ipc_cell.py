"""One transport, one size, one rate, with real processes for producers and the consumer.

Open loop: message i of a producer is due at a time that does not depend on how the messages before
it fared, and its latency counts from then. A producer sleeps until shortly before it is due and
spins for the rest, as a sleep ends tens of microseconds late. Without a rate (flat out), a message
is due when its producer is ready to send it.
"""

import array
import gc
import multiprocessing
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.ipc_transports import Receive, Send, Way

SPIN_NS = 150_000
# The first messages fault in pages and warm up caches: they are sent, and not counted.
WARM_UP_SHARE = 0.1
# A transport that cannot keep up is cut off: its latency by then says enough.
LATEST_S = 10.0
GIVE_UP_S = 60.0
LAST = -1

Meet = Callable[[], object]


@dataclass(frozen=True)
class Cell:
    """`rate_per_s` is that of all producers together; None means as fast as possible."""

    size_bytes: int
    rate_per_s: int | None
    producers: int


@dataclass(frozen=True)
class Outcome:
    """Latencies in the order of arrival, and the time from the first arrival to the last."""

    latencies_us: NDArray[np.float64]
    took_s: float


def measured(kind: type[Way], cell: Cell, seconds: float) -> Outcome:
    way = kind(cell.size_bytes, cell.producers)
    context = multiprocessing.get_context("fork")
    ready, done = (context.Barrier(cell.producers + 1, timeout=GIVE_UP_S).wait for _ in range(2))
    read, write = os.pipe()
    children = [_forked(lambda: _consume(way, cell, ready, done, write))]
    os.close(write)
    for number in range(cell.producers):
        children.append(_forked(partial(_produce, way, cell, number, seconds, ready, done)))
    try:
        with os.fdopen(read, "rb") as pipe:
            told = pipe.read()
    finally:
        failed = [child for child in children if os.waitpid(child, 0)[1]]
        way.close()
    if failed or not told:
        raise RuntimeError(f"{kind.__name__}: a process failed")
    numbers = np.frombuffer(told, np.int64)
    due_ns, came_ns = numbers[0::2], numbers[1::2]
    kept = slice(int(len(due_ns) * WARM_UP_SHARE), None)
    took_s = float(came_ns[-1] - came_ns[kept][0]) / 1e9
    return Outcome((came_ns - due_ns)[kept] / 1e3, took_s)


def _forked(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        gc.disable()
        work()
        status = 0
    except BaseException as error:
        os.write(2, f"{error!r}\n".encode())
    finally:
        os._exit(status)


def _consume(way: Way, cell: Cell, ready: Meet, done: Meet, write: int) -> None:
    receive = way.receiver()
    ready()
    times = _received(receive, cell.producers)
    done()
    with os.fdopen(write, "wb") as pipe:
        pipe.write(times.tobytes())


def _received(receive: Receive, producers: int) -> "array.array[int]":
    times, now_ns, due = array.array("q"), time.monotonic_ns, struct.Struct("<q").unpack_from
    while producers:
        (due_ns,) = due(receive())
        if due_ns == LAST:
            producers -= 1
        else:
            times.append(due_ns)
            times.append(now_ns())
    return times


def _produce(way: Way, cell: Cell, number: int, seconds: float, ready: Meet, done: Meet) -> None:
    body = bytearray(os.urandom(cell.size_bytes))
    # The consumer has to be there before a message can be sent to it.
    ready()
    send = way.sender(number)
    if cell.rate_per_s is None:
        _flat_out(send, body, seconds)
    else:
        _paced(send, body, cell.rate_per_s / cell.producers, number / cell.producers, seconds)
    struct.pack_into("<q", body, 0, LAST)
    send(body)
    # Some transports send from a thread, or own the memory: keep them until all has arrived.
    done()


def _paced(send: Send, body: bytearray, rate_per_s: float, phase: float, seconds: float) -> None:
    now_ns, stamp = time.monotonic_ns, struct.Struct("<q").pack_into
    gap_ns = 1e9 / rate_per_s
    first_ns = now_ns() + 5_000_000 + phase * gap_ns
    latest_ns = first_ns + LATEST_S * 1e9
    for number in range(max(2, round(rate_per_s * seconds))):
        due_ns = int(first_ns + number * gap_ns)
        if (early_ns := due_ns - now_ns() - SPIN_NS) > 0:
            time.sleep(early_ns / 1e9)
        while (came_ns := now_ns()) < due_ns:
            pass
        if came_ns > latest_ns:
            return
        stamp(body, 0, due_ns)
        send(body)


def _flat_out(send: Send, body: bytearray, seconds: float) -> None:
    now_ns, stamp = time.monotonic_ns, struct.Struct("<q").pack_into
    until_ns = now_ns() + int(seconds * 1e9)
    while (due_ns := now_ns()) < until_ns:
        stamp(body, 0, due_ns)
        send(body)
