"""The protocol as machine code: compiled once by Numba, kept in a file, loaded in milliseconds.

Importing Numba takes a second and compiling some more, and every Python worker of a job would pay
both. So the object code of the entry points is kept in a folder of the user's own, named for all
that it depends on: our sources, the versions of Numba and Python, and the processor. With it, a
process needs llvmlite alone.
"""

import contextlib
import ctypes
import fcntl
import functools
import hashlib
import logging
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm

_log = logging.getLogger(__name__)

# Entry point → number of arguments.
ENTRIES: Final = {
    "send": 8,
    "send_now": 4,
    "receive": 3,
    "done": 2,
    "resume": 1,
    "unfinished": 3,
    "give_up": 3,
    "mend": 3,
    "depth": 1,
}
# Entry point → index of the argument that is the address of a body.
BODIES: Final = {"send": 3, "send_now": 3}
_SOURCES = ("layout.py", "atomics.py", "protocol.py", "compiled.py", "build.py")
CACHE_VARIABLE = "CURTAIL_CACHE_DIR"

Entry = Callable[..., int]


@functools.cache
def entries() -> dict[str, Entry]:
    """The entry points as functions that release the interpreter's lock while they run."""
    return callable_from(loaded(_object()))


def loaded(code: bytes) -> Any:
    """Returns an LLVM engine that holds this code; keep it as long as the process lives."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return engine


def callable_from(engine: Any) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for name, count in ENTRIES.items():
        kinds: list[Any] = [ctypes.c_int64] * count
        if name in BODIES:
            # Takes integers, and `bytes`, whose address it passes.
            kinds[BODIES[name]] = ctypes.c_void_p
        found[name] = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(engine.get_function_address(name))
    return found


_engines: list[Any] = []


@functools.cache
def machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        jit=True,
    )


def _object() -> bytes:
    return kept(".o", lambda: object_code(assembly()))


def assembly() -> str:
    """Returns the entry points as LLVM assembly, which is cached too, to be read or changed."""
    return kept(".ll", _build).decode()


def object_code(text: str) -> bytes:
    code: bytes = machine().emit_object(llvm.parse_assembly(text))
    return code


def _build() -> bytes:
    # Only here: importing it imports Numba.
    from techniques.pool.osrbuffer import build

    return build.assembly().encode()


def kept(suffix: str, make: Callable[[], bytes]) -> bytes:
    """Returns a file from the first cache folder that has it; otherwise makes and stores it."""
    name = f"ring-{_fingerprint()}{suffix}"
    found = _found(name)
    if found is not None:
        return found
    # If many processes start at once on a new machine, one compiles and the others wait for it.
    with _turn():
        found = _found(name)
        return _made(name, make) if found is None else found


def _found(name: str) -> bytes | None:
    for folder in _folders():
        with contextlib.suppress(OSError):
            return _read(folder / name)
    return None


def _made(name: str, make: Callable[[], bytes]) -> bytes:
    made = make()
    for folder in _folders():
        try:
            _write(folder / name, made)
            break
        except OSError as error:
            _log.debug("cannot keep compiled code in %s: %s", folder, error)
    return made


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    global _holds_turn
    if _holds_turn:
        yield
        return
    with contextlib.ExitStack() as stack:
        for folder in _folders():
            with contextlib.suppress(OSError):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                file = stack.enter_context(open(folder / "ring.lock", "wb"))
                fcntl.flock(file, fcntl.LOCK_EX)
                break
        _holds_turn = True
        try:
            yield
        finally:
            _holds_turn = False


# Whether this process has the lock: making the object code makes the assembly, under one lock.
_holds_turn = False


@functools.cache
def _fingerprint() -> str:
    here = Path(__file__).parent
    parts = [hashlib.sha256((here / name).read_bytes()).hexdigest() for name in _SOURCES]
    parts += [version("numba"), version("llvmlite"), sys.version, platform.machine()]
    parts += [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def _folders() -> Iterator[Path]:
    if chosen := os.environ.get(CACHE_VARIABLE):
        yield Path(chosen)
    yield Path(__file__).parent / "__pycache__"
    cache = os.environ.get("XDG_CACHE_HOME")
    if cache or "HOME" in os.environ:
        yield Path(cache or Path.home() / ".cache") / "curtail"
    yield Path(tempfile.gettempdir()) / f"curtail-{os.getuid()}"


def _read(path: Path) -> bytes:
    """Reads a cached file; raises if another user could have written it, as it will be executed."""
    for part in (path.parent, path):
        found = part.stat()
        theirs = found.st_uid not in (os.getuid(), 0)
        if theirs or found.st_mode & stat.S_IWOTH:
            raise PermissionError(f"{part} may be written by others")
    return path.read_bytes()


def _write(path: Path, code: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        draft.write_bytes(code)
        draft.chmod(0o644)
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)
