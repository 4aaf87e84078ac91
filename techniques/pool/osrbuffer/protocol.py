"""The protocol of the ring, as steps on shared words: compiled by Numba, explored by a model.

Every call of a name from `atomics` is one step; between two steps any other process may do any
number of its own, or this one may die. The functions are plain Python over integers, so that the
same source is compiled (`build.py`) and walked step by step through all interleavings
(`tests/techniques/pool/osrbuffer/model.py`). For that, all that a function knows is in its
variables: loops are `while`, and no expression holds one step's result while it takes the next.

**A producer** claims the slot at WRITE by compare-and-swap on its claim word, FREE to IS_WRITING.
That one step reserves the space and records its size and its writer, so there is no moment at which
space is taken by an unknown process. Then WRITE is advanced; a producer that finds a claim at WRITE
(whose writer died, or is slow) advances it for that writer. The producer fills the slot, and
IS_WRITING becomes IS_READY.

**The consumer** looks from READ on for the first IS_READY, past what is IS_WRITING: that is the
window. It copies the body, sets HAS_READ, and then moves READ over all finished slots at the left
edge: writes RELEASING, gives every unit its next lap, writes READ. If it dies in between, the
next consumer does it again from RELEASING.

**Sleeping.** A process that wants to sleep sets a flag, looks once more and then sleeps; a process
that changes something checks the flag and wakes the sleeper. Producers sleep on a futex with the
value it had before they looked. The consumer sleeps on a pipe, where a byte written too early is
not lost. Besides, the kernel expects a pipe's writer to sleep soon and lets the reader run in its
place, rather than wake an idle processor for it. If a process dies between its change and the
wake-up, the sleeper wakes at its timeout.
"""

from techniques.pool.osrbuffer.atomics import (
    add,
    cas,
    copy,
    get,
    knock,
    listen,
    load,
    now_ns,
    put,
    store,
    swap,
    wait,
    wake,
)
from techniques.pool.osrbuffer.layout import (
    BLOCKED,
    BROKEN,
    CHECK,
    CHECK_SALT,
    FLUSH,
    FOUND_AT,
    FOUND_CLAIM,
    FOUND_LENGTH,
    FOUND_TARGET,
    FOUND_WIDE,
    FREE,
    GARBAGE,
    HAS_READ,
    HEAD_BYTES,
    HELD,
    IS_READY,
    IS_WRITING,
    LENGTH,
    LISTENING,
    LOST,
    MY_BASE,
    MY_BELL,
    MY_CAPACITY,
    MY_CLOCK,
    MY_SCRATCH,
    MY_SCRATCH_BYTES,
    MY_SPIN_NS,
    MY_UNIT,
    MY_WRITER,
    NO_ROOM,
    NOTHING,
    OTHER,
    PAGE_BYTES,
    READ,
    RELEASING,
    ROOM,
    SKIPPED,
    STATUS_BITS,
    STATUS_MASK,
    TARGET,
    UNITS_MASK,
    WANTED,
    WRITE,
    WRITER_SHIFT,
)

# How long the consumer sleeps while all messages are still being written, before it checks that
# their writers live.
BLOCKED_WAIT_NS = 2_000_000


def slot(me: int, at: int) -> int:
    """Returns the address of the unit at a position."""
    return get(me + MY_BASE) + PAGE_BYTES + at % get(me + MY_CAPACITY) * get(me + MY_UNIT)


def free_word(me: int, at: int) -> int:
    return at // get(me + MY_CAPACITY) << STATUS_BITS


def claim_word(status: int, units: int, writer: int) -> int:
    return status | units << STATUS_BITS | writer << WRITER_SHIFT


def units_of(claim: int) -> int:
    return claim >> STATUS_BITS & UNITS_MASK


def is_claim(me: int, at: int, claim: int) -> bool:
    """Whether a word makes sense as the claim of a slot at this position."""
    status = claim & STATUS_MASK
    capacity = get(me + MY_CAPACITY)
    return FREE < status <= OTHER and 1 <= units_of(claim) <= capacity - at % capacity


