"""The transports between processes that `bench ipc` compares, each configured at its best.

A transport is created in the parent, before any process is forked. Each producer then gets a `send`
function from it, the consumer a `receive`. Queues hold as many messages as the ring, where their
size can be set.
"""

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import select
import socket
import tempfile
import uuid
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Protocol

from techniques.pool.osrbuffer import sizing
from techniques.pool.osrbuffer.ring import Ring

Send = Callable[[bytearray], object]
# A message is read before the next is received, so both may be in the same memory.
Receive = Callable[[], bytes | bytearray | memoryview]
LENGTH_BYTES = 4


class Way(Protocol):
    def __init__(self, size_bytes: int, producers: int) -> None: ...
    def sender(self, producer: int) -> Send: ...
    def receiver(self) -> Receive: ...
    def close(self) -> None: ...


class OverRing:
    def __init__(self, size_bytes: int, producers: int) -> None:
        wanted_bytes = sizing.capacity_bytes(size_bytes)
        folder = sizing.folder(wanted_bytes, [tempfile.gettempdir()])
        self._ring = Ring.create(f"{folder}/curtail-bench-{uuid.uuid4().hex}", wanted_bytes)

    def sender(self, producer: int) -> Send:
        return Ring.attach(self._ring.path).send

    def receiver(self) -> Receive:
        ring = Ring.attach(self._ring.path)

        def receive() -> memoryview:
            body = ring.look()
            assert body is not None
            return body

        return receive

    def close(self) -> None:
        self._ring.unlink()
        self._ring.close()


class OverSockets:
    """Length-prefixed messages over a stream socket, one connection per producer."""

    def __init__(self, size_bytes: int, producers: int) -> None:
        pairs = [self._connected() for _ in range(producers)]
        self._out, self._in = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        self._size_bytes = size_bytes

    def _connected(self) -> tuple[socket.socket, socket.socket]:
        return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def sender(self, producer: int) -> Send:
        link = self._out[producer]
        length = self._size_bytes.to_bytes(LENGTH_BYTES, "little")

        def send(body: bytearray) -> None:
            sent = link.sendmsg([length, body])
            if sent < LENGTH_BYTES + len(body):
                link.sendall(memoryview(body)[sent - LENGTH_BYTES :])

        return send

    def receiver(self) -> Receive:
        links = {link.fileno(): link for link in self._in}
        whole = bytearray(LENGTH_BYTES + self._size_bytes)
        view = memoryview(whole)

        def read(link: socket.socket) -> memoryview:
            got = 0
            while got < len(whole):
                got += link.recv_into(view[got:])
            return view[LENGTH_BYTES:]

        if len(self._in) == 1:
            return lambda: read(self._in[0])
        poll = select.epoll()
        for number in links:
            poll.register(number, select.EPOLLIN)
        ready: list[int] = []

        def receive() -> memoryview:
            while not ready:
                ready.extend(number for number, _ in poll.poll())
            return read(links[ready.pop()])

        return receive

    def close(self) -> None:
        for link in (*self._out, *self._in):
            link.close()


class OverTcp(OverSockets):
    def _connected(self) -> tuple[socket.socket, socket.socket]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            out = socket.create_connection(server.getsockname())
            into, _ = server.accept()
        for link in (out, into):
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return out, into


class OverQueue:
    def __init__(self, size_bytes: int, producers: int) -> None:
        context = multiprocessing.get_context("fork")
        self._queue: multiprocessing.Queue[bytes] = context.Queue(sizing.MESSAGES)

    def sender(self, producer: int) -> Send:
        # A thread of the queue pickles it later, so it must not change any more.
        return lambda body: self._queue.put(bytes(body))

    def receiver(self) -> Receive:
        return self._queue.get

    def close(self) -> None:
        self._queue.close()


