package io.curtail.probe

/** What was left in use after the last collection, of how much there may be. */
private[probe] class Heap extends MetricSource {
  GcPauses.listen()

  override def sample(): Seq[Metric] = {
    val after = GcPauses.heapAfterBytes
    val max = Metric(Metrics.HeapMax, Runtime.getRuntime.maxMemory())
    if (after < 0) Seq(max) else Seq(Metric(Metrics.HeapAfterGc, after), max)
  }
}
