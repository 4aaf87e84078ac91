package org.apache.spark.curtail

import org.apache.spark.SparkContext

/** In this package because the task scheduler is private to Spark. */
object Decommissioning {
  /** When Spark began to decommission the executor; None as long as it does not. */
  def sinceMs(sc: SparkContext, executorId: String): Option[Long] =
    Option(sc.taskScheduler).flatMap(_.getExecutorDecommissionState(executorId)).map(_.startTime)
}
