package io.curtail.probe

import java.lang.management.ManagementFactory

import com.sun.management.OperatingSystemMXBean

/**
 * CPU used by this JVM, all threads, and the cores it may use. The JVM knows the whole process only
 * in ticks of 10 ms, and only its Java threads exactly; GC, JIT and RocksDB have threads of their
 * own. So the ticks say how much and the busy Java threads say when: see `CpuEstimate`.
 */
private[probe] class ProcessCpu extends MetricSource {
  private val process = ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean])
  private val threads = new BusyThreads
  private val estimate = new CpuEstimate(process.getProcessCpuTime)
  private val growth = new Growth(Metrics.ProcessCpu)
  private var cores = 0
  private var looks = 0
  sample()

  override def sample(): Seq[Metric] = {
    val busyNs = threads.growthNs()
    val totalNs = estimate.advance(process.getProcessCpuTime, busyNs)
    if (looks % ProcessCpu.LooksPerRefresh == 0) refresh()
    looks += 1
    growth.to(totalNs / 1000).toSeq :+ Metric(Metrics.ProcessCores, cores)
  }

  /** Called now and then: reading every thread or the container's cores is too slow per window. */
  private def refresh(): Unit = {
    threads.choose()
    cores = Runtime.getRuntime.availableProcessors()
  }
}

private object ProcessCpu {
  val LooksPerRefresh = 20
}

/**
 * Combines two counts of one total: `coarse` is complete but rounded down, twice by up to a tick
 * (user and system time); the growth of `fine` is exact but not complete. The estimate grows with
 * `fine` and stays within the bounds of `coarse`: its error is always at most two ticks, and
 * between ticks it grows when the CPU is used.
 */
private[probe] class CpuEstimate(startNs: Long) {
  private var totalNs = startNs

  def advance(coarseNs: Long, fineGrowthNs: Long): Long = {
    // A value that is no multiple of a tick comes from a JVM with a finer count: use it as it is.
    val slackNs = if (coarseNs % CpuEstimate.TickNs == 0) 2 * CpuEstimate.TickNs else 0
    totalNs = math.max(coarseNs, math.min(coarseNs + slackNs, totalNs + fineGrowthNs))
    totalNs
  }
}

private object CpuEstimate {
  val TickNs = 10000000L
}
