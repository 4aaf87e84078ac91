package io.curtail.probe

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8

/** What the driver's JVM tells the collector process; the numbers are in collectors/process/link.py too. */
object MessageKind {
  val Foreign = 0
  val Hello = 1
  val Part = 2
  val QueryStarted = 3
  val QueryProgress = 4
  val QueryTerminated = 5
  val LinkLoss = 6
  val Tasks = 7
  val Executors = 8
  val Traffic = 9
}

/** One executor's share of one window. Layout: collectors/formats/parts.py, whose tests pin these bytes. */
object Part {
  val Version = 7

  def encode(
      window: Long,
      executorId: String,
      host: String,
      losses: Losses,
      metrics: Seq[Metric],
      latencies: Seq[WindowCounts],
      tasks: Seq[TaskLatencies],
      events: Seq[Event],
      pools: Seq[PoolSample]): Array[Byte] = {
    val out = new Bytes
    out.byte(Version)
    out.varint(window)
    out.text(executorId)
    out.text(host)
    out.varint(losses.records)
    out.varint(losses.parts)
    out.varint(losses.events)
    out.varint(metrics.size)
    metrics.foreach { metric =>
      out.varint(metric.id)
      out.signed(metric.value)
    }
    out.varint(latencies.size)
    latencies.foreach { counts =>
      out.text(counts.queryId)
      out.varint(window - counts.window)
      out.histogram(counts.latencies)
    }
    out.varint(tasks.size)
    tasks.foreach { task =>
      out.text(task.queryId)
      out.varint(task.batchId)
      out.varint(task.stageId)
      out.varint(task.partition)
      out.varint(task.attemptId)
      out.varint(task.referenceUs)
      out.histogram(task.ages)
    }
    out.varint(events.size)
    events.foreach { event =>
      out.byte(event.source)
      out.varint(event.timeUs)
      out.text(event.context)
      out.text(event.body)
    }
    out.varint(pools.size)
    pools.foreach(_.write(out, host))
    out.toArray
  }

  /** For tests in Python, which cannot make a Scala Seq of case classes. */
  def sample(queryId: String, buckets: Array[Int], counts: Array[Int]): Array[Byte] =
    encode(34567890123L, "7", "node-a", Losses(2, 3, 4),
      Seq(Metric(1, 375), Metric(2, -5)),
      Seq(WindowCounts(queryId, 34567890122L, Filled(buckets, counts))),
      Seq(TaskLatencies(queryId, 12, 300, 5, 1234, 1728394506100000L, Filled(Array(6143), Array(9)))),
      Seq(Event(EventSource.RocksDb, 1728394506150000L, "store", "{}")),
      Seq(PoolSample("score", 4, 6, 2, 300, TaskCounts(9, 3, 2, 1), InForce(41000, 1, 80),
        Seq(OperatorSample("enrich", 7, 12), OperatorSample("rank")),
        Seq(
          InstanceSample(0, 2, InstanceLevels(3, 8, 2500, 1), 4, 1, 4096, 4000, 49000, 5,
            Filled(buckets, counts)),
          InstanceSample(1, 1)),
        Seq(Sent(0, 0, 5), Sent(1, 1, 4)),
        Seq(queryId))))
}

/** Totals since this JVM started: records, parts and events that were lost. */
case class Losses(records: Long, parts: Long, events: Long)

private[probe] class Bytes {
  private val out = new ByteArrayOutputStream(256)

  def byte(value: Int): Unit = out.write(value)

  def varint(value: Long): Unit = {
    var rest = value
    while ((rest & ~0x7fL) != 0) {
      out.write(((rest & 0x7f) | 0x80).toInt)
      rest >>>= 7
    }
    out.write(rest.toInt)
  }

  /** Zigzag: small numbers of either sign stay short. */
  def signed(value: Long): Unit = varint((value << 1) ^ (value >> 63))

  def text(value: String): Unit = {
    val bytes = value.getBytes(UTF_8)
    varint(bytes.length)
    out.write(bytes, 0, bytes.length)
  }

  def histogram(filled: Filled): Unit = {
    varint(filled.buckets.length)
    var last = 0
    filled.buckets.indices.foreach { i =>
      varint(filled.buckets(i) - last)
      varint(filled.counts(i))
      last = filled.buckets(i)
    }
  }

  def toArray: Array[Byte] = out.toByteArray
}
