package io.curtail.probe

import java.util.{BitSet, LinkedHashMap, Map => JMap}
import java.util.concurrent.locks.LockSupport

import org.apache.spark.{Resubmitted, SparkContext}
import org.apache.spark.curtail.{Decommissioning, Fetch, ShuffleTraffic}
import org.apache.spark.executor.TaskMetrics
import org.apache.spark.scheduler._

import scala.collection.mutable

/** A stage with running or waiting tasks. Changed only under the lock of its `TaskEvents`. */
private[probe] class Stage(
    val id: Int,
    val attempt: Int,
    val query: QueryOf,
    val tasks: Int,
    val submittedMs: Long,
    val choosy: BitSet,
    val shuffle: Option[Int],
    val parents: Seq[Int],
    val kind: Option[StageKind]) {
  var waiting: Int = tasks
  var running = 0
  var completedMs = 0L
  val fetches = mutable.ArrayBuffer.empty[Fetch]
  val read = new Tally
  val wrote = new Tally

  /** Whether its tasks write to the sink of a streaming query: Spark's result tasks. */
  def isResult: Boolean = shuffle.isEmpty && query.batchId.nonEmpty
}

/** Bytes by executor. */
private[probe] class Tally {
  private val bytes = mutable.HashMap.empty[String, Long]
  def add(executorId: String, more: Long): Unit =
    if (more > 0) bytes(executorId) = bytes.getOrElse(executorId, 0L) + more
  def toMap: Map[String, Long] = bytes.toMap
}

private[probe] case class QueryOf(queryId: String, runId: String, batchId: String)

private[probe] case class TaskSeen(
    stage: Stage,
    executorId: String,
    taskId: Long,
    partition: Int,
    attempt: Int,
    flags: Int,
    locality: Int,
    launchMs: Long,
    done: Option[TaskDone])

/** A completed stage that read shuffles, with the data for its traffic matrix. */
private case class Reduced(
    stage: Stage,
    shuffles: Seq[Int],
    fetches: Seq[Fetch],
    read: Map[String, Long],
    wrote: Map[String, Long])

private[probe] case class TaskDone(
    durationMs: Long,
    runMs: Long,
    rowsRead: Long,
    shuffleBytesRead: Long,
    shuffleBytesWritten: Long,
    rowsWritten: Long)

/**
 * Collects Spark's events on stages, tasks and executors in a small buffer and sends them every
 * 100 ms. The listener's thread only reads numbers; encoding and the traffic matrix are done by a
 * thread of ours. Events that do not fit into the buffer are counted as lost; nothing waits.
 */
