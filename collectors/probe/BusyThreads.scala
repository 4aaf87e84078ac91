package io.curtail.probe

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean

/**
 * CPU of the few Java threads that use any, in nanoseconds. A look at one costs 1 to 2 µs and a
 * JVM of Spark's has a hundred, so who is busy is found out now and then.
 */
private[probe] class BusyThreads {
  private val threads = ManagementFactory.getPlatformMXBean(classOf[ThreadMXBean])
  private val isExact = threads.isThreadCpuTimeSupported && threads.isThreadCpuTimeEnabled
  private var everyone = Map.empty[Long, Long]
  private var busy = Array.emptyLongArray
  private var last = Array.emptyLongArray

  /** Since the last look, or since they were chosen. */
  def growthNs(): Long = {
    if (busy.isEmpty) return 0
    val now = threads.getThreadCpuTime(busy)
    var sum = 0L
    var at = 0
    while (at < now.length) {
      // -1: the thread has ended.
      if (last(at) >= 0 && now(at) > last(at)) sum += now(at) - last(at)
      at += 1
    }
    last = now
    sum
  }

  /** Those that used the most since the last choice. */
  def choose(): Unit = if (isExact) {
    val ids = threads.getAllThreadIds
    val now = ids.zip(threads.getThreadCpuTime(ids)).toMap
    busy = now.toArray
      .map { case (id, ns) => (ns - everyone.getOrElse(id, 0L), id) }
      .filter { case (grownNs, _) => grownNs >= BusyThreads.LeastNs }
      .sorted.takeRight(BusyThreads.Most).map(_._2)
    last = busy.map(now)
    everyone = now
  }
}

private object BusyThreads {
  val Most = 16
  val LeastNs = 2000000L
}
