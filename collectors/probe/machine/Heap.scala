package io.curtail.probe

/** Heap in use after the last collection, and the maximum heap. */
private[probe] class Heap extends MetricSource {
  GcPauses.listen()

  override def sample(): Seq[Metric] = {
    val after = GcPauses.heapAfterBytes
    val max = Metric(Metrics.HeapMax, Runtime.getRuntime.maxMemory())
    if (after < 0) Seq(max) else Seq(Metric(Metrics.HeapAfterGc, after), max)
  }
}
