package io.curtail.probe

import java.nio.file.Path

/**
 * Memory of this process's container: all that is charged to it, the part of that which is cached
 * files that were not used lately (the kernel takes those back before it kills anybody), and what it
 * may have.
 */
private[probe] class ContainerMemory(cgroup: Cgroup = new Cgroup) extends MetricSource {
  // If both cgroup versions are mounted, containers use version 1.
  private val gauges = v1 match {
    case Nil => v2
    case found => found
  }
  require(gauges.nonEmpty, "in no container")

  override def sample(): Seq[Metric] = gauges.flatMap(_.sample())

  private def v1: Seq[CgroupGauge] = cgroup.v1("memory").toSeq.flatMap { folder =>
    gauges(folder.resolve("memory.usage_in_bytes"), folder.resolve("memory.stat"),
      "total_inactive_file ", folder.resolve("memory.limit_in_bytes"))
  }

  private def v2: Seq[CgroupGauge] = cgroup.v2.toSeq.flatMap { folder =>
    gauges(folder.resolve("memory.current"), folder.resolve("memory.stat"),
      "inactive_file ", folder.resolve("memory.max"))
  }

  private def gauges(used: Path, stat: Path, reclaimable: String, limit: Path): Seq[CgroupGauge] =
    Seq(
      new CgroupGauge(used, "", Metrics.ContainerMemory),
      new CgroupGauge(stat, reclaimable, Metrics.ContainerReclaimable),
      new CgroupGauge(limit, "", Metrics.ContainerLimit, ContainerMemory.Unlimited))
}

private object ContainerMemory {
  /** No limit is "max" in version 2, which is no number, and nearly 2^63 in version 1. */
  val Unlimited: Long = 1L << 60
}

/** One number in a cgroup file, which is left out where it is not below `most`. */
private class CgroupGauge(path: Path, key: String, id: Int, most: Long = Long.MaxValue) {
  private val file = new KernelFile(path, head = 4096)

  def sample(): Option[Metric] = {
    val value = if (file.read() && file.skipPast(key)) file.number() else -1
    if (value < 0 || value >= most) None else Some(Metric(id, value))
  }
}
