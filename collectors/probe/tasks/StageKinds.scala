package io.curtail.probe

import org.apache.spark.scheduler.{SparkListenerJobStart, StageInfo}

/** A stage's place among the stages of its micro-batch, and whether its tasks use state stores. */
private[probe] final case class StageKind(place: Int, stateful: Boolean)

/**
 * Numbers the stages of each micro-batch from 0, job after job and in the order of their ids, so
 * that the same stage of every batch has the same number.
 */
private[probe] object StageKinds {
  private val kinds = new Recent[Int, StageKind](4096)
  /** (run, batch) → the number of its stages so far. */
  private val counts = new Recent[(String, String), Int](256)

  def started(job: SparkListenerJobStart): Unit = synchronized {
    def property(name: String): Option[String] =
      Option(job.properties).flatMap(all => Option(all.getProperty(name)))
    // The job group of a streaming query's jobs is its run id.
    for (run <- property("spark.jobGroup.id"); batch <- property("streaming.sql.batchId")) {
      val first = if (counts.containsKey((run, batch))) counts.get((run, batch)) else 0
      val ordered = job.stageInfos.sortBy(_.stageId).filterNot(each => kinds.containsKey(each.stageId))
      ordered.zipWithIndex.foreach { case (stage, at) =>
        kinds.put(stage.stageId, StageKind(first + at, usesState(stage)))
      }
      counts.put((run, batch), first + ordered.size)
    }
  }

  /** For a new context: in the same JVM its stages have the ids of an earlier one's. */
  def clear(): Unit = synchronized {
    kinds.clear()
    counts.clear()
  }

  /** None for a stage of no streaming query, and for one that Spark has not told us of yet. */
  def of(stageId: Int): Option[StageKind] = synchronized { Option(kinds.get(stageId)) }

  /** An RDD that has no name of its own is called by its class. */
  private def usesState(stage: StageInfo): Boolean =
    stage.rddInfos.exists(_.name.contains("StateStore"))
}
