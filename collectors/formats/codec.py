"""The encoding under all our formats: LEB128 integers and length-prefixed byte strings."""

import re
from functools import lru_cache
from uuid import UUID


class Garbled(ValueError):
    """The bytes are not in the format that is expected here."""


def _zigzag(value: int) -> int:
    """Maps signed to unsigned so that small numbers of either sign stay short."""
    return value << 1 if value >= 0 else (-value << 1) - 1


def _unzigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


def _value(integer: bytes) -> int:
    length = len(integer)
    if length < 3:  # as most are
        return integer[0] if length == 1 else integer[0] & 0x7F | integer[1] << 7
    if length > Reader.MAX_VARINT_BYTES:
        raise Garbled("an integer that does not end")
    value = 0
    for place, byte in enumerate(integer):
        value |= (byte & 0x7F) << (7 * place)
    return value


# Every byte of an integer but the last has its high bit set.
_INTEGER = rb"[\x80-\xff]*+[\x00-\x7f]"


@lru_cache(maxsize=4096)
def _integers(count: int, places: tuple[int, ...]) -> re.Pattern[bytes]:
    """A pattern for `count` integers with a group for each of `places`: skips at the speed of C."""
    pattern, after = b"", 0
    for place in places:
        pattern += b"(?:%b){%d}(%b)" % (_INTEGER, place - after, _INTEGER)
        after = place + 1
    return re.compile(pattern + b"(?:%b){%d}" % (_INTEGER, count - after))


@lru_cache(maxsize=4096)
def _uuid(data: bytes) -> UUID:
    # One run has thousands of frames.
    return UUID(bytes=data)


class Writer:
    def __init__(self) -> None:
        self._out = bytearray()

    def byte(self, value: int) -> None:
        self._out.append(value)

    def varint(self, value: int) -> None:
        out = self._out
        if 0 <= value < 0x80:  # as most are
            out.append(value)
            return
        if value < 0:
            raise ValueError(f"{value} is negative: only counts and times go on the wire")
        while value > 0x7F:
            out.append((value & 0x7F) | 0x80)
            value >>= 7
        out.append(value)

    def signed(self, value: int) -> None:
        self.varint(_zigzag(value))

    def blob(self, value: bytes) -> None:
        self.varint(len(value))
        self._out += value

    def optional(self, value: int | None) -> None:
        """Writes one more than the value; 0 stands for None."""
        self.varint(0 if value is None else value + 1)

    def optional_signed(self, value: int | None) -> None:
        self.optional(None if value is None else _zigzag(value))

    def text(self, value: str) -> None:
        self.blob(value.encode())

    def uuid(self, value: UUID) -> None:
        self._out += value.bytes

    def bytes(self) -> bytes:
        return bytes(self._out)


class Reader:
    """Reads what `Writer` wrote; anything else raises `Garbled`, never an index error."""

    # Ten groups of seven bits hold 64 bits; more can only be garbage.
    MAX_VARINT_BYTES = 10

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def byte(self) -> int:
        try:
            byte = self._data[self._at]
        except IndexError:
            raise Garbled("1 byte expected, none left") from None
        self._at += 1
        return byte

    def varint(self) -> int:
        # Most decoding time is spent here: hence no calls, and short integers are tried first.
        data, start = self._data, self._at
        try:
            value = data[start]
            if value < 0x80:
                self._at = start + 1
                return value
            value &= 0x7F
            for place in range(1, self.MAX_VARINT_BYTES):
                byte = data[start + place]
                value |= (byte & 0x7F) << (7 * place)
                if byte < 0x80:
                    self._at = start + place + 1
                    return value
        except IndexError:
            raise Garbled("an integer that is cut off") from None
        raise Garbled("an integer that does not end")

    def varints(self, count: int) -> list[int]:
        """Reads many at once: a histogram is nearly all integers, most of them of one byte."""
        found: list[int] = []
        value = shift = read = 0
        for byte in self._data[self._at : self._at + count * self.MAX_VARINT_BYTES]:
            read += 1
            if byte > 0x7F:
                value |= (byte & 0x7F) << shift
                shift += 7
                if shift == 7 * self.MAX_VARINT_BYTES:
                    break
            else:
                found.append(value | byte << shift)
                if len(found) == count:
                    break
                value = shift = 0
        if len(found) < count:
            raise Garbled("an integer that does not end")
        self._at += read
        return found

    def picked(self, count: int, places: tuple[int, ...]) -> list[int]:
        """Reads the next `count` integers and returns those at `places` (ascending). The others are
        skipped without being decoded, however long they are."""
        found = _integers(count, places).match(self._data, self._at)
        if not found:
            raise Garbled("an integer that does not end")
        self._at = found.end()
        return [_value(integer) for integer in found.groups()]

    def rest(self) -> bytes:
        """Returns the bytes that are left without consuming them."""
        return self._data[self._at :] if self._at else self._data

    def skip(self, length: int) -> None:
        self._take(length)

    def tagged(self) -> dict[int, bytes]:
        """Reads everything that is left: byte strings, each preceded by a one-byte tag."""
        data, end = self._data, len(self._data)
        found: dict[int, bytes] = {}
        while (at := self._at) < end:
            tag = data[at]
            self._at = at + 1
            length = self.varint()
            start = self._at
            if length > end - start:
                raise Garbled(f"{length} bytes expected, {end - start} left")
            self._at = start + length
            found[tag] = data[start : self._at]
        return found

    def signed(self) -> int:
        return _unzigzag(self.varint())

    def blob(self) -> bytes:
        return self._take(self.varint())

    def optional(self) -> int | None:
        value = self.varint()
        return value - 1 if value else None

    def optional_signeds(self, count: int) -> list[int | None]:
        return [_unzigzag(value - 1) if value else None for value in self.varints(count)]

    def picked_signeds(self, count: int, places: tuple[int, ...]) -> list[int | None]:
        # Inlined: twice as fast as calling the method that does the same.
        return [
            (value - 1 >> 1) ^ -(value - 1 & 1) if value else None
            for value in self.picked(count, places)
        ]

    def text(self) -> str:
        if not (length := self.varint()):
            return ""
        try:
            return self._take(length).decode()
        except UnicodeDecodeError as error:
            raise Garbled(f"text that is not UTF-8: {error}") from error

    def uuid(self) -> UUID:
        return _uuid(self._take(16))

    def _take(self, length: int) -> bytes:
        if length > self.left:
            raise Garbled(f"{length} bytes expected, {self.left} left")
        taken = self._data[self._at : self._at + length]
        self._at += length
        return taken
