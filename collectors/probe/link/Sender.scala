package io.curtail.probe

import java.nio.ByteBuffer
import java.util.concurrent.{ArrayBlockingQueue, TimeUnit}
import java.util.concurrent.atomic.AtomicLong

/** A queue bounded in items and bytes. It drops and counts its oldest, so `offer` never blocks. */
private[probe] class DroppingQueue[T <: AnyRef](
    capacity: Int,
    maxBytes: Long = Long.MaxValue,
    bytesOf: T => Int = (_: T) => 0,
    onDrop: T => Unit = (_: T) => ()) {
  private val queue = new ArrayBlockingQueue[T](capacity)
  private val held = new AtomicLong
  private val droppedCount = new AtomicLong

  def dropped: Long = droppedCount.get

  def offer(item: T): Unit = {
    // Count its bytes first: with concurrent callers, rather drop one too many than one too few.
    held.addAndGet(bytesOf(item))
    while (held.get > maxBytes && dropOldest()) {}
    if (held.get > maxBytes) drop(item)
    else while (!queue.offer(item)) dropOldest()
  }

  def poll(timeoutMs: Long): Option[T] = {
    val item = Option(queue.poll(timeoutMs, TimeUnit.MILLISECONDS))
    item.foreach(taken => held.addAndGet(-bytesOf(taken)))
    item
  }

  /** Takes up to `most` waiting items. */
  def drain(most: Int): Seq[T] =
    Iterator.continually(poll(0)).take(most).takeWhile(_.isDefined).flatten.toSeq

  private def dropOldest(): Boolean = {
    val oldest = Option(queue.poll())
    oldest.foreach(drop)
    oldest.isDefined
  }

  private def drop(item: T): Unit = {
    held.addAndGet(-bytesOf(item))
    droppedCount.incrementAndGet()
    onDrop(item)
  }
}

private[probe] object DroppingQueue {
  def ofBytes(capacity: Int, maxBytes: Long): DroppingQueue[Array[Byte]] =
    new DroppingQueue[Array[Byte]](capacity, maxBytes, _.length)
}

/** Sends parts from executor to driver on its own thread: one in flight, up to 30 s waiting. */
private[probe] class Sender(ask: AnyRef => AnyRef, levers: Levers) {
  private val queue = DroppingQueue.ofBytes(capacity = 600, maxBytes = 32L << 20)
  private val failures = new AtomicLong
  private val offset = new ClockOffset
  @volatile private var running = true
  private val thread = new Thread(() => run(), "curtail-sender")
  thread.setDaemon(true)

  def dropped: Long = queue.dropped + failures.get
  def offer(part: Array[Byte]): Unit = queue.offer(part)
  def start(): Unit = thread.start()

  def stop(): Unit = {
    running = false
    thread.join(1000)
  }

  /** The reply is the driver's clock, which tells how far ours is off, and the edition in force. */
  private def deliver(part: Array[Byte]): Unit = {
    val sentUs = Clock.hostUs()
    ask(part) match {
      case reply: Array[Byte] if reply.length >= 2 * java.lang.Long.BYTES =>
        val words = ByteBuffer.wrap(reply)
        offset.observe(sentUs, words.getLong, Clock.hostUs())
        Clock.setDriverAhead(offset.aheadUs)
        levers.heard(words.getLong, () => ask(Control.Question).asInstanceOf[Array[Byte]])
      case _ => ()
    }
  }

  private def run(): Unit = {
    var idle = false
    // After stop, what is queued still goes out.
    while (running || !idle) {
      val part = queue.poll(if (running) 100 else 0)
      idle = part.isEmpty
      part.foreach { bytes =>
        try deliver(bytes)
        // The driver is unreachable or busy: this part is lost, and counted.
        catch { case _: Exception => failures.incrementAndGet() }
      }
    }
  }
}
