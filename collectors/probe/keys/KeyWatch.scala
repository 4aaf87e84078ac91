package io.curtail.probe

import org.apache.spark.TaskContext
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.unsafe.types.UTF8String

import scala.util.control.NonFatal

/**
 * The keys that pass in one task. One row of 16 on average is counted, at random distances: with a
 * fixed distance, keys that come in turns would be missed or counted alone. Used only by the task's
 * own thread; what it counted goes to `HeavyKeys` at the task's end, and now and then before.
 */
final class KeyWatch private[probe] (place: Option[KeyPlace], seed: Long) {
  import KeyWatch._

  private var sketch = new KeySketch
  private var random = seed | 1L
  private var left = if (place.isEmpty) Never else distance()

  /** Called by generated code for every row: is this one to be counted? */
  def isDue(): Boolean = {
    left -= 1
    left <= 0
  }

  /** Counts the key of a row that is due. True if `name` has to be called with the key's text. */
  def count(hash: Int): Boolean = {
    left = if (place.isEmpty) Never else distance()
    if (sketch.total >= MostUntold) publish()
    sketch.count(hash)
  }

  /** Copies the text, which may lie in a row that Spark uses again. Decoded only if it is told. */
  def name(hash: Int, text: UTF8String): Unit =
    sketch.name(hash,
      if (text.numBytes > LongestText) text.substring(0, LongestText) else text.copy())

  private[probe] def publish(): Unit =
    if (sketch.total > 0) {
      place.foreach(HeavyKeys.add(_, sketch))
      sketch = new KeySketch
    }

  /** Uniform from 1 to 31, by xorshift: java.util.Random would cost an atomic operation. */
  private def distance(): Int = {
    random ^= random << 13
    random ^= random >>> 7
    random ^= random << 17
    1 + java.lang.Math.floorMod(random, 2L * MeanDistance - 1).toInt
  }
}

object KeyWatch {
  val MeanDistance = 16
  val LongestText = 64
  private val Never = Int.MaxValue
  // A task of a query in real-time mode runs for minutes.
  private val MostUntold = 4096
  private val QueryIdProperty = "sql.streaming.queryId"
  private val StatePartitionsProperty = "spark.sql.streaming.internal.stateStore.partitions"

  /** Called by generated code at the start of each partition. Watches nothing in batch queries. */
  def forTask(columns: String): KeyWatch =
    try {
      val task = TaskContext.get()
      val queryId = if (task == null) null else task.getLocalProperty(QueryIdProperty)
      if (queryId == null) idle
      else {
        val place = KeyPlace(queryId, columns, statePartitions(task))
        val watch = new KeyWatch(Some(place), task.taskAttemptId() * 0x9e3779b97f4a7c15L)
        task.addTaskCompletionListener[Unit] { (_: TaskContext) =>
          // Guarded, because an exception in a listener would fail the task.
          Guard.quietly("count keys") { watch.publish() }
        }
        watch
      }
    } catch { case NonFatal(_) | _: LinkageError => idle }

  private def idle: KeyWatch = new KeyWatch(None, 1)

  /**
   * The number of state partitions, which the checkpoint fixes: Spark puts what the offset log says
   * into the options of every batch. Since Spark 4.2 it has an option of its own.
   */
  private def statePartitions(task: TaskContext): Int =
    Option(task.getLocalProperty(StatePartitionsProperty)).flatMap(_.toIntOption)
      .getOrElse(SQLConf.get.numShufflePartitions)
}