def check_of(at: int, length: int, target: int) -> int:
    return (at ^ length << 20 ^ target << 40) ^ CHECK_SALT


# ---- producers --------------------------------------------------------------------------------


def reserve(me: int, units: int) -> int:
    """Claims a slot; returns its position or NO_ROOM. Writes a flush marker at a lap's end."""
    base = get(me + MY_BASE)
    capacity = get(me + MY_CAPACITY)
    while True:
        at = load(base + WRITE)
        free_to = load(base + READ) + capacity
        rest = capacity - at % capacity
        status, size = IS_WRITING, units
        if units > rest:
            status, size = FLUSH, rest
        if at + size > free_to:
            return NO_ROOM
        mine = claim_word(status, size, get(me + MY_WRITER))
        if cas(slot(me, at), free_word(me, at), mine):
            cas(base + WRITE, at, at + size)
            if status == IS_WRITING:
                return at
        else:
            pass_by(me, at)


def pass_by(me: int, at: int) -> None:
    """The slot at WRITE is not free: advances WRITE for its owner, or repairs the word."""
    base = get(me + MY_BASE)
    claim = load(slot(me, at))
    if claim == free_word(me, at):
        return
    if is_claim(me, at, claim):
        cas(base + WRITE, at, at + units_of(claim))
    elif load(base + WRITE) == at and cas(slot(me, at), claim, free_word(me, at)):
        add(base + GARBAGE, 1)


def fill(me: int, at: int, target: int, length: int, body: int, parts: int, count: int) -> None:
    """Writes head and body: from one address, or from `count` pairs of address and length."""
    head = slot(me, at)
    put(head + LENGTH, length)
    put(head + TARGET, target)
    put(head + CHECK, check_of(at, length, target))
    to = head + HEAD_BYTES
    if count == 0:
        copy(to, body, length)
    part = 0
    while part < count:
        size = get(parts + 16 * part + 8)
        copy(to, get(parts + 16 * part), size)
        to += size
        part += 1


def publish(me: int, at: int, units: int) -> int:
    base = get(me + MY_BASE)
    writer = get(me + MY_WRITER)
    before = claim_word(IS_WRITING, units, writer)
    if not cas(slot(me, at), before, claim_word(IS_READY, units, writer)):
        return LOST
    if load(base + LISTENING) == 1 and swap(base + LISTENING, 0) == 1:
        knock(get(me + MY_BELL))
    return at


def send(
    me: int,
    target: int,
    length: int,
    body: int,
    parts: int,
    count: int,
    units: int,
    wait_ns: int,
) -> int:
    """Sends one message; returns its position, or NO_ROOM after `wait_ns`, or LOST."""
    at = reserve(me, units)
    if at == NO_ROOM:
        at = reserve_later(me, units, wait_ns)
    if at < 0:
        return at
    fill(me, at, target, length, body, parts, count)
    return publish(me, at, units)


def send_now(me: int, target: int, length: int, body: int) -> int:
    """Sends one message of one part without waiting for room."""
    unit = get(me + MY_UNIT)
    units = (HEAD_BYTES + length + unit - 1) // unit
    at = reserve(me, units)
    if at < 0:
        return at
    fill(me, at, target, length, body, 0, 0)
    return publish(me, at, units)


def reserve_later(me: int, units: int, wait_ns: int) -> int:
    base = get(me + MY_BASE)
    until_ns = now_ns(0) + wait_ns
    while True:
        seen = load(base + ROOM)
        store(base + WANTED, 1)
        at = reserve(me, units)
        left_ns = until_ns - now_ns(0)
        if at >= 0 or left_ns <= 0:
            return at
        wait(base + ROOM, seen, left_ns)


# ---- the consumer -----------------------------------------------------------------------------


