"""Atomic operations on shared memory by address, for code compiled by Numba: needs no C compiler.

All are sequentially consistent except `get`, `put` and `copy`, which are plain accesses. Addresses,
values and booleans are 64-bit integers.
"""

import platform
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils as _untyped
from numba.extending import intrinsic

from techniques.pool.osrbuffer.layout import CLOCK_NS

cgutils: Any = _untyped
_INT = types.int64
_I64, _I32 = ir.IntType(64), ir.IntType(32)
_SEQ = "seq_cst"
_FUTEX = {"x86_64": 202, "aarch64": 98}[platform.machine()]
_FUTEX_WAIT, _FUTEX_WAKE, _CLOCK_MONOTONIC, _POLLIN = 0, 1, 1, 1
_NS_PER_S = 1_000_000_000

Emit = Callable[..., Any]


def _one(emit: Emit) -> Callable[[int], int]:
    def typed(_: Any, a: Any) -> Any:
        return _INT(_INT), lambda _c, builder, _s, args: emit(builder, *args)

    return cast(Callable[[int], int], intrinsic(typed))


def _two(emit: Emit) -> Callable[[int, int], int]:
    def typed(_: Any, a: Any, b: Any) -> Any:
        return _INT(_INT, _INT), lambda _c, builder, _s, args: emit(builder, *args)

    return cast(Callable[[int, int], int], intrinsic(typed))


def _three(emit: Emit) -> Callable[[int, int, int], int]:
    def typed(_: Any, a: Any, b: Any, c: Any) -> Any:
        return _INT(_INT, _INT, _INT), lambda _c, builder, _s, args: emit(builder, *args)

    return cast(Callable[[int, int, int], int], intrinsic(typed))


def _word(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _I64.as_pointer())


def _external(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _load(builder: Any, address: Any) -> Any:
    return builder.load_atomic(_word(builder, address), _SEQ, 8)


def _store(builder: Any, address: Any, value: Any) -> Any:
    builder.store_atomic(value, _word(builder, address), _SEQ, 8)
    return _I64(0)


def _cas(builder: Any, address: Any, old: Any, new: Any) -> Any:
    pair = builder.cmpxchg(_word(builder, address), old, new, _SEQ, _SEQ)
    return builder.zext(builder.extract_value(pair, 1), _I64)


def _swap(builder: Any, address: Any, value: Any) -> Any:
    return builder.atomic_rmw("xchg", _word(builder, address), value, _SEQ)


def _add(builder: Any, address: Any, value: Any) -> Any:
    return builder.atomic_rmw("add", _word(builder, address), value, _SEQ)


def _get(builder: Any, address: Any) -> Any:
    return builder.load(_word(builder, address))


def _put(builder: Any, address: Any, value: Any) -> Any:
    builder.store(value, _word(builder, address))
    return _I64(0)


def _copy(builder: Any, to: Any, source: Any, size: Any) -> Any:
    _external(builder, "memcpy", _I64, [to, source, size])
    return _I64(0)


def _futex(builder: Any, address: Any, operation: int, value: Any, timeout: Any) -> Any:
    rest = [_I64(operation), value, timeout, _I64(0), _I64(0)]
    return _external(builder, "syscall", _I64, [_I64(_FUTEX), address, *rest])


def _timespec(builder: Any, timeout_ns: Any) -> Any:
    timespec = cgutils.alloca_once(builder, _I64, size=2)
    second = builder.gep(timespec, [_I64(1)])
    builder.store(builder.sdiv(timeout_ns, _I64(_NS_PER_S)), timespec)
    builder.store(builder.srem(timeout_ns, _I64(_NS_PER_S)), second)
    return builder.ptrtoint(timespec, _I64)


def _wait(builder: Any, address: Any, seen: Any, timeout_ns: Any) -> Any:
    lower_half = builder.and_(seen, _I64(0xFFFF_FFFF))
    return _futex(builder, address, _FUTEX_WAIT, lower_half, _timespec(builder, timeout_ns))


def _wake(builder: Any, address: Any, sleepers: Any) -> Any:
    return _futex(builder, address, _FUTEX_WAKE, sleepers, _I64(0))


def _knock(builder: Any, pipe: Any) -> Any:
    byte = cgutils.alloca_once(builder, _I64)
    return _external(builder, "write", _I64, [pipe, builder.ptrtoint(byte, _I64), _I64(1)])


def _listen(builder: Any, pipe: Any, clock: Any, timeout_ns: Any) -> Any:
    asked = cgutils.alloca_once(builder, _I64, size=2)
    builder.store(builder.or_(pipe, _I64(_POLLIN << 32)), asked)
    builder.store(builder.or_(clock, _I64(_POLLIN << 32)), builder.gep(asked, [_I64(1)]))
    # Arming a timer costs more than the rest of a sleep. The periodic timer is always armed.
    far = builder.icmp_signed(">=", timeout_ns, _I64(CLOCK_NS // 2))
    until = builder.select(far, _I64(0), _timespec(builder, timeout_ns))
    given = [builder.ptrtoint(asked, _I64), _I64(2), until, _I64(0)]
    _external(builder, "ppoll", _I32, given)
    heard = builder.ptrtoint(cgutils.alloca_once(builder, _I64, size=8), _I64)
    _external(builder, "read", _I64, [clock, heard, _I64(8)])
    return _external(builder, "read", _I64, [pipe, heard, _I64(64)])


def _now_ns(builder: Any, _: Any) -> Any:
    timespec = cgutils.alloca_once(builder, _I64, size=2)
    _external(
        builder, "clock_gettime", _I32, [_I64(_CLOCK_MONOTONIC), builder.ptrtoint(timespec, _I64)]
    )
    seconds = builder.load(timespec)
    nanoseconds = builder.load(builder.gep(timespec, [_I64(1)]))
    return builder.add(builder.mul(seconds, _I64(_NS_PER_S)), nanoseconds)


load = _one(_load)
store = _two(_store)
cas = _three(_cas)
swap = _two(_swap)
add = _two(_add)
get = _one(_get)
put = _two(_put)
copy = _three(_copy)
wait = _three(_wait)
wake = _two(_wake)
# `knock` writes a byte into a pipe; the other waits for one, for the periodic timer or a timeout.
knock = _one(_knock)
listen = _three(_listen)
now_ns = _one(_now_ns)
