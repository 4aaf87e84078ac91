package io.curtail.probe

import java.nio.file.Path

/**
 * Share of the host's CPU in use since the last reading, in thousandths. Counted in ticks of 10 ms,
 * because the kernel has no finer count of the whole host: /proc/schedstat counts a task only when
 * it leaves its core, and cpu.stat of the root cgroup is made of the same ticks. `ContainerCpu` and
 * `ProcessCpu` are finer, but cover less than the host.
 */
private[probe] class HostCpu(stat: Path = Path.of("/proc/stat")) extends MetricSource {
  private val file = new KernelFile(stat, head = 256)
  private var lastBusy, lastTotal = 0L
  sample()

  override def sample(): Seq[Metric] = {
    if (!file.read() || file.word() != "cpu") return Nil
    // cpu user nice system idle iowait irq softirq steal …
    val worked = file.number() + file.number() + file.number()
    val idle = file.number() + file.number()
    val busy = worked + file.number() + file.number() + file.number()
    val span = busy + idle - lastTotal
    // Over fewer ticks than these a share would be mostly noise: wait for more.
    if (span < HostCpu.FewestTicks) return Nil
    val permille = (busy - lastBusy) * 1000 / span
    lastBusy = busy
    lastTotal = busy + idle
    Seq(Metric(Metrics.HostCpu, math.max(0, math.min(1000, permille))))
  }
}

private object HostCpu {
  val FewestTicks = 3
}
