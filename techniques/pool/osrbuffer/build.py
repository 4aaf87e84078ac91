"""Compiles the protocol with Numba, with entry points that C can call."""

from types import FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm
from numba import njit, types

from techniques.pool.osrbuffer import protocol
from techniques.pool.osrbuffer.compiled import ENTRIES

# Typed as Any because its stub does not declare all arguments.
_njit: Any = njit
# The only symbols that the code may import; loading it with any other would end the process.
_MAY_CALL = {"syscall", "memcpy", "memmove", "memset", "clock_gettime", "ppoll", "read", "write"}


def assembly() -> str:
    """Returns the entry points as optimised LLVM assembly."""
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
    """Returns the functions of a module as Numba functions that can call each other."""
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
    """Returns a wrapper: Numba's functions return through a pointer, C callers expect a value."""
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
