package io.curtail.probe

import java.nio.file.Path

import scala.collection.mutable

/** Where a table of the kernel's has its columns: `skip…` numbers lie before or between them. */
private[probe] case class Columns(
    headerLines: Int,
    skipToName: Int,
    skipToIn: Int,
    skipToOut: Int,
    bytesPerUnit: Long)

/** Bytes into and out of the devices of one table, summed over those that count. */
private[probe] class DeviceTable(
    path: Path,
    columns: Columns,
    in: Int,
    out: Int,
    counts: String => Boolean) extends MetricSource {
  private val file = new KernelFile(path)
  private val inGrowth = new Growth(in)
  private val outGrowth = new Growth(out)
  private val verdicts = mutable.Map.empty[String, Boolean]
  private var lastDevices = 0
  sample()

  override def sample(): Seq[Metric] = {
    var devices = 0
    var inUnits, outUnits = 0L
    var more = file.read() && (1 to columns.headerLines).forall(_ => file.skipLine())
    while (more) {
      file.skipNumbers(columns.skipToName)
      val name = file.word()
      if (verdicts.getOrElseUpdate(name, counts(name))) {
        file.skipNumbers(columns.skipToIn)
        inUnits += file.number()
        file.skipNumbers(columns.skipToOut)
        outUnits += file.number()
        devices += 1
      }
      more = file.skipLine()
    }
    growth(devices, inUnits * columns.bytesPerUnit, outUnits * columns.bytesPerUnit)
  }

  private def growth(devices: Int, inBytes: Long, outBytes: Long): Seq[Metric] = {
    // A device that comes brings all it ever counted: begin anew.
    if (devices != lastDevices) { inGrowth.to(-1); outGrowth.to(-1) }
    lastDevices = devices
    if (devices == 0) Nil else inGrowth.to(inBytes).toSeq ++ outGrowth.to(outBytes)
  }
}
