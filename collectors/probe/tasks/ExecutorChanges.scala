package io.curtail.probe

import java.util.ArrayList

import org.apache.spark.scheduler.{SparkListenerExecutorAdded, SparkListenerExecutorRemoved}

import scala.jdk.CollectionConverters._

/** What the collector is told of an executor that runs; `leaving` once Spark decommissions it. */
private case class ExecutorThere(
    sinceMs: Long, executorId: String, host: String, cores: Int, leaving: Boolean) {
  def encoded: Array[Byte] =
    TaskMessage.executor(there = true, leaving, sinceMs, executorId, host, cores, "")
}

/**
 * The executors that Spark has, and the messages on what changed since the last `tell`.
 *
 * Spark posts no event when it begins to decommission an executor, so once a second
 * `decommissionedMs` is asked for each, which returns when Spark began to.
 */
private[probe] class ExecutorChanges(
    offer: (Int, Array[Byte]) => Unit,
    collectorPid: () => Long,
    decommissionedMs: String => Option[Long]) {
  private val there = new Recent[String, ExecutorThere](4096)
  private val changes = new ArrayList[Array[Byte]]
  private val guard = new Guard.Often("ask which executors are decommissioned")
  private var toldTo = -1L
  private var lookedNs = 0L

  def added(event: SparkListenerExecutorAdded): Unit = synchronized {
    val info = event.executorInfo
    change(ExecutorThere(
      event.time, event.executorId, info.executorHost, info.totalCores, leaving = false))
  }

  def removed(event: SparkListenerExecutorRemoved): Unit = synchronized {
    there.remove(event.executorId)
    val reason = Option(event.reason).getOrElse("").take(ExecutorChanges.LongestReason)
    changes.add(TaskMessage.executor(
      there = false, leaving = false, event.time, event.executorId, "", 0, reason))
  }

  /** Called often; asks Spark at most once a second. */
  def tell(nowNs: Long): Unit = {
    if (nowNs - lookedNs >= ExecutorChanges.LookNs) {
      lookedNs = nowNs
      guard.quietly { look() }
    }
    val pid = collectorPid()
    if (pid > 0) {
      // A new collector is told of all: the first ones join before it starts.
      val told = synchronized {
        val said = if (pid == toldTo) new ArrayList[Array[Byte]](changes) else everyone()
        changes.clear()
        said
      }
      toldTo = pid
      told.forEach(offer(MessageKind.Executors, _))
    } else synchronized { changes.clear() }
  }

  /** Asks Spark without our lock: the listener's thread must not wait for the scheduler's. */
  private def look(): Unit =
    for {
      known <- synchronized { there.values.asScala.filterNot(_.leaving).toSeq }
      beganMs <- decommissionedMs(known.executorId)
    } synchronized {
      if (there.containsKey(known.executorId)) change(known.copy(sinceMs = beganMs, leaving = true))
    }

  private def change(executor: ExecutorThere): Unit = {
    there.put(executor.executorId, executor)
    changes.add(executor.encoded)
  }

  private def everyone(): ArrayList[Array[Byte]] = {
    val all = new ArrayList[Array[Byte]]
    there.values.forEach(executor => all.add(executor.encoded))
    all
  }
}

private object ExecutorChanges {
  val LookNs = 1000000000L
  val LongestReason = 500
}
