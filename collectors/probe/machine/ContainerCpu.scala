package io.curtail.probe

/** CPU used by this process's container, and for how long the container's quota held it back. */
private[probe] class ContainerCpu(cgroup: Cgroup = new Cgroup) extends MetricSource {
  // If both cgroup versions are mounted, containers use version 1.
  private val counters = v1 match {
    case Nil => v2
    case found => found
  }
  require(counters.nonEmpty, "in no container")
  sample()

  override def sample(): Seq[Metric] = counters.flatMap(_.sample())

  private def v1: Seq[CgroupCounter] =
    cgroup.v1("cpuacct").toSeq.map { folder =>
      new CgroupCounter(folder.resolve("cpuacct.usage"), "", 1000, Metrics.ContainerCpu)
    } ++ cgroup.v1("cpu").map { folder =>
      new CgroupCounter(
        folder.resolve("cpu.stat"), "throttled_time ", 1000, Metrics.ContainerThrottled)
    }

  private def v2: Seq[CgroupCounter] = cgroup.v2.toSeq.map(_.resolve("cpu.stat")).flatMap { stat =>
    Seq(
      new CgroupCounter(stat, "usage_usec ", 1, Metrics.ContainerCpu),
      new CgroupCounter(stat, "throttled_usec ", 1, Metrics.ContainerThrottled))
  }
}

/** One counter in a cgroup file; `perUs` is how many of its units make a microsecond. */
private class CgroupCounter(path: java.nio.file.Path, key: String, perUs: Long, id: Int) {
  private val file = new KernelFile(path, head = 2048)
  private val growth = new Growth(id)

  def sample(): Option[Metric] = {
    val total = if (file.read() && file.skipPast(key)) file.number() else -1
    growth.to(if (total < 0) total else total / perUs)
  }
}
