package io.curtail.probe

/** One number of this JVM or its host in one window; ids and units are in collectors/metrics.py. */
final case class Metric(id: Int, value: Long)

/** Asked at the end of every window, by the sampler's thread alone; must be quick and not block. */
private[probe] trait MetricSource {
  def sample(): Seq[Metric]
}

object Metrics {
  val HostCpu = 1
}
