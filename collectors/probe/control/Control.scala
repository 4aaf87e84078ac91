package io.curtail.probe

import java.io.{DataInputStream, EOFException, IOException, InputStream}

/** Orders for the levers of every JVM, as the collector last told them, and how long they hold when
  * nobody renews them. */
private[probe] final case class Edition(number: Long, leaseMs: Long, document: Array[Byte])

/**
 * The driver's copy of the edition in force. It holds while the collector renews it. After the
 * lease it is dropped, and executors learn that from the reply to their next part.
 */
private[probe] object Control {
  /** Edition 0: no orders, the job runs as its owner wrote it. */
  val None: Edition = Edition(0L, 0L, Array.emptyByteArray)
  /** What an executor asks for when a reply names an edition that it does not hold. */
  val Question = "curtail: what is the edition?"
  private val LongestDocument = 1 << 20
  private val LongestLeaseMs = 120000L

  @volatile private var held = None
  @volatile private var heardNs = 0L

  def current: Edition = {
    val edition = held
    if ((System.nanoTime() - heardNs) / 1000000L <= edition.leaseMs) edition else None
  }

  def hear(document: Array[Byte]): Unit = {
    val edition = read(document)
    heardNs = System.nanoTime()
    held = edition
  }

  /** Parses an edition; its lease is limited to a sensible range. */
  def read(document: Array[Byte]): Edition = {
    val root = Json.read(document)
    val leaseMs = math.min(LongestLeaseMs, root.get("lease_ms").asLong)
    Edition(root.get("edition").asLong, leaseMs, document)
  }

  /** Reads what the collector says until it ends: four bytes of length, an edition. */
  def listen(stream: InputStream): Unit = {
    val in = new DataInputStream(stream)
    try {
      while (true) {
        val length = in.readInt()
        if (length < 0 || length > LongestDocument) throw new IOException(s"$length bytes")
        val document = new Array[Byte](length)
        in.readFully(document)
        Guard.quietly("take the collector's orders") { hear(document) }
      }
    } catch { case _: EOFException | _: IOException => () } // it ended; its supervisor logs that
  }
}