def find(me: int, found: int) -> int:
    """Returns the position of the first message that is ready; or NOTHING, BLOCKED or BROKEN.

    If the search passed a message being written, it looks a second time from there: that message
    may have become ready, and the same producer's next one been sent, after the search passed.
    """
    base = get(me + MY_BASE)
    capacity = get(me + MY_CAPACITY)
    left = load(base + READ)
    at = left
    end = left + capacity
    passed = -1
    again = False
    while at < end:
        claim = load(slot(me, at))
        if claim == free_word(me, at):
            if at >= load(base + WRITE):
                break
            # Every slot before WRITE was claimed before WRITE was advanced over it.
            claim = load(slot(me, at))
        if not is_claim(me, at, claim):
            put(found + FOUND_AT, at)
            put(found + FOUND_CLAIM, claim)
            return BROKEN
        status = claim & STATUS_MASK
        if status == IS_READY:
            if passed < 0 or again:
                put(found + FOUND_WIDE, at - left if passed >= 0 else 0)
                return at
            at = passed
            again = True
        else:
            if status == IS_WRITING and passed < 0:
                passed = at
            at += units_of(claim)
    return NOTHING if passed < 0 else BLOCKED


def told(me: int, at: int, found: int) -> int:
    """Describes the message in `found`; returns its position, or BROKEN if the head is wrong."""
    if at < 0:
        return at
    head = slot(me, at)
    length = get(head + LENGTH)
    target = get(head + TARGET)
    claim = load(head)
    room = units_of(claim) * get(me + MY_UNIT) - HEAD_BYTES
    put(found + FOUND_AT, at)
    put(found + FOUND_LENGTH, length)
    put(found + FOUND_TARGET, target)
    if get(head + CHECK) == check_of(at, length, target) and 0 <= length <= room:
        return at
    put(found + FOUND_CLAIM, claim)
    return BROKEN


def taken(me: int, at: int, found: int) -> int:
    """Takes the message at a position: returns its length if it was copied and released, or HELD.

    A small message is copied here. A large one is left to the caller, and so are all while the
    window spans more than half of the ring.
    """
    at = told(me, at, found)
    if at < 0:
        return at
    length = get(found + FOUND_LENGTH)
    if length > get(me + MY_SCRATCH_BYTES):
        return HELD
    if 2 * get(found + FOUND_WIDE) > get(me + MY_CAPACITY):
        return HELD
    copy(get(me + MY_SCRATCH), slot(me, at) + HEAD_BYTES, length)
    done(me, at)
    return length


def receive(me: int, found: int, wait_ns: int) -> int:
    """Waits for a message and takes it as `taken` does; one that is HELD stays until `done`.

    Returns BLOCKED before `wait_ns`, so that the caller can check that the writers still live.
    """
    base = get(me + MY_BASE)
    began_ns = now_ns(0)
    while True:
        at = taken(me, find(me, found), found)
        if at != NOTHING and at != BLOCKED:
            return at
        advance(me, True)
        waited_ns = now_ns(0) - began_ns
        if waited_ns >= wait_ns:
            return at
        if waited_ns < get(me + MY_SPIN_NS):
            continue
        store(base + LISTENING, 1)
        at = find(me, found)
        if at == NOTHING:
            listen(get(me + MY_BELL), get(me + MY_CLOCK), wait_ns - waited_ns)
        elif at == BLOCKED:
            left_ns = min(wait_ns - waited_ns, BLOCKED_WAIT_NS)
            listen(get(me + MY_BELL), get(me + MY_CLOCK), left_ns)
            store(base + LISTENING, 0)
            return taken(me, find(me, found), found)
        store(base + LISTENING, 0)


def done(me: int, at: int) -> int:
    """Marks a message as read; its slot becomes free as soon as all slots before it are."""
    head = slot(me, at)
    claim = load(head)
    put(head, claim & ~STATUS_MASK | HAS_READ)
    return advance(me, False)


