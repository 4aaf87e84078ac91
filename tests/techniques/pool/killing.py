"""The ring's machine code in a variant that kills its own process before its n-th step.

Made from the product's code itself: LLVM's text of it, with a call before every atomic step, every
copy of a body and every system call. The product's has no such call, so it costs it nothing.
"""

import ctypes
import functools
import re
from typing import Any

from techniques.pool.osrbuffer import compiled

_ATOMIC = r"\b(cmpxchg|atomicrmw|store atomic|load atomic)\b"
_CALL = r"call i(32|64) @(syscall|memcpy|write|read|ppoll)\("
_STEP = re.compile(f"{_ATOMIC}|{_CALL}")
_SIGKILL, _NEVER = 9, -1
_TICK = f"""
@steps_left = global i64 {_NEVER}
declare i32 @raise(i32)
define void @tick() noinline {{
  %left = load i64, ptr @steps_left
  %less = sub i64 %left, 1
  store i64 %less, ptr @steps_left
  %now = icmp eq i64 %left, 0
  br i1 %now, label %die, label %live
die:
  %ignored = call i32 @raise(i32 {_SIGKILL})
  ret void
live:
  ret void
}}
"""


@functools.cache
def _engine() -> Any:
    lines = []
    for line in compiled.assembly().splitlines():
        if _STEP.search(line) and not line.startswith("declare"):
            lines.append("  call void @tick()")
        lines.append(line)
    return compiled.loaded(compiled.object_code("\n".join([*lines, _TICK])))


@functools.cache
def entries() -> dict[str, compiled.Entry]:
    return compiled.callable_from(_engine())


def die_before_step(number: int) -> None:
    """Of this process, counted from here."""
    address = _engine().get_global_value_address("steps_left")
    ctypes.c_int64.from_address(address).value = number
