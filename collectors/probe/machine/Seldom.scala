package io.curtail.probe

/**
 * A source that is looked at once a second: what it measures changes slowly, and a frame has it
 * once a second.
 */
private[probe] class Seldom(source: MetricSource, nowMs: () => Long = () => Clock.nowMs())
    extends MetricSource {
  private var lookedSecond = -1L

  override def sample(): Seq[Metric] = {
    val second = nowMs() / 1000
    if (second == lookedSecond) Nil
    else {
      lookedSecond = second
      source.sample()
    }
  }
}
