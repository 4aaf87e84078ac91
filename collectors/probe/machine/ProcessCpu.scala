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

  /** Looking at every thread, or asking a container for its cores, is too dear for each window. */
  private def refresh(): Unit = {
    threads.choose()
    cores = Runtime.getRuntime.availableProcessors()
  }
}

private object ProcessCpu {
  val LooksPerRefresh = 20
}

/**
 * A total that is known twice: `coarse` is complete but rounded down, twice by up to a tick (user
 * and system time); the growth of `fine` is exact but not complete. What comes out grows with
 * `fine` and never leaves what `coarse` allows: it is off by two ticks at most, now and for ever,
 * and between them it moves when the CPU was used.
 */
private[probe] class CpuEstimate(startNs: Long) {
  private var totalNs = startNs

  def advance(coarseNs: Long, fineGrowthNs: Long): Long = {
    // A JVM that one day counts finer is believed as it is.
    val slackNs = if (coarseNs % CpuEstimate.TickNs == 0) 2 * CpuEstimate.TickNs else 0
    totalNs = math.max(coarseNs, math.min(coarseNs + slackNs, totalNs + fineGrowthNs))
    totalNs
  }
}

private object CpuEstimate {
  val TickNs = 10000000L
}
