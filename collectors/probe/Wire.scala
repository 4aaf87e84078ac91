package io.curtail.probe

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8

/** What the driver's JVM tells the collector process; the numbers are in collectors/link.py too. */
object MessageKind {
  val Hello = 1
  val Part = 2
  val QueryStarted = 3
  val QueryProgress = 4
  val QueryTerminated = 5
  val LinkLoss = 6
}

/** One executor's share of one window. Layout: collectors/parts.py, whose tests pin these bytes. */
object Part {
  val Version = 1

  def encode(
      window: Long,
      executorId: String,
      host: String,
      hostCpuPermille: Int,
      lostRecords: Long,
      droppedParts: Long,
      latencies: Seq[WindowCounts]): Array[Byte] = {
    val out = new Bytes
    out.byte(Version)
    out.varint(window)
    out.text(executorId)
    out.text(host)
    out.varint(hostCpuPermille + 1)
    out.varint(lostRecords)
    out.varint(droppedParts)
    out.varint(latencies.size)
    latencies.foreach { counts =>
      out.text(counts.queryId)
      out.varint(window - counts.window)
      out.varint(counts.buckets.length)
      var last = 0
      counts.buckets.indices.foreach { i =>
        out.varint(counts.buckets(i) - last)
        out.varint(counts.counts(i))
        last = counts.buckets(i)
      }
    }
    out.toArray
  }

  /** For tests in Python, which cannot make a Scala Seq of case classes. */
  def sample(queryId: String, buckets: Array[Int], counts: Array[Int]): Array[Byte] =
    encode(34567890123L, "7", "node-a", 375, 2, 3,
      Seq(WindowCounts(queryId, 34567890122L, buckets, counts)))
}

private class Bytes {
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

  def text(value: String): Unit = {
    val bytes = value.getBytes(UTF_8)
    varint(bytes.length)
    out.write(bytes, 0, bytes.length)
  }

  def toArray: Array[Byte] = out.toByteArray
}
