package io.curtail.probe

import java.nio.file.Path

/**
 * Threads that run or wait for a core at this moment, on the whole host. The same count as
 * procs_running of /proc/stat, for a fifth of the cost.
 */
private[probe] class RunQueue(loadavg: Path = Path.of("/proc/loadavg")) extends MetricSource {
  private val file = new KernelFile(loadavg, head = 64)

  override def sample(): Seq[Metric] = {
    // 3.16 3.80 3.79 2/259 395
    if (!file.read() || !(1 to 3).forall(_ => file.skipPast(" "))) return Nil
    val running = file.number()
    // Subtract the sampler's own thread, which is running while it reads.
    if (running < 0) Nil else Seq(Metric(Metrics.HostRunnable, math.max(0, running - 1)))
  }
}