class OverPipes:
    def __init__(self, size_bytes: int, producers: int) -> None:
        pairs = [multiprocessing.Pipe(duplex=False) for _ in range(producers)]
        self._in, self._out = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def sender(self, producer: int) -> Send:
        return self._out[producer].send_bytes

    def receiver(self) -> Receive:
        if len(self._in) == 1:
            return self._in[0].recv_bytes
        links = {link.fileno(): link for link in self._in}
        poll = select.epoll()
        for number in links:
            poll.register(number, select.EPOLLIN)
        ready: list[Connection[Any, Any]] = []

        def receive() -> bytes:
            while not ready:
                ready.extend(links[number] for number, _ in poll.poll())
            return ready.pop().recv_bytes()

        return receive

    def close(self) -> None:
        for link in (*self._in, *self._out):
            link.close()


class OverZeroMq:
    def __init__(self, size_bytes: int, producers: int) -> None:
        self._path = f"{tempfile.gettempdir()}/curtail-bench-{uuid.uuid4().hex}"

    def sender(self, producer: int) -> Send:
        import zmq

        link = zmq.Context().socket(zmq.PUSH)
        link.set_hwm(sizing.MESSAGES)
        link.connect(f"ipc://{self._path}")
        return link.send

    def receiver(self) -> Receive:
        import zmq

        link = zmq.Context().socket(zmq.PULL)
        link.set_hwm(sizing.MESSAGES)
        link.bind(f"ipc://{self._path}")

        def receive() -> bytes:
            body: bytes = link.recv()
            return body

        return receive

    def close(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._path)


class OverIceoryx:
    """Publish and subscribe with an event to wake the subscriber, who reads in place."""

    def __init__(self, size_bytes: int, producers: int) -> None:
        self._name = f"curtail-bench-{uuid.uuid4().hex}"
        self._size_bytes = size_bytes

    def _services(self) -> tuple[Any, Any]:
        import iceoryx2

        iceoryx2.set_log_level(iceoryx2.LogLevel.Fatal)
        node = iceoryx2.NodeBuilder.new().create(iceoryx2.ServiceType.Ipc)
        name = iceoryx2.ServiceName.new(self._name)
        bodies = (
            node.service_builder(name)
            .publish_subscribe(iceoryx2.Slice[ctypes.c_uint8])
            .enable_safe_overflow(False)
            .subscriber_max_buffer_size(sizing.MESSAGES)
            .max_publishers(8)
            .open_or_create()
        )
        return bodies, node.service_builder(name).event().open_or_create()

    def sender(self, producer: int) -> Send:
        import iceoryx2

        bodies, events = self._services()
        publisher = (
            bodies.publisher_builder()
            .backpressure_strategy(iceoryx2.BackpressureStrategy.RetryUntilDelivered)
            .initial_max_slice_len(self._size_bytes)
            .create()
        )
        notifier = events.notifier_builder().create()
        source = ctypes.c_char * self._size_bytes

        def send(body: bytearray) -> None:
            sample = publisher.loan_slice_uninit(len(body))
            ctypes.memmove(sample.payload_ptr, source.from_buffer(body), len(body))
            sample.assume_init().send()
            notifier.notify()

        send.__dict__["keep"] = (bodies, events)
        return send

    def receiver(self) -> Receive:
        bodies, events = self._services()
        subscriber = bodies.subscriber_builder().buffer_size(sizing.MESSAGES).create()
        listener = events.listener_builder().create()
        held: list[Any] = [bodies, events, None]

        def receive() -> memoryview:
            held[2] = None
            sample = subscriber.receive()
            while sample is None:
                listener.blocking_wait()
                sample = subscriber.receive()
            held[2] = sample
            view: memoryview = sample.payload().as_memory_view()
            return view

        return receive

    def close(self) -> None:
        pass


RING = "ring"
WAYS: dict[str, type[Way]] = {
    RING: OverRing,
    "unix": OverSockets,
    "tcp": OverTcp,
    "queue": OverQueue,
    "pipe": OverPipes,
    "zeromq": OverZeroMq,
    "iceoryx2": OverIceoryx,
}
# The packages that each transport needs beside the standard library.
NEEDS = {"zeromq": "zmq", "iceoryx2": "iceoryx2"}
