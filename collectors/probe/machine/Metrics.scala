package io.curtail.probe

/**
 * One number of this JVM or its host in one window; ids and units are in collectors/formats/metrics.py. An
 * `amount` grew since the last reading, so windows that share a reading divide it; any other value
 * is a level, the same for all of them.
 */
final case class Metric(id: Int, value: Long, amount: Boolean = false) {
  def over(windows: Long): Metric =
    if (amount && windows > 1) copy(value = value / windows) else this
}

/** Called at the end of every window, only by the sampler's thread; must be fast and not block. */
private[probe] trait MetricSource {
  def sample(): Seq[Metric]
}

object Metrics {
  val HostCpu = 1
  val HostRunnable = 2
  val ContainerCpu = 3
  val ContainerThrottled = 4
  val ProcessCpu = 5
  val ProcessCores = 6
  val PsiCpuSome = 7
  val PsiIoSome = 8
  val PsiIoFull = 9
  val PsiMemorySome = 10
  val DiskRead = 11
  val DiskWritten = 12
  val NetworkReceived = 13
  val NetworkSent = 14
  val HeapAfterGc = 15
  val HeapMax = 16
  val Safepoint = 17
  val ClockAhead = 18
  val ContainerMemory = 19
  val ContainerReclaimable = 20
  val ContainerLimit = 21
  val ProcessResident = 22
  val RocksdbCache = 23
  val RocksdbPinned = 24
  val RocksdbMemtables = 25
  val RocksdbReaders = 26
}
