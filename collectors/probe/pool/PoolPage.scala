package io.curtail.probe

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.channels.FileChannel
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Path, StandardOpenOption}

/**
 * The shared page of a pool, mapped to be read; techniques/pool/page.py has the layout and writes
 * it. What it says of its own size is checked against the file, so no number in it leads outside.
 */
private[probe] class PoolPage private (
    channel: FileChannel,
    mapped: ByteBuffer,
    val operators: Int,
    val instances: Int,
    val slots: Int) {
  private val bytes = mapped.capacity()

  val instanceWords: Int = PoolPage.instanceWords(instances)
  private val instancesAt = PoolPage.HeaderWords + operators * PoolPage.OperatorWords
  private val slotsAt = instancesAt + instances * instanceWords

  /** Fixed when the pool began. */
  val operatorNames: Seq[String] = (0 until operators).map { position =>
    val name = new Array[Byte](PoolPage.NameBytes)
    val at = (PoolPage.HeaderWords + position * PoolPage.OperatorWords + 2) * PoolPage.WordBytes
    mapped.duplicate().position(at).get(name)
    new String(name.takeWhile(_ != 0), UTF_8)
  }

  /** False once somebody cut the file short: to read on would be a fault of the whole JVM. */
  def isWhole: Boolean = channel.size() >= bytes

  def word(at: Int): Long = mapped.getLong(at * PoolPage.WordBytes)

  def instance(number: Int): Int = instancesAt + number * instanceWords

  def latencies(number: Int): Int = instance(number) + PoolPage.InstanceWords + 1 + instances

  def slot(number: Int): Int = slotsAt + number * PoolPage.SlotWords

  def close(): Unit = channel.close()
}

private[probe] object PoolPage {
  val Magic: Long = ByteBuffer.wrap("CurtailP".getBytes(UTF_8)).order(ByteOrder.LITTLE_ENDIAN).getLong
  val Version = 1
  val WordBytes = 8
  val HeaderWords = 64
  val OperatorWords = 8
  val InstanceWords = 32
  val SlotWords = 16
  val NameBytes = 40
  val MostInstances = 64
  val MostSlots = 256
  /** Counts of 4 bytes, two to a word. */
  val LatencyWords: Int = (Buckets.Count + 1) / 2

  object Header {
    val Operators = 7
    val Instances = 8
    val Slots = 9
    val Control = 10
    val Replaced = 13
    val LatencyBuckets = 14
  }

  def instanceWords(instances: Int): Int = InstanceWords + 1 + instances + LatencyWords

  /** None for anything but a whole page of this version. */
  def open(path: Path): Option[PoolPage] = {
    val channel = FileChannel.open(path, StandardOpenOption.READ)
    val made =
      try mapped(channel)
      catch { case error: Throwable => channel.close(); throw error }
    if (made.isEmpty) channel.close()
    made
  }

  private def mapped(channel: FileChannel): Option[PoolPage] = {
    // Read and not mapped: whether it may be mapped is what it has to say.
    val head = ByteBuffer.allocate(HeaderWords * WordBytes).order(ByteOrder.LITTLE_ENDIAN)
    while (head.hasRemaining && channel.read(head, head.position()) > 0) {}
    if (head.hasRemaining) return None
    def word(at: Int): Long = head.getLong(at * WordBytes)
    val operators = word(Header.Operators)
    val instances = word(Header.Instances)
    val slots = word(Header.Slots)
    val makesSense = word(0) == Magic && word(1) == Version &&
      operators >= 1 && operators <= instances && instances <= MostInstances &&
      slots >= 0 && slots <= MostSlots && word(Header.LatencyBuckets) == LatencyWords * 2
    if (!makesSense) return None
    val words = HeaderWords + operators * OperatorWords +
      instances * instanceWords(instances.toInt) + slots * SlotWords
    if (channel.size() != words * WordBytes) return None
    val bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, words * WordBytes)
    bytes.order(ByteOrder.LITTLE_ENDIAN)
    Some(new PoolPage(channel, bytes, operators.toInt, instances.toInt, slots.toInt))
  }
}
