package io.curtail.probe

import org.apache.spark.TaskContext

import scala.collection.mutable

/**
 * What one task that succeeded counted: how old each of its records was at `referenceUs`, in
 * `FineBuckets`. Their committed latencies are that plus the time from there to their batch's
 * commit, which the collector hears of later; so the reference need not be exact, only the same.
 * A copy of a task (speculation, a stage run again) has its stage and partition, not its attempt.
 */
case class TaskLatencies(
    queryId: String,
    batchId: Long,
    stageId: Int,
    partition: Int,
    attemptId: Long,
    referenceUs: Long,
    ages: Filled)

/** On the way to the next part. Who offers is a task's thread, and never waits. */
private[probe] class FinishedTasks(capacity: Int)
  extends DroppingQueue[TaskLatencies](
    capacity, onDrop = dropped => Recorder.lost.addAndGet(dropped.ages.records))

object TaskLatencies {
  private val BatchIdProperty = "streaming.sql.batchId"
  private val MostPerPart = 128
  private val finished = new FinishedTasks(capacity = 1024)

  private[probe] def drain(): Seq[TaskLatencies] = finished.drain(MostPerPart)

  /** At the end of a task: only what succeeded can be committed. */
  private[probe] def ended(task: TaskContext, queryId: String, ages: RecordAges): Unit = {
    val counted = ages.take()
    if (!task.isFailed() && !task.isInterrupted() && counted.buckets.nonEmpty)
      // Continuous queries have no batches: nothing of theirs is committed.
      Option(task.getLocalProperty(BatchIdProperty)).flatMap(_.toLongOption).foreach { batchId =>
        finished.offer(TaskLatencies(queryId, batchId, task.stageId(), task.partitionId(),
          task.taskAttemptId(), ages.referenceUs, counted))
      }
  }
}

/**
 * How old the records of one task were when it began. A micro-batch's offsets are fixed before its
 * tasks start, so none is younger; an event from the future counts as of that moment. Only the
 * task's own thread comes here: plain memory.
 */
private[probe] final class RecordAges {
  private val counts = new Array[Int](FineBuckets.Count)
  private var reference = 0L

  def referenceUs: Long = reference

  def begin(): Unit = reference = Clock.nowUs()

  def record(eventUs: Long): Unit = counts(FineBuckets.index(reference - eventUs)) += 1

  /** What was counted, leaving nothing behind. */
  def take(): Filled = {
    val buckets = mutable.ArrayBuilder.make[Int]
    val filled = mutable.ArrayBuilder.make[Int]
    var bucket = 0
    while (bucket < counts.length) {
      if (counts(bucket) > 0) {
        buckets += bucket
        filled += counts(bucket)
        counts(bucket) = 0
      }
      bucket += 1
    }
    Filled(buckets.result(), filled.result())
  }
}
