package io.curtail.probe

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean

/**
 * CPU of the few Java threads that use any, in nanoseconds. Reading one costs 1 to 2 µs and a Spark
 * JVM has a hundred, so the busy ones are chosen only now and then.
 */
private[probe] class BusyThreads {
  private val threads = ManagementFactory.getPlatformMXBean(classOf[ThreadMXBean])
  private val isExact = threads.isThreadCpuTimeSupported && threads.isThreadCpuTimeEnabled
  private val everyone = new java.util.HashMap[Long, Long]
  private var busy = Array.emptyLongArray
  private var last = Array.emptyLongArray

  /** CPU time of the chosen threads since the last call, or since they were chosen. */
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

  /** Chooses the threads that used the most CPU since the last choice. */
  def choose(): Unit = if (isExact) {
    val ids = threads.getAllThreadIds
    val now = threads.getThreadCpuTime(ids)
    val grownNs = ids.indices.map(at => now(at) - everyone.getOrDefault(ids(at), 0L))
    val chosen = ids.indices.filter(grownNs(_) >= BusyThreads.LeastNs)
      .sortBy(-grownNs(_)).take(BusyThreads.Most).toArray
    busy = chosen.map(ids(_))
    last = chosen.map(now(_))
    everyone.clear()
    ids.indices.foreach(at => everyone.put(ids(at), now(at)))
  }
}

private object BusyThreads {
  // Each costs a system call in every window; more threads would add nothing visible.
  val Most = 8
  val LeastNs = 10000000L
}
