"""Which of Spark's sinks stand two attempts of a task that writes to them.

A sink is known by its description in Spark's progress events: its `toString`, which is the name of
its class with an address where it has none of its own. The user's driver imports this as well.
"""

import re

# In all of these a task only prepares what it writes, and the driver publishes once per batch what
# the attempt that succeeded sent it: Spark takes one result per partition and kills or ignores the
# other attempt (`TaskSetManager.handleSuccessfulTask`, `DAGScheduler.handleTaskCompletion`).
_CLASS = r"(org\.apache\.spark\.sql\.[\w.]+\.)?{}\$?(@[0-9a-f]+)?"
_SAFE = tuple(
    re.compile(pattern)
    for pattern in (
        # Writes nothing (`NoopStreamingWrite`).
        _CLASS.format("NoopTable"),
        # Rows go to the driver in the commit message and are printed there (`ConsoleWrite.commit`).
        _CLASS.format("ConsoleTable"),
        # Rows go to the driver in the commit message and are kept there (`MemorySink.write`).
        _CLASS.format("MemorySink"),
        # Each attempt writes files with random names; the manifest `_spark_metadata` lists those of
        # the attempts that succeeded (`ManifestFileCommitProtocol`), and Spark's documentation
        # calls the sink exactly-once. A reader that lists the folder instead of the manifest may
        # see a file of the other attempt, as it may after any task that is tried again.
        r"FileSink\[.*\]",
        # As the file sink, with Delta's log for a manifest (`DelayedCommitProtocol`), and a
        # transaction per query and batch.
        r"DeltaSink\[.*\]",
    )
)

# Why not, for those of which that is known. Spark's documentation calls all three at-least-once.
_HARMED = (
    # Tasks send records while they run (`KafkaRowWriter.sendRow`), without transactions.
    (re.compile(r".*\bKafka(SourceProvider\$Kafka)?(Table|Sink)\b.*"), "Kafka would keep both"),
    # The user's function runs jobs of its own, with effects that nobody else knows.
    (re.compile(r"ForeachBatchSink"), "it would run twice"),
    # The user's writer is called for each row of each attempt (`ForeachDataWriter`).
    (re.compile(r"ForeachWriterTable\b.*|ForeachSink"), "its writer would be called twice"),
)


def harm(description: str) -> str | None:
    """Returns what would go wrong if a task that writes to this sink ran twice; None if nothing
    would. A sink that is not known counts as one that is harmed."""
    if any(pattern.fullmatch(description) for pattern in _SAFE):
        return None
    for pattern, why in _HARMED:
        if pattern.fullmatch(description):
            return why
    return "whether it may be written twice is not known"


def name(description: str) -> str:
    """The sink as a person calls it: without the package, the address and what is in brackets."""
    bare = re.split(r"[\[(@]", description, maxsplit=1)[0].rstrip("$")
    return re.split(r"[.$]", bare)[-1][:60] or "a sink that is not known"
