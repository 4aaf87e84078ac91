package io.curtail.probe

import java.nio.file.Path

/** How much of this JVM is in RAM: heap, metaspace, threads, and what RocksDB has allocated. */
private[probe] class ResidentMemory(path: Path = Path.of("/proc/self/status"))
    extends MetricSource {
  private val file = new KernelFile(path, head = 4096)

  override def sample(): Seq[Metric] = {
    // VmRSS:     6024 kB; the file is separated by tabs
    val kilobytes = if (file.read() && file.skipPast("VmRSS:\t")) file.number() else -1
    if (kilobytes < 0) Nil else Seq(Metric(Metrics.ProcessResident, kilobytes * 1024))
  }
}