private[probe] class TaskEvents(offer: (Int, Array[Byte]) => Unit, executors: ExecutorChanges)
    extends SparkListener {
  private val stages = new Recent[(Int, Int), Stage](2048)
  private val shuffleOf = new Recent[Int, Int](4096)
  private val wroteOf = new Recent[Int, Map[String, Long]](1024)
  private var seen = mutable.ArrayBuffer.empty[TaskSeen]
  private val touched = mutable.LinkedHashSet.empty[Stage]
  private val reduced = mutable.Queue.empty[Stage]
  private val guard = new Guard.Often("note what Spark says of its tasks")
  private var lost = 0L

  override def onJobStart(event: SparkListenerJobStart): Unit = noted {
    StageKinds.started(event)
    // Includes stages that are skipped because an earlier job did their work.
    for (stage <- event.stageInfos; shuffle <- ShuffleTraffic.written(stage))
      shuffleOf.put(stage.stageId, shuffle)
  }

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit = noted {
    val info = event.stageInfo
    def property(name: String) =
      if (event.properties == null) "" else event.properties.getProperty(name, "")
    val stage = new Stage(
      info.stageId,
      info.attemptNumber(),
      // The job group of a streaming query's jobs is its run id.
      QueryOf(property("sql.streaming.queryId"), property("spark.jobGroup.id"),
        property("streaming.sql.batchId")),
      info.numTasks,
      info.submissionTime.getOrElse(System.currentTimeMillis()),
      ShuffleTraffic.choosy(info),
      ShuffleTraffic.written(info),
      info.parentIds,
      StageKinds.of(info.stageId))
    stages.put((stage.id, stage.attempt), stage)
    touched += stage
  }

  override def onTaskStart(event: SparkListenerTaskStart): Unit = noted {
    val task = event.taskInfo
    stageOf(event.stageId, event.stageAttemptId) { stage =>
      stage.running += 1
      if (!task.speculative) stage.waiting = math.max(0, stage.waiting - 1)
      note(stage, task, 0, None)
    }
  }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = noted {
    val task = event.taskInfo
    if (task != null) stageOf(event.stageId, event.stageAttemptId) { stage =>
      // The task had succeeded, but its output is lost with its executor.
      if (event.reason == Resubmitted) { stage.waiting += 1; touched += stage }
      else ended(stage, task, measured(task, Option(event.taskMetrics)))
    }
  }

  private def ended(stage: Stage, task: TaskInfo, done: TaskDone): Unit = {
    stage.running = math.max(0, stage.running - 1)
    // A failed task is retried. A killed one is not: its copy won, or its stage is over.
    if (task.failed && !task.speculative && stage.completedMs == 0) stage.waiting += 1
    if (task.successful) flow(stage, task, done)
    val how = (if (task.successful) TaskFlag.Successful else 0) |
      (if (task.killed) TaskFlag.Killed else 0)
    note(stage, task, TaskFlag.Ended | how, Some(done))
    forgetIfOver(stage)
  }

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit = noted {
    val info = event.stageInfo
    Option(stages.get((info.stageId, info.attemptNumber()))).foreach { stage =>
      stage.completedMs = info.completionTime.getOrElse(System.currentTimeMillis())
      stage.waiting = 0
      stage.shuffle.foreach(wroteOf.put(_, stage.wrote.toMap))
      if (stage.fetches.nonEmpty && stage.query.queryId.nonEmpty) {
        if (reduced.size < TaskEvents.MostReduced) reduced += stage else lost += 1
      }
      touched += stage
      forgetIfOver(stage)
    }
  }

  override def onExecutorAdded(event: SparkListenerExecutorAdded): Unit =
    noted { executors.added(event) }

  override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit =
    noted { executors.removed(event) }

  override def onApplicationEnd(event: SparkListenerApplicationEnd): Unit = noted { flush() }

  /** Sends the events since the last call. */
  private[probe] def flush(): Unit = {
    executors.tell(System.nanoTime())
    var tasks = mutable.ArrayBuffer.empty[TaskSeen]
    var told = Seq.empty[StageTold]
    var reduces = Seq.empty[Reduced]
    var lostSoFar = 0L
    synchronized {
      val empty = tasks
      tasks = seen
      seen = empty
      told = touched.iterator.map(s => StageTold(s, s.waiting, s.running, s.completedMs)).toSeq
      touched.clear()
      reduces = reduced.dequeueAll(_ => true).map(inputs)
      lostSoFar = lost + guard.faults
    }
    if (told.nonEmpty) offer(MessageKind.Tasks, TaskMessage.tasks(lostSoFar, told, tasks.toSeq))
    reduces.foreach { of =>
      val flows = ShuffleTraffic.flows(of.shuffles, of.fetches, of.read, of.wrote)
      offer(MessageKind.Traffic, TaskMessage.traffic(of.stage, flows))
    }
  }

  private def inputs(stage: Stage): Reduced = {
    val shuffles = stage.parents.filter(shuffleOf.containsKey(_)).map(shuffleOf.get(_))
    val wrote = new Tally
    for (shuffle <- shuffles; of <- Option(wroteOf.get(shuffle)); (executor, bytes) <- of)
      wrote.add(executor, bytes)
    Reduced(stage, shuffles, stage.fetches.toSeq, stage.read.toMap, wrote.toMap)
  }

  private def note(stage: Stage, task: TaskInfo, how: Int, done: Option[TaskDone]): Unit =
    if (seen.size >= TaskEvents.MostSeen) lost += 1
    else {
      val flags = how | (if (task.speculative) TaskFlag.Speculative else 0) |
        (if (stage.choosy.get(task.index)) TaskFlag.Choosy else 0)
      seen += TaskSeen(stage, task.executorId, task.taskId, task.partitionId, task.attemptNumber,
        flags, task.taskLocality.id, task.launchTime, done)
      touched += stage
    }

  private def measured(task: TaskInfo, metrics: Option[TaskMetrics]) = {
    val durationMs = math.max(0L, task.finishTime - task.launchTime)
    metrics.fold(TaskDone(durationMs, 0, 0, 0, 0, 0)) { m =>
      TaskDone(
        durationMs,
        m.executorRunTime,
        m.inputMetrics.recordsRead + m.shuffleReadMetrics.recordsRead,
        m.shuffleReadMetrics.totalBytesRead,
        m.shuffleWriteMetrics.bytesWritten,
        m.outputMetrics.recordsWritten + m.shuffleWriteMetrics.recordsWritten)
    }
  }

  private def flow(stage: Stage, task: TaskInfo, done: TaskDone): Unit = {
    if (done.shuffleBytesRead > 0 && stage.fetches.size < TaskEvents.MostFetches)
      stage.fetches += Fetch(task.partitionId, task.executorId)
    stage.read.add(task.executorId, done.shuffleBytesRead)
    stage.wrote.add(task.executorId, done.shuffleBytesWritten)
  }

  /** Forgets a completed stage once no task runs: its last tasks may end after the stage. */
  private def forgetIfOver(stage: Stage): Unit =
    if (stage.completedMs > 0 && stage.running == 0) stages.remove((stage.id, stage.attempt))

  private def stageOf(id: Int, attempt: Int)(use: Stage => Unit): Unit = {
    val stage = stages.get((id, attempt))
    if (stage == null) lost += 1 else use(stage)
  }

  private def noted(body: => Unit): Unit = synchronized { guard.quietly(body) }
}

private[probe] object TaskEvents {
  private val FlushUs = 2 * Clock.WindowUs
  /** Enough for 40 000 events a second, ten times what Spark's scheduler manages. */
  val MostSeen = 4096
  val MostFetches = 20000
  val MostReduced = 64

  def listen(sc: SparkContext): Unit = {
    val executors = new ExecutorChanges(
      CollectorProcess.offer, () => CollectorProcess.pid, Decommissioning.sinceMs(sc, _))
    val events = new TaskEvents(CollectorProcess.offer, executors)
    StageKinds.clear()
    ShuffleTraffic.listen(sc, events)
    val thread = new Thread(() => run(sc, events), "curtail-tasks")
    thread.setDaemon(true)
    thread.start()
  }

  private def run(sc: SparkContext, events: TaskEvents): Unit = {
    val guard = new Guard.Often("tell of tasks")
    while (!sc.isStopped) {
      // Wakes at the end of a window, just before messages are delivered to the collector.
      LockSupport.parkNanos((FlushUs - Clock.nowUs() % FlushUs) * 1000L)
      guard.quietly { events.flush() }
    }
  }
}

/** A map that keeps the newest `most` entries, so that one whose end was lost does not stay. */
private class Recent[K, V](most: Int) extends LinkedHashMap[K, V] {
  override def removeEldestEntry(eldest: JMap.Entry[K, V]): Boolean = size > most
}
