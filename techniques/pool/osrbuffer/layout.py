"""The bytes of an OSRBuffer: one file, mapped by every producer and the one consumer.

Beside it lies a named pipe, its name with `.bell`, on which the consumer sleeps.

TurboStream (Wu et al., ICDCS'18), section IV, with the writer's process in the head. All numbers
are 64-bit little-endian, aligned; "word" is one of them.

The first page is the header. What different processes write lies on cache lines of its own.

    offset  name        what it is
         0  MAGIC       which file this is, and the version of this layout
         8  CAPACITY    units of the data area
        16  UNIT_BYTES  what a slot's size is counted in: a power of two, 64 bytes at least
        64  WRITE       position of the next slot; producers advance it by compare-and-swap
       128  READ        the left edge of the consumer's window: before it, all is free again
       136  RELEASING   what READ is about to become, while slots are made free
       144  CONSUMER    the consumer's process, as in a claim
       200  LISTENING   1 while the consumer is about to sleep or sleeps
       256  ROOM        raised for producers that wait for room (futex: its lower half)
       264  WANTED      1 while a producer is about to wait for room or waits
       320  SKIPPED     messages given up because their writer died
       328  GARBAGE     slots given up because their bytes made no sense

Then the data area: CAPACITY units. A *position* counts units since the ring was made and is never
reset; position p is unit p mod CAPACITY of lap p div CAPACITY. A slot starts at a unit's beginning
and takes whole units. Its first 64 bytes are the head:

    offset  name     what it is
         0  claim    the claim word, below
         8  length   bytes of the body
        16  target   the task the message is for
        24  check    position, length and target folded together

The claim word is the only one that producers and consumer both change:

    bits 0-3    status: FREE, IS_WRITING, IS_READY, HAS_READ, FLUSH (nothing up to the lap's end)
                or OTHER (given up: its writer died, or its bytes were garbage)
    bits 4-23   the slot's units
    bits 24-45  the writer's pid
    bits 46-62  the writer's start time in clock ticks, its lower bits, against a pid used again

and while FREE it holds nothing but the lap (bits 4-62) for which the unit is free. Every unit has
one, as a slot may start at any unit; so a file of zeros is an empty ring, and a producer that slept
through a lap cannot claim what is no longer at the write position.
"""

MAGIC_VALUE = 0x0002_52_53_4F_4C_54_43  # "CTLOSR" and version 2

PAGE_BYTES = 4096
MAGIC, CAPACITY, UNIT_BYTES = 0, 8, 16
WRITE = 64
READ, RELEASING, CONSUMER = 128, 136, 144
LISTENING = 200
ROOM, WANTED = 256, 264
SKIPPED, GARBAGE = 320, 328

HEAD_BYTES = 64
LENGTH, TARGET, CHECK = 8, 16, 24

FREE, IS_WRITING, IS_READY, HAS_READ, FLUSH, OTHER = range(6)

STATUS_BITS, UNITS_BITS, PID_BITS, START_BITS = 4, 20, 22, 17
STATUS_MASK = (1 << STATUS_BITS) - 1
UNITS_MASK = (1 << UNITS_BITS) - 1
PID_MASK = (1 << PID_BITS) - 1
START_MASK = (1 << START_BITS) - 1
WRITER_SHIFT = STATUS_BITS + UNITS_BITS
CHECK_SALT = 0x3C6E_F372_FE94_F82B

# The state a process passes to its compiled code: words in its own memory, not shared.
MY_BASE, MY_CAPACITY, MY_UNIT, MY_WRITER, MY_SPIN_NS, MY_BELL = range(0, 48, 8)
MY_SCRATCH, MY_SCRATCH_BYTES, MY_CLOCK = 48, 56, 64
MY_WORDS = 9
# How often a sleeping consumer wakes up to look, without being woken.
CLOCK_NS = 50_000_000
# The fields of `found`, by which compiled code describes a message to the consumer.
FOUND_AT, FOUND_LENGTH, FOUND_TARGET, FOUND_WIDE, FOUND_CLAIM = range(0, 40, 8)
FOUND_WORDS = 5

# Results that are not a position.
NO_ROOM, NOTHING, BLOCKED, BROKEN, LOST, HELD = range(-1, -7, -1)

# A unit's word is written once a lap: large slots should have few units, small ones little waste.
SMALLEST_UNIT_BYTES, LARGEST_UNIT_BYTES = 64, 4096
UNITS_AIMED_AT = 16_384


def unit_bytes(capacity_bytes: int) -> int:
    unit = SMALLEST_UNIT_BYTES
    while unit < LARGEST_UNIT_BYTES and capacity_bytes // unit > UNITS_AIMED_AT:
        unit *= 2
    while capacity_bytes // unit > UNITS_MASK:
        unit *= 2
    return unit


def units(body_bytes: int, unit: int) -> int:
    """Returns the number of units of a slot with a body of this size."""
    return -(-(HEAD_BYTES + body_bytes) // unit)
