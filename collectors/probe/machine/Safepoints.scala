package io.curtail.probe

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.channels.FileChannel
import java.nio.channels.FileChannel.MapMode
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Path, StandardOpenOption}

/**
 * Time for which the JVM stopped all its Java threads, for GC or anything else, counted at its end.
 * From the counters the JVM shares with jstat: the bean that has them (HotspotRuntimeMBean) is
 * internal. A JVM started with -XX:-UsePerfData shares none.
 */
private[probe] class Safepoints(perfData: Path = Safepoints.ofThisJvm) extends MetricSource {
  private val counters = new PerfData(perfData)
  private val at = counters.offsetOf("sun.rt.safepointTime")
  private val ticksPerSecond = counters.at(counters.offsetOf("sun.os.hrt.frequency"))
  private val growth = new Growth(Metrics.Safepoint)
  sample()

  override def sample(): Seq[Metric] =
    growth.to((counters.at(at) * (1e6 / ticksPerSecond)).toLong).toSeq
}

private object Safepoints {
  /** The path is fixed: the JVM ignores java.io.tmpdir for it. */
  def ofThisJvm: Path = {
    val user = System.getProperty("user.name")
    Path.of("/tmp", s"hsperfdata_$user", ProcessHandle.current.pid.toString)
  }
}

/** The JVM's own counters, version 2: a prologue, then entries of a name and a value. */
private class PerfData(path: Path) {
  private val bytes: ByteBuffer = {
    val channel = FileChannel.open(path, StandardOpenOption.READ)
    try channel.map(MapMode.READ_ONLY, 0, channel.size()) finally channel.close()
  }
  require(bytes.getInt(0) == 0xcafec0c0, "no counters of a JVM")
  require(bytes.get(5) == 2, "counters of another version")
  if (bytes.get(4) == 1) bytes.order(ByteOrder.LITTLE_ENDIAN)

  def at(offset: Int): Long = bytes.getLong(offset)

  /**
   * The prologue holds at 24 the offset of the first entry and at 28 their number. An entry holds
   * at 0 its length, at 4 and 16 the offsets of its name and its value.
   */
  def offsetOf(name: String): Int =
    Iterator.iterate(bytes.getInt(24))(entry => entry + bytes.getInt(entry))
      .take(bytes.getInt(28))
      .find(isNamed(_, name))
      .map(entry => entry + bytes.getInt(entry + 16))
      .getOrElse(throw new NoSuchElementException(name))

  private def isNamed(entry: Int, name: String): Boolean = {
    val found = new Array[Byte](name.length + 1)
    val begins = entry + bytes.getInt(entry + 4)
    if (begins + found.length > bytes.limit()) return false
    bytes.get(begins, found)
    // Type J is a 64-bit number; without the final zero byte this would only be a prefix of the
    // name.
    bytes.get(entry + 12) == 'J' && found.last == 0 && new String(found, US_ASCII).init == name
  }
}
