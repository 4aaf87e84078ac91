"""The protocol's own source as generators: every step on shared memory becomes a `yield`.

`cas(a, b, c)` turns into `yield ("cas", a, b, c)`, and a call of another function of the protocol
into `yield from`. So what is explored is not a copy of the protocol that could differ from it.
"""

import ast
import inspect
from collections.abc import Callable, Generator
from typing import Any

from techniques.pool.osrbuffer import protocol

STEPS = {"load", "store", "cas", "swap", "add", "get", "put", "copy", "wait", "wake", "knock"}
STEPS |= {"listen"}

Step = tuple[Any, ...]
Fault = tuple[str, str]
Run = Generator[Step, int, int]
# Words of a process's own that never change are no steps.
OWN = -1_000_000


def functions(own: dict[int, int], fault: Fault | None = None) -> dict[str, Callable[..., Run]]:
    """The protocol for a process whose constant words are `own`, by offset from OWN.

    With a `fault`, those lines are replaced by others.
    """
    source = inspect.getsource(protocol)
    if fault is not None:
        assert source.count(fault[0]) == 1, f"the protocol no longer has {fault[0]!r} once"
        source = source.replace(*fault)
    tree = ast.parse(source)
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    stepping = _stepping(defined)
    tree.body = [_Rewritten(stepping).visit(node) for node in defined]
    space = {
        **vars(protocol),
        "now_ns": lambda _: 0,
        "constant": lambda address: own[address - OWN],
    }
    exec(compile(ast.fix_missing_locations(tree), "protocol as steps", "exec"), space)
    return {node.name: space[node.name] for node in defined}


def _stepping(defined: list[ast.FunctionDef]) -> set[str]:
    """The functions that take a step, themselves or through others."""
    found: set[str] = set()
    while True:
        more = {node.name for node in defined if _calls(node) & (STEPS | found)}
        if more == found:
            return found
        found = more


def _calls(node: ast.AST) -> set[str]:
    return {
        each.func.id
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and not _is_own(each)
    }


def _is_own(call: ast.Call) -> bool:
    """`get(me + …)`: a constant of the process."""
    return ast.unparse(call).startswith("get(me + MY_")


class _Rewritten(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> ast.AST:
        raise AssertionError("where a `for` loop is would be known to nobody")

    def __init__(self, stepping: set[str]) -> None:
        self._stepping = stepping

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        if _is_own(node):
            return ast.Call(ast.Name("constant", ast.Load()), node.args, [])
        if node.func.id in self._stepping:
            return ast.YieldFrom(node)
        if node.func.id in STEPS:
            step = ast.Tuple([ast.Constant(node.func.id), *node.args], ast.Load())
            return ast.Yield(step)
        return node
