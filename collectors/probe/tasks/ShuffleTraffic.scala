package org.apache.spark.curtail

import java.util.BitSet

import org.apache.spark.{MapOutputTrackerMaster, SparkContext, SparkEnv}
import org.apache.spark.scheduler.{MapStatus, SparkListener, StageInfo}

import scala.collection.mutable

/** A reduce task that succeeded: its partition and its executor. */
case class Fetch(partition: Int, executorId: String)

/** Bytes from executor to executor; if not measured, estimated from what each executor wrote. */
case class Flows(measured: Boolean, bytes: Map[(String, String), Long])

/** In this package because Spark's shuffle and stage data are private to it. */
object ShuffleTraffic {
  /** Most pairs of map and reduce task read per stage. Each takes 90 ns of our own thread, because
   *  Spark keeps sizes as logarithms: 5 ms in all. */
  val MostCells = 50000

  /** Adds the listener with its own queue, so that it and others do not delay each other. */
  def listen(sc: SparkContext, listener: SparkListener): Unit =
    sc.listenerBus.addToQueue(listener, "curtail")

  /** The shuffle this stage writes. */
  def written(stage: StageInfo): Option[Int] = stage.shuffleDepId

  /** The stage's tasks that have a preferred location. */
  def choosy(stage: StageInfo): BitSet = {
    val set = new BitSet
    var at = 0
    stage.taskLocalityPreferences.foreach { places => if (places.nonEmpty) set.set(at); at += 1 }
    set
  }

  def flows(
      shuffles: Seq[Int],
      fetches: Seq[Fetch],
      read: Map[String, Long],
      wrote: Map[String, Long]): Flows = {
    val total = read.values.sum
    blocks(shuffles.flatMap(statuses), fetches)
      // Sizes are rounded by up to a tenth. A larger difference means that a task did not read the
      // partition of its own number (adaptive execution joins and splits partitions).
      .filter(cells => math.abs(cells.values.sum - total) <= total / 4)
      .map(Flows(measured = true, _))
      .getOrElse(Flows(measured = false, shares(read, wrote)))
  }

  private[spark] def blocks(
      outputs: Seq[MapStatus],
      fetches: Seq[Fetch]): Option[Map[(String, String), Long]] =
    if (outputs.isEmpty || outputs.length.toLong * fetches.length > MostCells) None
    else
      try {
        val partitions = fetches.groupMap(_.executorId)(_.partition).view.mapValues(_.toArray).toSeq
        val cells = mutable.HashMap.empty[(String, String), Long]
        for (output <- outputs; (to, fetched) <- partitions) {
          var bytes = 0L
          fetched.foreach(partition => bytes += output.getSizeForBlock(partition))
          val cell = (output.location.executorId, to)
          if (bytes > 0) cells(cell) = cells.getOrElse(cell, 0L) + bytes
        }
        Some(cells.toMap)
      } catch { case _: IndexOutOfBoundsException => None } // fewer partitions than tasks

  /** Returns a copy, so that the tracker's lock is held only while copying. */
  private def statuses(shuffleId: Int): Seq[MapStatus] =
    Option(SparkEnv.get).map(_.mapOutputTracker) match {
      case Some(tracker: MapOutputTrackerMaster) =>
        tracker.shuffleStatuses.get(shuffleId).toSeq
          .flatMap(_.withMapStatuses(_.clone()).toSeq.filter(_ != null))
      case _ => Nil
    }

  /** Returns nothing if there would be too many: every pair of executors gets a number here. */
  private def shares(
      read: Map[String, Long],
      wrote: Map[String, Long]): Map[(String, String), Long] = {
    val total = wrote.values.sum
    if (wrote.size.toLong * read.size > MostCells) Map.empty
    else for ((from, part) <- wrote if part > 0; (to, bytes) <- read)
      yield (from, to) -> math.round(bytes.toDouble * part / total)
  }
}
