"""Walks through every interleaving of a few processes on the protocol's steps, and every death.

A state is the memory, what each process is about to do and with which local variables, and what
the consumer got so far. Two ways to the same state are followed once. A process runs as a
generator (`steps.py`); what it does next depends on its local state and the result of its step
alone, so each such pair is run once and remembered.

A message is its number, sent as its target. The bytes of a body are junk that lands on the claim
words of the units behind its head, as real bodies do.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from techniques.pool.osrbuffer.layout import (
    BLOCKED,
    CHECK,
    FOUND_CLAIM,
    FOUND_WORDS,
    GARBAGE,
    HAS_READ,
    HEAD_BYTES,
    LENGTH,
    LISTENING,
    MY_BASE,
    MY_BELL,
    MY_CAPACITY,
    MY_CLOCK,
    MY_SCRATCH,
    MY_SCRATCH_BYTES,
    MY_SPIN_NS,
    MY_UNIT,
    MY_WRITER,
    PAGE_BYTES,
    READ,
    RELEASING,
    ROOM,
    SKIPPED,
    STATUS_MASK,
    TARGET,
    WANTED,
    WRITE,
    WRITER_SHIFT,
)
from techniques.pool.osrbuffer.protocol import BLOCKED_WAIT_NS
from tests.techniques.pool.liveness import live_after
from tests.techniques.pool.osrbuffer.steps import OWN, Fault, Run, Step, functions

UNIT = 64
WAIT_NS = 2 * BLOCKED_WAIT_NS
# The consumer's own words. Of these only the claim is read again.
FOUND = 1000
FOUND_END, FOUND_CLAIM_WORD = FOUND + 8 * FOUND_WORDS, FOUND + FOUND_CLAIM
# The consumer's pipe, as a word: how many bytes are in it, up to one.
PIPE = 192
CONSUMER = 0
JUNK = -7
# Sleepers ask whether a bell changed, not how often; so the model counts up to a few and over.
BELLS_COUNT_TO = 4
FOR_EVER = 1_000
END: Step = ("end",)


class Send(NamedTuple):
    number: int
    units: int = 1


class State(NamedTuple):
    memory: tuple[int, ...]
    # Per process the key of its local state; None once it is dead.
    locals: tuple[int | None, ...]
    # Per process the word it sleeps on.
    asleep: tuple[int | None, ...]
    # What came, sorted: the order per producer is checked as it comes.
    got: tuple[int, ...] = ()
    deaths: tuple[int, ...] = ()


class Program:
    """One process: its local states, and how one leads to the next."""

    def __init__(self, start: Callable[[], Run]) -> None:
        self.pending: list[Step] = []
        self._start = start
        self._keys: dict[Any, int] = {}
        self._histories: list[tuple[int, ...]] = []
        self._following: dict[tuple[int, int], int] = {}

    def first(self) -> int:
        return self._known(())

    def next(self, key: int, result: int) -> int:
        found = self._following.get((key, result))
        if found is None:
            found = self._following[key, result] = self._known((*self._histories[key], result))
        return found

    def _known(self, history: tuple[int, ...]) -> int:
        run = self._start()
        try:
            step = next(run)
            for result in history:
                step = run.send(result)
            local: Any = (step, _frames(run))
        except StopIteration as ended:
            step, local = END, (END, ended.value)
        if local not in self._keys:
            self._keys[local] = len(self.pending)
            self.pending.append(step)
            self._histories.append(history)
        return self._keys[local]


def _frames(run: Any) -> tuple[Any, ...]:
    frames = []
    while run is not None:
        frame = run.gi_frame
        values = frame.f_locals
        live = sorted(live_after(frame.f_code)[frame.f_lasti] & values.keys())
        plain = [(name, values[name]) for name in live if isinstance(values[name], int)]
        frames.append((frame.f_lasti, tuple(plain)))
        run = run.gi_yieldfrom
    return tuple(frames)


class Model:
    """`sends` are what each producer sends, one after the other; `mortal` may die, once each."""

    def __init__(
        self,
        capacity: int,
        sends: Sequence[Sequence[Send]],
        mortal: Sequence[int] = (),
        fault: Fault | None = None,
    ) -> None:
        self._fault = fault
        self.sends = sends
        self.mortal = mortal
        self._capacity = capacity
        header = [WRITE, READ, RELEASING, PIPE, LISTENING, ROOM, WANTED, SKIPPED, GARBAGE]
        heads = [
            PAGE_BYTES + unit * UNIT + word
            for unit in range(capacity)
            for word in (0, LENGTH, TARGET, CHECK)
        ]
        words = [*header, FOUND_CLAIM_WORD, *heads]
        self._index = {address: number for number, address in enumerate(words)}
        self._heads = set(heads)
        self._consumer_code = functions(self._own(CONSUMER), fault)
        self.programs = [Program(self._consumer)]
        for process, messages in enumerate(sends, 1):
            self.programs.append(Program(self._producer_of(process, messages)))

    # ---- what the processes do ------------------------------------------------------------

    def _own(self, process: int) -> dict[int, int]:
        words = {MY_BASE: 0, MY_CAPACITY: self._capacity, MY_UNIT: UNIT}
        scratch = {MY_SCRATCH: FOUND, MY_SCRATCH_BYTES: 0, MY_CLOCK: 0}
        return {**words, **scratch, MY_WRITER: process, MY_SPIN_NS: 0, MY_BELL: PIPE}

    def _producer_of(self, process: int, messages: Sequence[Send]) -> Callable[[], Run]:
        code = functions(self._own(process), self._fault)

        def producer() -> Run:
            sent = 0
            while sent < len(messages):
                number, units = messages[sent]
                given = (number, units * UNIT - HEAD_BYTES, JUNK, 0, 0, units)
                assert (yield from code["send"](OWN, *given, WAIT_NS)) >= 0, "a writer was lost"
                sent += 1
            return 0

        return producer

    def _consumer(self) -> Run:
        code = self._consumer_code
        yield from code["resume"](OWN)
        while True:
            # Its words are not kept here, so that every message seems to have a length of 0.
            at = yield from code["receive"](OWN, FOUND, WAIT_NS)
            if at < 0:
                assert at == BLOCKED, "the consumer saw garbage"
                at = yield from code["unfinished"](OWN, -1, FOUND)
                while at >= 0:
                    claim = yield ("get", FOUND_CLAIM_WORD)
                    if not (yield ("lives", claim >> WRITER_SHIFT)):
                        yield from code["give_up"](OWN, at, claim)
                    at = yield from code["unfinished"](OWN, at, FOUND)

    # ---- states ---------------------------------------------------------------------------

    def first(self) -> State:
        keys = tuple(program.first() for program in self.programs)
        return State((0,) * len(self._index), keys, (None,) * len(keys))

    def following(self, state: State) -> Iterator[State]:
        """All that may happen next, but for the sleepers' timeouts."""
        for process, key in enumerate(state.locals):
            if key is None or self._step(state, process) == END:
                continue
            if state.asleep[process] is None:
                yield self._stepped(state, process)
            elif self._step(state, process)[-1] == BLOCKED_WAIT_NS:
                yield self._woken(state, process)
            if process in self.mortal and process not in state.deaths:
                yield self._killed(state, process)

    def timeouts(self, state: State) -> State:
        """Every sleeper looks again, one after the other, and does what it then can."""
        for process in range(len(state.locals)):
            if state.asleep[process] is not None:
                state = self._woken(state, process)
            steps = 0
            while self.runs(state, process):
                state = self._stepped(state, process)
                steps += 1
                assert steps < FOR_EVER, "it runs for ever"
        return state

    def runs(self, state: State, process: int) -> bool:
        alive = state.locals[process] is not None and state.asleep[process] is None
        return alive and self._step(state, process) != END

    def ended(self, state: State, process: int) -> bool:
        return state.locals[process] is not None and self._step(state, process) == END

    def word(self, state: State, address: int) -> int:
        return state.memory[self._index[address]]

    def _step(self, state: State, process: int) -> Step:
        key = state.locals[process]
        assert key is not None
        return self.programs[process].pending[key]

    def _killed(self, state: State, process: int) -> State:
        """A dead consumer is followed by another, which starts from the beginning."""
        again = self.programs[CONSUMER].first() if process == CONSUMER else None
        return state._replace(
            locals=_with(state.locals, process, again),
            asleep=_with(state.asleep, process, None),
            deaths=tuple(sorted((*state.deaths, process))),
        )

    def _woken(self, state: State, process: int) -> State:
        key = state.locals[process]
        assert key is not None
        return state._replace(
            locals=_with(state.locals, process, self.programs[process].next(key, 0)),
            asleep=_with(state.asleep, process, None),
        )

    def _stepped(self, state: State, process: int) -> State:
        state = self._one(state, process)
        while self.runs(state, process) and self._unseen(self._step(state, process), process):
            state = self._one(state, process)
        return state

    def _unseen(self, step: Step, process: int) -> bool:
        """Whether it makes no difference to anybody when it is done.

        A producer fills what only it may touch. READ and RELEASING are the consumer's alone.
        """
        name, address = step[0], step[1]
        if name in ("get", "lives") or FOUND <= address < FOUND_END:
            return True
        if process == CONSUMER:
            return (name == "load" and address == READ) or (
                address == RELEASING and CONSUMER not in self.mortal
            )
        return name in ("put", "copy")

    def _one(self, state: State, process: int) -> State:
        name, address, *given = self._step(state, process)
        where = self._index.get(address)
        old = state.memory[where] if where is not None else 0
        new, result, got = old, old, state.got
        if name in ("store", "put", "swap"):
            new = given[0]
            if process == CONSUMER and name == "put" and address in self._heads:
                got = self._got(state, address, new)
        elif name == "add":
            new = (old + given[0]) % BELLS_COUNT_TO
        elif name == "cas":
            result = int(old == given[0])
            new = given[1] if result else old
        elif name == "copy":
            for unit in range(address, address + given[1], UNIT):
                state = state._replace(memory=_with(state.memory, self._index[unit], JUNK))
            result = 0
        elif name == "lives":
            result = int(address not in state.deaths)
        elif (name == "wait" and old == given[0]) or (name == "listen" and old == 0):
            return state._replace(asleep=_with(state.asleep, process, address))
        elif name == "listen":
            new = 0
        elif name in ("wake", "knock"):
            sleepers = [one for one, word in enumerate(state.asleep) if word == address]
            for sleeper in sleepers:
                state = self._woken(state, sleeper)
            # Who is woken takes the byte out.
            if name == "knock":
                new = int(not sleepers)
        if name in ("store", "put", "add", "wait", "wake", "listen", "knock"):
            result = 0
        memory, keys, asleep, _, deaths = state
        if new != old and where is not None:
            memory = _with(memory, where, new)
        key = keys[process]
        assert key is not None
        following = self.programs[process].next(key, result)
        return State(memory, _with(keys, process, following), asleep, got, deaths)

    def _got(self, state: State, address: int, claim: int) -> tuple[int, ...]:
        if claim & STATUS_MASK != HAS_READ:
            return state.got
        number = self.word(state, address + TARGET)
        (mine,) = [messages for messages in self.sends if any(m.number == number for m in messages)]
        before = [message.number for message in mine if message.number < number]
        assert number not in state.got, f"{number} came twice"
        came = [other for other in state.got if other > number and Send(other) in mine]
        assert not came, f"{number} came after {came}"
        assert all(other in state.got for other in before), f"{number} came before {before}"
        return tuple(sorted((*state.got, number)))


def _with(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])
