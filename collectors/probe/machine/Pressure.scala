package io.curtail.probe

import java.nio.file.Path

/** Time in which some or all tasks of the host waited for a resource, if the kernel has PSI on. */
private[probe] class Pressure(path: Path, some: Int, full: Option[Int] = None)
    extends MetricSource {
  private val file = new KernelFile(path, head = 256)
  private val someGrowth = new Growth(some)
  private val fullGrowth = full.map(new Growth(_))
  sample()

  override def sample(): Seq[Metric] = {
    file.read()
    // some avg10=0.04 avg60=0.26 avg300=1.18 total=58531557
    // full avg10=0.00 avg60=0.00 avg300=0.24 total=22937635
    someGrowth.to(total()).toSeq ++ fullGrowth.flatMap(_.to(total()))
  }

  private def total(): Long = if (file.skipPast("total=")) file.number() else -1
}
