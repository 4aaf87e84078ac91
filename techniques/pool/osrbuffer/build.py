"""Compiles the protocol with Numba, with entry points that C can call."""

from types import FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm
from numba import njit, types

from techniques.pool.osrbuffer import protocol
from techniques.pool.osrbuffer.compiled import ENTRIES

# Its type does not name all that it takes.
_njit: Any = njit
# All that machine code may ask of the process; anything else would end it when loaded.
_MAY_CALL = {"syscall", "memcpy", "memmove", "memset", "clock_gettime", "ppoll", "read", "write"}


def assembly() -> str:
    """The entry points in LLVM's language, optimised."""
    functions = compilable(protocol)
    whole = llvm.parse_assembly("")
    for name, count in ENTRIES.items():
        signature = types.int64(*[types.int64] * count)
        functions[name].compile(signature)
        (result,) = functions[name].overloads.values()
        whole.link_in(llvm.parse_assembly(result.library.get_llvm_str()))
        whole.link_in(llvm.parse_assembly(_entry(name, result.fndesc.mangled_name, count)))
    asked = {each.name for each in whole.functions if each.is_declaration}
    unknown = {name for name in asked - _MAY_CALL if not name.startswith("llvm.")}
    if unknown:
        raise RuntimeError(f"the ring's code would call {', '.join(sorted(unknown))}")
    return str(whole)


def compilable(module: ModuleType) -> dict[str, Any]:
    """The functions of a module as Numba's, which see each other."""
    space = dict(vars(module))
    own = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
    made = {
        name: _njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(
            FunctionType(function.__code__, space, name)
        )
        for name, function in own.items()
    }
    space.update(made)
    return made


def _entry(name: str, mangled: str, count: int) -> str:
    """Numba's functions return through a pointer; C's callers expect the value."""
    given = ", ".join(f"i64 %a{index}" for index in range(count))
    kinds = ", ".join(["ptr", "ptr", *["i64"] * count])
    return f"""
declare i32 @"{mangled}"({kinds})
define i64 @{name}({given}) {{
  %result = alloca i64
  %error = alloca ptr
  %status = call i32 @"{mangled}"(ptr %result, ptr %error, {given})
  %value = load i64, ptr %result
  ret i64 %value
}}
"""
