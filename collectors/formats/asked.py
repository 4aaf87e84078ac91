"""The frame's section on control: what was asked of the job, and where that stands.

varint    version                    of the control document that the collector heard
byte      1 if every JVM holds it
varint    number of techniques that are not off, then each
  text      name
  text      mode
  byte      state                    `State`
  varint    version                  of the document, at the technique's last change
  text      because
"""

from dataclasses import dataclass
from enum import IntEnum

from collectors.formats.codec import Garbled, Reader, Writer


class State(IntEnum):
    """Where a technique stands on its way into the running job."""

    ASKED = 0
    APPLIED = 1
    REFUSED = 2
    LAPSED = 3


@dataclass(frozen=True)
class Applied:
    technique: str
    mode: str
    state: State
    version: int
    because: str = ""


@dataclass(frozen=True)
class Asked:
    """`settled` once every JVM holds what this version asks."""

    version: int
    settled: bool
    techniques: tuple[Applied, ...] = ()


def write(out: Writer, asked: Asked) -> None:
    out.varint(asked.version)
    out.byte(asked.settled)
    out.varint(len(asked.techniques))
    for each in asked.techniques:
        out.text(each.technique)
        out.text(each.mode)
        out.byte(each.state)
        out.varint(each.version)
        out.text(each.because)


def read(reader: Reader) -> Asked:
    return Asked(
        version=reader.varint(),
        settled=bool(reader.byte()),
        techniques=tuple(
            Applied(reader.text(), reader.text(), _state(reader), reader.varint(), reader.text())
            for _ in range(reader.varint())
        ),
    )


def _state(reader: Reader) -> State:
    number = reader.byte()
    try:
        return State(number)
    except ValueError:
        raise Garbled(f"a technique in state {number}") from None
