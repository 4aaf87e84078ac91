package io.curtail.probe

import java.nio.file.{Files, Path}

/** Bytes that the host's disks have read and written. */
private[probe] object Disks {
  // 254 0 vda reads merged SECTORS ms writes merged SECTORS …; a sector is 512 bytes on any disk.
  private val Layout =
    Columns(headerLines = 0, skipToName = 2, skipToIn = 2, skipToOut = 3, bytesPerUnit = 512)

  def source(
      diskstats: Path = Path.of("/proc/diskstats"),
      block: Path = Path.of("/sys/block")): MetricSource =
    new DeviceTable(diskstats, Layout, Metrics.DiskRead, Metrics.DiskWritten, isHardware(block, _))

  /** Excludes partitions, loop, ram, device mapper and RAID: their bytes are counted by disks. */
  private def isHardware(block: Path, name: String): Boolean =
    name.nonEmpty && Files.exists(block.resolve(name).resolve("device"))
}
