package io.curtail.probe

/** A log line or notification as its source wrote it; it is interpreted in Python. */
final case class Event(source: Int, timeUs: Long, context: String, body: String)

object EventSource {
  val RocksDb = 1
  val StateStore = 2
  val Gc = 3
  val Levers = 4
  val StateSize = 5
  val HeavyKeys = 6
}

/** Events for the next part. `offer` never blocks: threads of RocksDB and of the GC call it. */
object Events {
  private val queue = new DroppingQueue[Event](capacity = 4096)
  private val MostPerPart = 256
  private val LongestBody = 16384

  def dropped: Long = queue.dropped

  def offer(source: Int, timeUs: Long, context: String, body: String): Unit =
    queue.offer(Event(source, timeUs, context, body.take(LongestBody)))

  private[probe] def drain(): Seq[Event] = queue.drain(MostPerPart)
}
