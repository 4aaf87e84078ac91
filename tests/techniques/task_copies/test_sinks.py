"""Which sinks stand two attempts, by what Spark calls them; on a running Spark, see
`test_sinks_on_spark.py`."""

import pytest

from techniques.task_copies import sinks


@pytest.mark.parametrize(
    "description",
    [
        "NoopTable",
        "org.apache.spark.sql.execution.datasources.noop.NoopTable$@1b2c3d",
        "org.apache.spark.sql.execution.streaming.ConsoleTable$@514ba885",
        "MemorySink",
        "FileSink[/data/out]",
        "FileSink[s3a://a/[odd] (name)@b]",
        "DeltaSink[/data/table]",
    ],
)
def test_a_sink_whose_driver_publishes_once_stands_two_attempts(description: str) -> None:
    assert sinks.harm(description) is None


@pytest.mark.parametrize(
    ("description", "why"),
    [
        ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@6f3f0fae", "keep both"),
        ("KafkaSink", "keep both"),
        ("ForeachBatchSink", "run twice"),
        ("ForeachWriterTable(org.acme.Writer@1,Left(class[value[0]: string]))", "called twice"),
        ("org.acme.MemorySink@1b2c3d", "not known"),
        ("MemorySink and more", "not known"),
        ("org.apache.spark.sql.execution.datasources.v2.python.PythonTable@1", "not known"),
        ("", "not known"),
    ],
)
def test_of_any_other_it_is_said_why_not(description: str, why: str) -> None:
    harm = sinks.harm(description)
    assert harm is not None
    assert why in harm


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("FileSink[/data/out.d]", "FileSink"),
        ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@6f3f0fae", "KafkaTable"),
        ("org.apache.spark.sql.execution.streaming.ConsoleTable$@514ba885", "ConsoleTable"),
        ("ForeachWriterTable(org.acme.Writer@1,Left(x))", "ForeachWriterTable"),
        ("", "a sink that is not known"),
        ("x" * 1_000, "x" * 60),
    ],
)
def test_a_sink_has_a_short_name(description: str, name: str) -> None:
    assert sinks.name(description) == name
