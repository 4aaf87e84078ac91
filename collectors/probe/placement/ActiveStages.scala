package org.apache.spark.curtail

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{Pool, Schedulable, TaskSchedulerImpl, TaskSetManager}

import scala.jdk.CollectionConverters._

/** A stage of which a task runs or waits, with the query and the batch that it belongs to. */
final case class ActiveStage(stageId: Int, queryId: String, runId: String, batchId: String)

/** What Spark's task scheduler knows. In this package because the scheduler is private to it. */
class ActiveStages(sc: SparkContext) {
  private val scheduler = sc.taskScheduler match {
    case known: TaskSchedulerImpl => known
    case other =>
      throw new UnsupportedOperationException(s"tasks are scheduled by ${other.getClass}")
  }

  /** Spark keeps a task set here until the last attempt of each of its tasks has ended, lost
   *  speculative copies included. */
  def now(): Seq[ActiveStage] = managers(scheduler.rootPool).map { manager =>
    val properties = Option(manager.taskSet.properties)
    def property(name: String): String = properties.map(_.getProperty(name, "")).getOrElse("")
    ActiveStage(
      manager.taskSet.stageId,
      property("sql.streaming.queryId"),
      property("spark.jobGroup.id"),
      property("streaming.sql.batchId"))
  }

  /** Runs `body` with the lock under which Spark adds task sets and launches tasks: what is active
   *  stays so, and nothing begins. The scheduler waits for `body`, so that has to be short. */
  def withNoneAdded[T](body: Seq[ActiveStage] => T): T = scheduler.synchronized { body(now()) }

  /** The hosts of living executors by executor id. */
  def executors(): Map[String, String] =
    sc.env.blockManager.master.getMemoryStatus.keys
      .filter(id => !id.isDriver && scheduler.isExecutorAlive(id.executorId))
      .map(id => id.executorId -> id.host)
      .toMap

  private def managers(of: Schedulable): Seq[TaskSetManager] = of match {
    case manager: TaskSetManager => Seq(manager)
    case pool: Pool => pool.schedulableQueue.asScala.toSeq.flatMap(managers)
    case _ => Nil
  }
}
