package io.curtail.probe

import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Path, StandardOpenOption}

/** Share of the host's CPU in use since the last look, in thousandths; -1 where unknown. */
private[probe] class HostCpu(stat: Path = Path.of("/proc/stat")) extends MetricSource {
  private val channel =
    try Some(FileChannel.open(stat, StandardOpenOption.READ))
    catch { case _: java.io.IOException => None }
  private val buffer = ByteBuffer.allocate(512)
  private var last = (0L, 0L)
  sincePermille()

  override def sample(): Seq[Metric] = {
    val permille = sincePermille()
    if (permille < 0) Nil else Seq(Metric(Metrics.HostCpu, permille))
  }

  private def sincePermille(): Int = channel.flatMap(read).map { case (busy, total) =>
    val (lastBusy, lastTotal) = last
    val span = total - lastTotal
    // The kernel counts in ticks of 10 ms: over fewer than these a share would be a coin toss.
    if (span < HostCpu.FewestTicks) -1
    else {
      last = (busy, total)
      math.max(0, math.min(1000, (busy - lastBusy) * 1000 / span)).toInt
    }
  }.getOrElse(-1)

  private def read(file: FileChannel): Option[(Long, Long)] =
    try {
      buffer.clear()
      file.read(buffer, 0)
      val line = new String(buffer.array(), 0, buffer.position(), US_ASCII).takeWhile(_ != '\n')
      // cpu user nice system idle iowait irq softirq steal …
      val ticks = line.split(' ').drop(1).filter(_.nonEmpty).take(8).map(_.toLong)
      val idle = ticks(3) + ticks(4)
      Some((ticks.sum - idle, ticks.sum))
    } catch { case _: Exception => None }
}

private object HostCpu {
  val FewestTicks = 3
}
