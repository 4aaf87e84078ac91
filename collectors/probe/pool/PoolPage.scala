package io.curtail.probe

import java.lang.invoke.VarHandle
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.channels.FileChannel
import java.nio.channels.FileChannel.MapMode
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Path, StandardOpenOption}
import java.util.UUID

/**
 * The shared page of a pool, mapped; techniques/pool/page.py has the layout, with the writer of
 * each word. Its sizes are checked against the file, so that no number in it leads outside the
 * mapping.
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
    val at = (operator(position) + PoolPage.Operator.Name) * PoolPage.WordBytes
    mapped.duplicate().position(at).get(name)
    new String(name.takeWhile(_ != 0), UTF_8)
  }

  /** False once the file was truncated: reading on would crash the JVM (SIGBUS). */
  def isWhole: Boolean = channel.size() >= bytes

  def word(at: Int): Long = mapped.getLong(at * PoolPage.WordBytes)

  /** Writes a word by one aligned store, ordered after all earlier stores. */
  def put(at: Int, value: Long): Unit = {
    VarHandle.releaseFence()
    mapped.putLong(at * PoolPage.WordBytes, value)
    VarHandle.fullFence()
  }

  def operator(position: Int): Int = PoolPage.HeaderWords + position * PoolPage.OperatorWords

  def instance(number: Int): Int = instancesAt + number * instanceWords

  /** Before them are the chunks by source, and the weights that the instance gives as a dispatcher. */
  def latencies(number: Int): Int = instance(number) + PoolPage.InstanceWords + 1 + 2 * instances

  /** Chunks in the queue that all instances of an operator share. */
  def sharedQueued(position: Int): Long = word(operator(position) + PoolPage.Operator.SharedQueued)

  /** How many instances an operator may grow to. */
  def room(position: Int): Long = word(operator(position) + PoolPage.Operator.Room)

  /** Whether there is room for the instance and no process: it was retired, or never started. */
  def isAbsent(number: Int): Boolean = {
    import PoolPage.Instance._
    val at = instance(number)
    word(at + State) == Dead && word(at + Service) == Finishes
  }

  def slot(number: Int): Int = slotsAt + number * PoolPage.SlotWords

  /** The streaming query of the task in a slot, or of the last task if the slot is free. */
  def query(slotNumber: Int): Option[UUID] = {
    import PoolPage.Slot._
    val at = slot(slotNumber)
    val first = word(at + Query)
    if (first == 0) return None
    VarHandle.loadLoadFence()
    val rest = word(at + QueryRest)
    VarHandle.loadLoadFence()
    if (word(at + Query) == first) Some(new UUID(first, rest)) else None // it is being written
  }

  /** Whether no task or instance chooses by an older control word (see the layout in page.py). */
  def seenByAll(version: Long): Boolean =
    (0 until instances).forall(instanceHasSeen(_, version)) &&
      (0 until slots).forall(taskHasSeen(_, version))

  private def instanceHasSeen(number: Int, version: Long): Boolean = {
    import PoolPage.Instance._
    val at = instance(number)
    word(at + State) != Ready || word(at + BusySince) != 0 || word(at + ControlSeen) >= version
  }

  private def taskHasSeen(number: Int, version: Long): Boolean = {
    import PoolPage.Slot._
    val at = slot(number)
    word(at + Pid) == 0 || word(at + Chunks) == 0 || word(at + Away) != 0 ||
      word(at + ControlSeen) >= version
  }

  def close(): Unit = channel.close()
}

private[probe] object PoolPage {
  val Magic: Long = ByteBuffer.wrap("CurtailP".getBytes(UTF_8)).order(ByteOrder.LITTLE_ENDIAN).getLong
  val Version = 4
  val WordBytes = 8
  val HeaderWords = 64
  val OperatorWords = 16
  val InstanceWords = 32
  val SlotWords = 216
  val NameBytes = 40
  val MostInstances = 64
  val MostSlots = 256
  /** Counts of 4 bytes, two to a word. */
  val LatencyWords: Int = (Buckets.Count + 1) / 2

  /** A value of the pool's state. */
  val Running = 1

  object Header {
    val State = 2
    val Operators = 7
    val Instances = 8
    val Slots = 9
    val Control = 10
    val Replaced = 13
    val LatencyBuckets = 14
    val PolicyFound = 15
    /** The first of the settings; their order is that of PoolWish.Settings. */
    val Settings = 16
    val SettingsFound = 32
    val TimeoutUs = 48
  }

  object Operator {
    val Room = 1
    val Name = 2
    val SharedQueued = 7
    val Wanted = 8
    val WantedFound = 9
    val Reached = 10
  }

  object Instance {
    val State = 0
    val Operator = 3
    val Queued = 4
    val Executed = 10
    val BusyNs = 14
    val BusySince = 15
    val Parked = 18
    val ControlSeen = 19
    val Share = 20
    val ShareFound = 21
    val Weight = 23
    val Signal = 24
    val Dropped = 26
    val Service = 27
    /** Values of the instance's state. */
    val Dead = 0
    val Ready = 2
    /** A value of its service. */
    val Finishes = 2
  }

  object Slot {
    val Pid = 0
    val Generation = 2
    val Chunks = 3
    val ControlSeen = 5
    val Sent = 6
    val Again = 7
    val Twice = 8
    val Away = 10
    val Query = 11
    val QueryRest = 12
    val Replayed = 16
    val Won = 17
  }

  def instanceWords(instances: Int): Int = InstanceWords + 1 + 2 * instances + LatencyWords

  /** Maps the file; None for anything but a complete page of this version. */
  def open(path: Path, writable: Boolean = false): Option[PoolPage] = {
    val channel =
      if (writable) FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
      else FileChannel.open(path, StandardOpenOption.READ)
    val made =
      try mapped(channel, if (writable) MapMode.READ_WRITE else MapMode.READ_ONLY)
      catch { case error: Throwable => channel.close(); throw error }
    if (made.isEmpty) channel.close()
    made
  }

  private def mapped(channel: FileChannel, mode: MapMode): Option[PoolPage] = {
    // Read without mapping: the header decides whether the file may be mapped.
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
    val bytes = channel.map(mode, 0, words * WordBytes)
    bytes.order(ByteOrder.LITTLE_ENDIAN)
    Some(new PoolPage(channel, bytes, operators.toInt, instances.toInt, slots.toInt))
  }
}
