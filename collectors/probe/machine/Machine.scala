package io.curtail.probe

import java.nio.file.Path

import scala.util.control.NonFatal

/** All metric sources of the machine; docs/metrics.md says where each number comes from. */
private[probe] object Machine {
  private val Psi = Path.of("/proc/pressure")

  def sources(): Seq[MetricSource] = Seq[() => MetricSource](
    () => new HostCpu,
    () => new RunQueue,
    () => new ContainerCpu,
    () => new ProcessCpu,
    () => new Pressure(Psi.resolve("cpu"), Metrics.PsiCpuSome),
    () => new Pressure(Psi.resolve("io"), Metrics.PsiIoSome, Some(Metrics.PsiIoFull)),
    () => new Pressure(Psi.resolve("memory"), Metrics.PsiMemorySome),
    () => Disks.source(),
    () => Network.source(),
    () => new Heap,
    () => new Seldom(new ContainerMemory),
    () => new Seldom(new ResidentMemory),
    () => new Safepoints,
    () => ClockAhead).flatMap(begun)

  /** Returns None, silently, for a source that this host does not have. */
  private def begun(start: () => MetricSource): Option[MetricSource] =
    try Some(start())
    catch { case NonFatal(_) | _: LinkageError => None }
}
