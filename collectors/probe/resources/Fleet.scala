package org.apache.spark.curtail

import org.apache.spark.{ExecutorAllocationClient, SparkContext}
import org.apache.spark.internal.config.DECOMMISSION_ENABLED
import org.apache.spark.scheduler.ExecutorDecommissionInfo
import org.apache.spark.util.Utils

/**
 * The executors of an application, as its cluster manager adds and removes them. In this package
 * because Spark keeps the removal without replacement to itself.
 */
class Fleet(sc: SparkContext, client: ExecutorAllocationClient) {
  /** Those that get tasks: neither lost nor about to go. */
  def executors: Seq[String] = client.getExecutorIds().filter(client.isExecutorActive)

  def request(total: Int): Unit = sc.requestTotalExecutors(total, 0, Map.empty[String, Int])

  /** Whether executors can be told to end by themselves, after the tasks that they run. */
  val decommissions: Boolean = sc.conf.get(DECOMMISSION_ENABLED)

  /** Nobody takes their place; `request` said so before. */
  def remove(executors: Seq[String]): Unit =
    if (decommissions) {
      val info = ExecutorDecommissionInfo("fewer executors are asked for", None)
      client.decommissionExecutors(
        executors.map(_ -> info).toArray, adjustTargetNumExecutors = false, triggeredByExecutor = false)
    } else client.killExecutors(
      executors, adjustTargetNumExecutors = false, countFailures = false, force = true)
}

object Fleet {
  /** The executors of this application, or why their number is not ours to set. */
  def of(sc: SparkContext): Either[String, Fleet] =
    if (sc.isLocal) Left("a local master has no executors to add or remove")
    else if (Utils.isDynamicAllocationEnabled(sc.conf))
      Left("dynamic allocation adds and removes executors by itself")
    else sc.schedulerBackend match {
      case client: ExecutorAllocationClient => Right(new Fleet(sc, client))
      case other => Left(s"this cluster manager neither adds nor removes executors: ${other.getClass}")
    }
}
