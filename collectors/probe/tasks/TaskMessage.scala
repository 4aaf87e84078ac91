package io.curtail.probe

import java.util.BitSet

import org.apache.spark.curtail.Flows

import scala.collection.mutable

private[probe] object TaskFlag {
  val Ended = 1
  val Successful = 2
  val Killed = 4
  val Speculative = 8
  val Choosy = 16
}

private[probe] object StageFlag {
  val Stateful = 1
  val Result = 2
}

private[probe] object ExecutorFlag {
  val There = 1
  val Leaving = 2
}

/** The state of a stage when the message was made. */
private[probe] case class StageTold(stage: Stage, waiting: Int, running: Int, completedMs: Long)

/** Messages of kind 7, 8 and 9. Layout: collectors/process/events/task_messages.py, whose tests pin these bytes. */
object TaskMessage {
  val Version = 2

  private[probe] def tasks(lost: Long, stages: Seq[StageTold], tasks: Seq[TaskSeen]): Array[Byte] = {
    val out = new Bytes
    out.byte(Version)
    out.varint(lost)
    out.varint(stages.size)
    stages.foreach { told =>
      which(out, told.stage)
      out.varint(told.stage.tasks)
      out.varint(told.waiting)
      out.varint(told.running)
      out.varint(told.stage.submittedMs)
      out.varint(told.completedMs)
    }
    val stageAt = stages.iterator.map(_.stage).zipWithIndex.toMap
    val executors = tasks.iterator.map(_.executorId).distinct.zipWithIndex.toSeq
    names(out, executors.map(_._1))
    val executorAt = executors.toMap
    val baseMs = tasks.headOption.fold(0L)(_.launchMs)
    out.varint(baseMs)
    out.varint(tasks.size)
    tasks.foreach { task =>
      out.varint(stageAt(task.stage))
      out.varint(executorAt(task.executorId))
      out.varint(task.taskId)
      out.varint(task.partition)
      out.varint(task.attempt)
      out.varint(task.flags)
      out.varint(task.locality)
      out.signed(task.launchMs - baseMs)
      task.done.foreach { done =>
        out.varint(done.durationMs)
        out.varint(done.runMs)
        out.varint(done.rowsRead)
        out.varint(done.shuffleBytesRead)
        out.varint(done.shuffleBytesWritten)
        out.varint(done.rowsWritten)
      }
    }
    out.toArray
  }

  private[probe] def executor(
      there: Boolean,
      leaving: Boolean,
      timeMs: Long,
      executorId: String,
      host: String,
      cores: Int,
      reason: String): Array[Byte] = {
    val out = new Bytes
    out.byte(Version)
    out.byte((if (there) ExecutorFlag.There else 0) | (if (leaving) ExecutorFlag.Leaving else 0))
    out.varint(timeMs)
    out.text(executorId)
    out.text(host)
    out.varint(cores)
    out.text(reason)
    out.toArray
  }

  private[probe] def traffic(stage: Stage, flows: Flows): Array[Byte] = {
    val out = new Bytes
    out.byte(Version)
    which(out, stage)
    out.varint(stage.completedMs)
    out.byte(if (flows.measured) 1 else 0)
    val executors = flows.bytes.keys.flatMap(cell => Seq(cell._1, cell._2)).toSeq.distinct.sorted
    val at = executors.zipWithIndex.toMap
    names(out, executors)
    out.varint(flows.bytes.size)
    flows.bytes.toSeq.sorted.foreach { case ((from, to), bytes) =>
      out.varint(at(from))
      out.varint(at(to))
      out.varint(bytes)
    }
    out.toArray
  }

  private def which(out: Bytes, stage: Stage): Unit = {
    out.varint(stage.id)
    out.varint(stage.attempt)
    out.text(stage.query.queryId)
    out.text(stage.query.runId)
    out.varint(stage.query.batchId.toLongOption.fold(0L)(_ + 1))
    out.varint(stage.kind.fold(0L)(_.place + 1L))
    out.varint((if (stage.kind.exists(_.stateful)) StageFlag.Stateful else 0) |
      (if (stage.isResult) StageFlag.Result else 0))
  }

  private def names(out: Bytes, texts: Seq[String]): Unit = {
    out.varint(texts.size)
    texts.foreach(out.text)
  }

  /** For tests in Python, which cannot make these values. */
  def sampleTasks(queryId: String, runId: String): Array[Byte] = {
    val stage = sampleStage(queryId, runId)
    val done = TaskDone(35, 30, 1000, 4096, 0, 12)
    tasks(5, Seq(StageTold(stage, 3, 1, 0)), Seq(
      TaskSeen(stage, "1", 300, 4, 0, TaskFlag.Choosy, 4, 1728394506150L, None),
      TaskSeen(stage, "2", 299, 3, 1, TaskFlag.Ended | TaskFlag.Successful, 0, 1728394506120L, Some(done))))
  }

  def sampleExecutors(): Array[Array[Byte]] = Array(
    executor(there = true, leaving = false, 1728394506150L, "1", "node-a", 4, ""),
    executor(there = true, leaving = true, 1728394506200L, "1", "node-a", 4, ""),
    executor(there = false, leaving = false, 1728394506250L, "1", "", 0, "killed"))

  def sampleTraffic(queryId: String, runId: String): Array[Byte] = {
    val stage = sampleStage(queryId, runId)
    stage.completedMs = 1728394506200L
    traffic(stage, Flows(measured = true, Map(("2", "1") -> 4096L, ("1", "1") -> 1024L)))
  }

  private def sampleStage(queryId: String, runId: String) =
    new Stage(7, 0, QueryOf(queryId, runId, "9"), 6, 1728394506100L, new BitSet, None, Nil,
      Some(StageKind(1, stateful = true)))
}
