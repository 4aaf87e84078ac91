package io.curtail.probe

/**
 * The driver's wall clock in microseconds, cheap enough for every record, and the 50 ms windows
 * on it. On an executor it is this host's clock plus what `ClockOffset` found between the two.
 */
object Clock {
  val WindowMs = 50L
  val WindowUs: Long = WindowMs * 1000

  @volatile private var wallMinusNanoNs = readWallMinusNano()
  @volatile private var offsetUs = 0L

  def nowUs(): Long = (System.nanoTime() + wallMinusNanoNs) / 1000 + offsetUs

  def nowMs(): Long = nowUs() / 1000

  /** The driver's clock minus this host's. */
  def driverAheadUs: Long = offsetUs

  private[probe] def setDriverAhead(us: Long): Unit = offsetUs = us

  /** The sampler calls this every window, so that we follow steps of the system clock. */
  def align(): Unit = {
    val now = readWallMinusNano()
    // Reading two clocks jitters by a microsecond or so: follow drift and steps, not jitter.
    if (math.abs(now - wallMinusNanoNs) > 200000L) wallMinusNanoNs = now
  }

  /** This host's own clock, without the offset. */
  private[probe] def hostUs(): Long = (System.nanoTime() + wallMinusNanoNs) / 1000

  private def readWallMinusNano(): Long = {
    val now = java.time.Instant.now()
    now.getEpochSecond * 1000000000L + now.getNano - System.nanoTime()
  }
}

/** Reports the offset to add to times that RocksDB and others took from this host's clock. */
private[probe] object ClockAhead extends MetricSource {
  override def sample(): Seq[Metric] = Seq(Metric(Metrics.ClockAhead, Clock.driverAheadUs))
}

/**
 * How far the driver's clock is ahead, from round trips. The driver read its clock at some time
 * between our sending and receiving, so the error of the middle is at most half the round trip. The
 * fastest of the last trips is therefore used (as in NTP).
 */
class ClockOffset {
  private case class Trip(tookUs: Long, aheadUs: Long)
  private val trips = new Array[Trip](ClockOffset.Remembered)
  private var count = 0

  def observe(sentUs: Long, driverUs: Long, receivedUs: Long): Unit = {
    trips(count % trips.length) = Trip(receivedUs - sentUs, driverUs - (sentUs + receivedUs) / 2)
    count += 1
  }

  /** Zero while the clocks agree within the error of a round trip. */
  def aheadUs: Long = {
    val known = trips.iterator.take(count).filter(_ != null)
    if (known.isEmpty) 0L
    else {
      val best = known.minBy(_.tookUs)
      if (math.abs(best.aheadUs) <= best.tookUs / 2) 0L else best.aheadUs
    }
  }
}

object ClockOffset {
  private val Remembered = 64
}
