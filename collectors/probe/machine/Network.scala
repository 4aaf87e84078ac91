package io.curtail.probe

import java.nio.file.{Files, Path}

import scala.util.Using
import scala.jdk.CollectionConverters._

/** Bytes that the host, or the container, received and sent; not those it sent to itself. */
private[probe] object Network {
  // eth0: BYTES packets errs drop fifo frame compressed multicast BYTES packets …
  private val Layout =
    Columns(headerLines = 2, skipToName = 0, skipToIn = 0, skipToOut = 7, bytesPerUnit = 1)

  def source(
      dev: Path = Path.of("/proc/net/dev"),
      net: Path = Path.of("/sys/class/net")): MetricSource = {
    val cards = hardware(net)
    // On a host, count hardware only: bridges would count a byte twice. A container has no
    // hardware.
    val counts = if (cards.nonEmpty) cards else (name: String) => name.nonEmpty && name != "lo"
    new DeviceTable(dev, Layout, Metrics.NetworkReceived, Metrics.NetworkSent, counts)
  }

  private def hardware(net: Path): Set[String] =
    if (!Files.isDirectory(net)) Set.empty
    else Using.resource(Files.list(net)) { entries =>
      entries.iterator().asScala.filter(entry => Files.exists(entry.resolve("device")))
        .map(_.getFileName.toString).toSet
    }
}
