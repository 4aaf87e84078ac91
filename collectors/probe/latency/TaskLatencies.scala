package io.curtail.probe

import org.apache.spark.TaskContext

import scala.collection.mutable

/**
 * The records of one successful task: how old each was at `referenceUs`, in `FineBuckets`.
 * Committed latency is this age plus the time from the reference to the batch's commit, which the
 * collector adds later; so the reference need not be exact, only the same for both. A copy of a
 * task (speculation, a stage run again) has the same stage and partition, but another attempt.
 */
case class TaskLatencies(
    queryId: String,
    batchId: Long,
    stageId: Int,
    partition: Int,
    attemptId: Long,
    referenceUs: Long,
    ages: Filled)

/** Finished tasks for the next part. `offer` never blocks: it is called on a task's thread. */
private[probe] class FinishedTasks(capacity: Int)
  extends DroppingQueue[TaskLatencies](
    capacity, onDrop = dropped => Recorder.lost.addAndGet(dropped.ages.records))

object TaskLatencies {
  private val BatchIdProperty = "streaming.sql.batchId"
  private val MostPerPart = 128
  private val finished = new FinishedTasks(capacity = 1024)

  private[probe] def drain(): Seq[TaskLatencies] = finished.drain(MostPerPart)

  /** Called at the end of a task; ignores failed tasks, as their records are not committed. */
  private[probe] def ended(task: TaskContext, queryId: String, ages: RecordAges): Unit = {
    val counted = ages.take()
    if (!task.isFailed() && !task.isInterrupted() && counted.buckets.nonEmpty)
      // Continuous queries have no batches, so none of their records is ever committed.
      Option(task.getLocalProperty(BatchIdProperty)).flatMap(_.toLongOption).foreach { batchId =>
        finished.offer(TaskLatencies(queryId, batchId, task.stageId(), task.partitionId(),
          task.taskAttemptId(), ages.referenceUs, counted))
      }
  }
}

/**
 * How old the records of one task were when it began. A micro-batch's offsets are fixed before its
 * tasks start, so none is younger; an event from the future counts as age 0. Used only by the
 * task's own thread, so plain memory suffices.
 */
private[probe] final class RecordAges {
  private val counts = new Array[Int](FineBuckets.Count)
  private var reference = 0L

  def referenceUs: Long = reference

  def begin(): Unit = reference = Clock.nowUs()

  def record(eventUs: Long): Unit = counts(FineBuckets.index(reference - eventUs)) += 1

  /** Returns the counts and resets them. */
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
