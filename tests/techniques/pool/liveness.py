"""Which local variables of a suspended function still matter: those read before they are set again.

Without it, two states that differ only in what a function will never look at again would count as
two, and there are many of those.
"""

import dis
import functools
from types import CodeType

_LEAVES = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD"}
_LEAVES |= {"JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}


@functools.cache
def live_after(code: CodeType) -> dict[int, frozenset[str]]:
    """Per instruction's offset, the variables that are live once it is done."""
    instructions = list(dis.get_instructions(code))
    index = {each.offset: number for number, each in enumerate(instructions)}
    before: list[frozenset[str]] = [frozenset()] * (len(instructions) + 1)
    after: list[frozenset[str]] = [frozenset()] * len(instructions)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(instructions))):
            each = instructions[number]
            out = frozenset() if each.opname in _LEAVES else before[number + 1]
            if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
                out |= before[index[each.argval]]
            read, written = _names(each)
            into = read | (out - written)
            changed |= into != before[number]
            before[number], after[number] = into, out
    return {each.offset: after[number] for number, each in enumerate(instructions)}


def _names(each: dis.Instruction) -> tuple[frozenset[str], frozenset[str]]:
    """What it reads and what it sets. Later Pythons do two in one instruction."""
    if "FAST" not in each.opname and "DEREF" not in each.opname:
        return frozenset(), frozenset()
    names = each.argval if isinstance(each.argval, tuple) else (each.argval,)
    # Where a pair reads and sets, both count as read, which is on the safe side.
    if "LOAD" in each.opname:
        return frozenset(names), frozenset()
    return frozenset(), frozenset(names)
