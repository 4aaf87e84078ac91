package io.curtail.probe

/** Wall clock in microseconds, cheap enough for every record, and the 50 ms windows on it. */
object Clock {
  val WindowMs = 50L
  val WindowUs: Long = WindowMs * 1000

  @volatile private var offsetNs = wallMinusNano()

  def nowUs(): Long = (System.nanoTime() + offsetNs) / 1000

  /** The sampler calls this every window, so that we follow steps of the system clock. */
  def align(): Unit = {
    val offset = wallMinusNano()
    // Reading two clocks jitters by a microsecond or so: follow drift and steps, not jitter.
    if (math.abs(offset - offsetNs) > 200000L) offsetNs = offset
  }

  private def wallMinusNano(): Long = {
    val now = java.time.Instant.now()
    now.getEpochSecond * 1000000000L + now.getNano - System.nanoTime()
  }
}
