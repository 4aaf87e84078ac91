package io.curtail.probe

import java.util.concurrent.locks.LockSupport

import scala.util.control.NonFatal

/** Makes, at the end of every window, one part with this JVM's measurements for the driver. */
private[probe] class Sampler(
    executorId: String,
    host: () => Option[String],
    sender: Sender,
    sources: Seq[MetricSource],
    pools: Option[Pools] = None) {
  @volatile private var running = true
  private val thread = new Thread(() => run(), "curtail-sampler")
  thread.setDaemon(true)

  def start(): Unit = { sender.start(); thread.start() }

  def stop(): Unit = {
    running = false
    LockSupport.unpark(thread)
    thread.join(1000)
    sender.stop()
  }

  private def run(): Unit = {
    val guard = new Guard.Often("sample a window")
    var done = Clock.nowMs() / Clock.WindowMs - 1
    while (running) {
      val current = sleepUntilAfter(done + 1)
      guard.quietly { sample(done, current) }
      // Also after a failure: retrying the same window immediately would be a busy loop.
      done = math.max(done, current - 1)
    }
    guard.quietly { sample(done, Long.MaxValue) }
    guard.quietly { pools.foreach(_.close()) }
  }

  private def sleepUntilAfter(window: Long): Long = {
    val endMs = (window + 1) * Clock.WindowMs
    var now = Clock.nowMs()
    while (running && now < endMs) {
      LockSupport.parkNanos((endMs - now) * 1000000L)
      now = Clock.nowMs()
    }
    now / Clock.WindowMs
  }

  /** One part per window that ended; after a long pause they share one reading. */
  private def sample(done: Long, current: Long): Unit = {
    Clock.align()
    val last = if (current == Long.MaxValue) done + 1 else current - 1
    val first = math.max(done + 1, last - Sampler.MostWindowsAtOnce + 1)
    // Woken to stop within a window: its records wait for the last sample.
    if (last < first) return
    val metrics = sources.flatMap(measured).map(_.over(last - first + 1))
    val (earlier, latest) = looked().map(_.over(last - first + 1)).unzip
    val latencies = Recorder.drainAll(current)
    HeavyKeys.tell()
    (first until last).foreach(window => send(window, metrics, Nil, Nil, Nil, earlier))
    send(last, metrics, latencies, TaskLatencies.drain(), Events.drain(), latest)
  }

  private def looked(): Seq[PoolSample] =
    try pools.toSeq.flatMap(_.look())
    catch { case NonFatal(_) | _: LinkageError | _: InternalError => Nil }

  /** One source that fails must not silence the others. */
  private def measured(source: MetricSource): Seq[Metric] =
    try source.sample()
    catch { case NonFatal(_) | _: LinkageError => Nil }

  private def send(
      window: Long,
      metrics: Seq[Metric],
      latencies: Seq[WindowCounts],
      tasks: Seq[TaskLatencies],
      events: Seq[Event],
      pools: Seq[PoolSample]): Unit =
    host().foreach { name =>
      val losses = Losses(Recorder.lost.get, sender.dropped, Events.dropped)
      sender.offer(
        Part.encode(window, executorId, name, losses, metrics, latencies, tasks, events, pools))
    }
}

private object Sampler {
  val MostWindowsAtOnce = 20
}
