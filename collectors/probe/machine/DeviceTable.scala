package io.curtail.probe

import java.nio.file.Path

import scala.collection.mutable

/** The columns of a kernel table: `skip…` is how many numbers lie before or between them. */
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
  private val verdicts = mutable.HashMap.empty[String, Boolean]
  private var lastNames = 0
  sample()

  override def sample(): Seq[Metric] = {
    var devices, names = 0
    var inUnits, outUnits = 0L
    var more = file.read() && (1 to columns.headerLines).forall(_ => file.skipLine())
    while (more) {
      file.skipNumbers(columns.skipToName)
      val name = file.word()
      if (isCounted(name)) {
        file.skipNumbers(columns.skipToIn)
        inUnits += file.number()
        file.skipNumbers(columns.skipToOut)
        outUnits += file.number()
        devices += 1
        names = 31 * names + name.hashCode
      }
      more = file.skipLine()
    }
    // A new device adds all it ever counted, so start over. Compare the hash of the names: if one
    // device goes and another comes, their number stays the same.
    if (names != lastNames) { inGrowth.to(-1); outGrowth.to(-1) }
    lastNames = names
    if (devices == 0) Nil
    else
      inGrowth.to(inUnits * columns.bytesPerUnit).toSeq ++
        outGrowth.to(outUnits * columns.bytesPerUnit)
  }

  /** Cached, but bounded: on a host with containers, device names come and go without end. */
  private def isCounted(name: String): Boolean = {
    if (verdicts.size >= DeviceTable.MostVerdicts) verdicts.clear()
    verdicts.getOrElseUpdate(name, counts(name))
  }
}

private object DeviceTable {
  val MostVerdicts = 4096
}