def advance(me: int, idle: bool) -> int:
    """Moves READ over the finished slots at the left edge, and wakes producers."""
    base = get(me + MY_BASE)
    capacity = get(me + MY_CAPACITY)
    left = load(base + READ)
    at = left
    while at < left + capacity:
        claim = load(slot(me, at))
        status = claim & STATUS_MASK
        if status in (FREE, IS_WRITING, IS_READY):
            break
        if not is_claim(me, at, claim):
            break
        at += units_of(claim)
    if at > left:
        release(me, left, at)
    # Waking a producer for every slot would cost both sides more than the message itself.
    if load(base + WANTED) == 1:
        taken = load(base + WRITE) - at
        if (idle or 2 * taken <= capacity) and swap(base + WANTED, 0) == 1:
            add(base + ROOM, 1)
            wake(base + ROOM, UNITS_MASK)
    return at - left


def release(me: int, left: int, to: int) -> None:
    """Makes slots free for the next lap. Idempotent."""
    base = get(me + MY_BASE)
    store(base + RELEASING, to)
    # A producer may have died, or be asleep, between its claim and advancing WRITE.
    write = load(base + WRITE)
    while write < to:
        cas(base + WRITE, write, to)
        write = load(base + WRITE)
    at = left
    while at < to:
        put(slot(me, at), free_word(me, at + get(me + MY_CAPACITY)))
        at += 1
    store(base + READ, to)


def resume(me: int) -> int:
    """Completes a release that the previous consumer had begun when it died."""
    base = get(me + MY_BASE)
    left = load(base + READ)
    to = load(base + RELEASING)
    if left < to <= left + get(me + MY_CAPACITY):
        release(me, left, to)
    return advance(me, True)


def unfinished(me: int, after: int, found: int) -> int:
    """Returns the first position after `after` still being written; puts its claim in `found`."""
    base = get(me + MY_BASE)
    at = load(base + READ)
    end = at + get(me + MY_CAPACITY)
    while at < end:
        claim = load(slot(me, at))
        if not is_claim(me, at, claim):
            break
        if claim & STATUS_MASK == IS_WRITING and at > after:
            put(found + FOUND_CLAIM, claim)
            return at
        at += units_of(claim)
    return NOTHING


def give_up(me: int, at: int, claim: int) -> int:
    """Skips a slot whose writer is dead; returns its units, or 0 if it became ready after all."""
    if not leads_to_write(me, at + units_of(claim)):
        return mend(me, at, claim)
    if not cas(slot(me, at), claim, claim & ~STATUS_MASK | OTHER):
        return 0
    add(get(me + MY_BASE) + SKIPPED, 1)
    advance(me, True)
    return units_of(claim)


def mend(me: int, at: int, claim: int) -> int:
    """Skips garbage, up to the next position from which all slots up to WRITE are valid."""
    base = get(me + MY_BASE)
    capacity = get(me + MY_CAPACITY)
    sensible = is_claim(me, at, claim)
    if load(base + WRITE) <= at:
        if not sensible:
            if cas(slot(me, at), claim, free_word(me, at)):
                add(base + GARBAGE, 1)
            return 0
        cas(base + WRITE, at, at + units_of(claim))
    to = at + 1
    if sensible and leads_to_write(me, at + units_of(claim)):
        to = at + units_of(claim)
    while to % capacity != 0 and not leads_to_write(me, to):
        to += 1
    if not cas(slot(me, at), claim, claim_word(OTHER, to - at, 0)):
        return 0
    add(base + GARBAGE, 1)
    advance(me, True)
    return to - at


def leads_to_write(me: int, at: int) -> bool:
    write = load(get(me + MY_BASE) + WRITE)
    while at < write:
        claim = load(slot(me, at))
        if not is_claim(me, at, claim):
            return False
        at += units_of(claim)
    return at >= write


def depth(me: int) -> int:
    """Returns how many messages are ready or being written; approximate while others are taken."""
    base = get(me + MY_BASE)
    at = load(base + READ)
    write = load(base + WRITE)
    messages = 0
    while at < write:
        claim = load(slot(me, at))
        if not is_claim(me, at, claim):
            break
        status = claim & STATUS_MASK
        if status in (IS_WRITING, IS_READY):
            messages += 1
        at += units_of(claim)
    return messages
