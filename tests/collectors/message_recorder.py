"""Records in a file what the probe sends: stands where the collector does, on the same pipe."""

import sys
from pathlib import Path

from collectors.formats import parts
from collectors.formats.parts import Part
from collectors.process.link import Inbox, Message, MessageKind

RECORDER = """#!{python}
import os
with open({kept!r}, "ab", buffering=0) as kept:
    while data := os.read(0, 1 << 16):
        kept.write(data)
"""


class MessageRecorder:
    def __init__(self, folder: Path) -> None:
        self._kept = folder / "kept"
        self._program = folder / "recorder"
        self._program.write_text(RECORDER.format(python=sys.executable, kept=str(self._kept)))
        self._program.chmod(0o755)

    @property
    def options(self) -> dict[str, str]:
        """For the Spark session: the recorder in the collector's place."""
        return {"spark.curtail.python": str(self._program)}

    def messages(self, kind: MessageKind) -> list[Message]:
        """All so far, but for a last one that is half written."""
        if not self._kept.exists():
            return []
        kept = Inbox().messages(self._kept.read_bytes())
        return [message for message in kept if message.kind == kind]

    def parts(self) -> list[Part]:
        return [parts.decode(message.payload) for message in self.messages(MessageKind.PART)]
