package io.curtail.probe

import java.nio.ByteBuffer
import java.util.concurrent.{ArrayBlockingQueue, TimeUnit}
import java.util.concurrent.atomic.AtomicLong

/** A bounded queue that drops its oldest and counts it, so that who offers never waits. */
private[probe] class DroppingQueue[T <: AnyRef](capacity: Int, onDrop: T => Unit = (_: T) => ()) {
  private val queue = new ArrayBlockingQueue[T](capacity)
  private val droppedCount = new AtomicLong

  def dropped: Long = droppedCount.get

  def offer(item: T): Unit =
    while (!queue.offer(item)) Option(queue.poll()).foreach { oldest =>
      droppedCount.incrementAndGet()
      onDrop(oldest)
    }

  def poll(timeoutMs: Long): Option[T] = Option(queue.poll(timeoutMs, TimeUnit.MILLISECONDS))

  /** What waits, up to so many. */
  def drain(most: Int): Seq[T] =
    Iterator.continually(poll(0)).take(most).takeWhile(_.isDefined).flatten.toSeq
}

/** Executor to driver, off every Spark thread: one part in flight, 30 s of parts waiting. */
private[probe] class Sender(ask: Array[Byte] => AnyRef) {
  private val queue = new DroppingQueue[Array[Byte]](capacity = 600)
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

  /** The reply is the driver's clock, and tells how far ours is off. */
  private def deliver(part: Array[Byte]): Unit = {
    val sentUs = Clock.hostUs()
    ask(part) match {
      case reply: Array[Byte] if reply.length >= java.lang.Long.BYTES =>
        offset.observe(sentUs, ByteBuffer.wrap(reply).getLong, Clock.hostUs())
        Clock.setDriverAhead(offset.aheadUs)
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
        // The driver is away or busy: this part is gone, and counted.
        catch { case _: Exception => failures.incrementAndGet() }
      }
    }
  }
}
