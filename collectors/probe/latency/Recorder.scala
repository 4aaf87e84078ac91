package io.curtail.probe

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.{AtomicIntegerArray, AtomicLong, AtomicLongArray}

import org.apache.spark.TaskContext

import scala.collection.mutable
import scala.jdk.CollectionConverters._

/** The latencies of one query's records in one window. */
case class WindowCounts(queryId: String, window: Long, latencies: Filled)

/**
 * Latencies seen by one task at a time, as a ring of windows of bucket counts.
 *
 * Only the owning task writes, only the sampler reads; neither waits for the other. The reader
 * never clears: it remembers what it has reported and reports the difference, so a count that
 * lands late is late, not lost. The writer clears a slot when the ring comes round to it, and
 * what was not reported by then is added to `lost`.
 */
final class Recorder(isRead: Boolean = true) {
  import Recorder._

  private val slotWindow = new AtomicLongArray(Array.fill(Slots)(Unused))
  private val counts = new AtomicIntegerArray(Slots * Buckets.Count)
  private val recorded = new AtomicIntegerArray(Slots)

  // Used by the writer only.
  private var windowStartUs = Long.MaxValue
  private var windowEndUs = Long.MinValue
  private var slot = 0
  private[probe] val ages = new RecordAges

  // Used by the reader only, except `reported`, which tells the writer what it may clear.
  private val reportedWindow = Array.fill(Slots)(Unused)
  private val reportedCounts = new Array[Int](Slots * Buckets.Count)
  private val reported = new AtomicLongArray(Array.fill(Slots)(Unused))

  def record(eventUs: Long): Unit = {
    val nowUs = Clock.nowUs()
    if (nowUs >= windowEndUs || nowUs < windowStartUs) turnTo(nowUs / Clock.WindowUs)
    val at = slot * Buckets.Count + Buckets.index(nowUs - eventUs)
    counts.setOpaque(at, counts.getPlain(at) + 1)
    recorded.setRelease(slot, recorded.getPlain(slot) + 1)
    ages.record(eventUs)
  }

  private def turnTo(window: Long): Unit = {
    slot = (window % Slots).toInt
    windowStartUs = window * Clock.WindowUs
    windowEndUs = windowStartUs + Clock.WindowUs
    val before = slotWindow.getPlain(slot)
    if (before != window) {
      // Do this first, so that a reader in the middle of this slot sees that it must not count it.
      slotWindow.set(slot, Unused)
      if (isRead && before != Unused) lost.addAndGet(recorded.getPlain(slot) - reportedOf(before))
      var at = slot * Buckets.Count
      val end = at + Buckets.Count
      while (at < end) { counts.setPlain(at, 0); at += 1 }
      recorded.setPlain(slot, 0)
      slotWindow.setRelease(slot, window)
    }
  }

  private def reportedOf(window: Long): Int = {
    val packed = reported.getAcquire(slot)
    if (packed >> CountBits == window) (packed & CountMask).toInt else 0
  }

  /** Returns the counts of windows before `currentWindow` that were not reported yet. */
  def drain(queryId: String, currentWindow: Long): Seq[WindowCounts] =
    (0 until Slots).flatMap { s =>
      val window = slotWindow.getAcquire(s)
      if (window == Unused || window >= currentWindow) None
      else {
        if (reportedWindow(s) != window) {
          java.util.Arrays.fill(reportedCounts, s * Buckets.Count, (s + 1) * Buckets.Count, 0)
          reportedWindow(s) = window
          reported.setRelease(s, window << CountBits)
        }
        val total = reported.getPlain(s) & CountMask
        if (recorded.getAcquire(s) == total) None else difference(queryId, s, window)
      }
    }

  private def difference(queryId: String, s: Int, window: Long): Option[WindowCounts] = {
    val buckets = mutable.ArrayBuilder.make[Int]
    val increments = mutable.ArrayBuilder.make[Int]
    var sum = 0
    var bucket = 0
    while (bucket < Buckets.Count) {
      val at = s * Buckets.Count + bucket
      val increment = counts.getOpaque(at) - reportedCounts(at)
      if (increment > 0) {
        buckets += bucket
        increments += increment
        reportedCounts(at) += increment
        sum += increment
      }
      bucket += 1
    }
    if (slotWindow.getAcquire(s) != window) None // the writer took the slot and counts it as lost
    else {
      reported.setRelease(s, reported.getPlain(s) + sum)
      Some(WindowCounts(queryId, window, Filled(buckets.result(), increments.result())))
    }
  }
}

object Recorder {
  private val Slots = 8 // 400 ms: twice what a window stays open
  private val Unused = -1L
  private val CountBits = 24
  private val CountMask = (1L << CountBits) - 1
  private val QueryIdProperty = "sql.streaming.queryId"
  private val ForgetAfterMs = 5 * 60 * 1000L

  val lost = new AtomicLong

  private class Pool {
    val all = new ConcurrentLinkedQueue[Recorder]
    val free = new ConcurrentLinkedQueue[Recorder]
    @volatile var usedMs: Long = System.currentTimeMillis()
  }
  private val pools = new ConcurrentHashMap[String, Pool]
  private val unread = ThreadLocal.withInitial[Recorder](() => new Recorder(isRead = false))

  /** Called by generated code at the start of each partition. */
  def forTask(): Recorder = {
    val task = TaskContext.get()
    val queryId = if (task == null) null else task.getLocalProperty(QueryIdProperty)
    // A batch query has no windows to show: it counts into a recorder that nobody reads.
    if (queryId == null) unread.get()
    else {
      val pool = pools.computeIfAbsent(queryId, _ => new Pool)
      pool.usedMs = System.currentTimeMillis()
      val recorder = Option(pool.free.poll()).getOrElse {
        val made = new Recorder
        pool.all.add(made)
        made
      }
      recorder.ages.begin()
      task.addTaskCompletionListener[Unit] { (ended: TaskContext) =>
        // Guarded, because an exception in a listener would fail the task.
        Guard.quietly("count a task") { TaskLatencies.ended(ended, queryId, recorder.ages) }
        pool.free.add(recorder)
      }
      recorder
    }
  }

  def drainAll(currentWindow: Long): Seq[WindowCounts] = {
    val longAgo = System.currentTimeMillis() - ForgetAfterMs
    pools.values.removeIf(pool => pool.usedMs < longAgo && pool.free.size == pool.all.size)
    pools.asScala.toSeq.flatMap { case (queryId, pool) =>
      pool.all.asScala.toSeq.flatMap(_.drain(queryId, currentWindow))
    }
  }
}
