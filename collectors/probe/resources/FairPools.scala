package org.apache.spark.scheduler.curtail

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{Pool, SchedulingMode, TaskSchedulerImpl}

import scala.jdk.CollectionConverters._

/** One pool; equal to itself alone, whatever its name. */
final case class FairPool private[curtail] (private[curtail] val pool: Pool) {
  def name: String = pool.name
  def weight: Int = pool.weight
  def minShare: Int = pool.minShare
}

/**
 * The pools of Spark's fair scheduler, each with a weight and a minimum of tasks. In this package
 * because they are private to the scheduler's. Their numbers are meant to be read once from a file;
 * Spark looks at the fields whenever it sorts pools, so it obeys a new value at its next offer.
 */
class FairPools(scheduler: TaskSchedulerImpl) {
  import FairPools._

  /** Those directly under the root, between which slots are shared. */
  def all: Seq[FairPool] =
    scheduler.rootPool.schedulableQueue.asScala.collect { case pool: Pool => FairPool(pool) }.toSeq

  def find(name: String): Option[FairPool] = all.find(_.name == name)

  /** Returns the pool of this name, which is made if there is none. */
  def made(name: String): FairPool = scheduler.synchronized {
    find(name).getOrElse {
      val pool = new Pool(name, SchedulingMode.FIFO, 0, 1)
      scheduler.rootPool.addSchedulable(pool)
      FairPool(pool)
    }
  }

  def set(of: FairPool, weight: Int, minShare: Int): Unit = scheduler.synchronized {
    if (of.weight != weight) Weight.setInt(of.pool, weight)
    if (of.minShare != minShare) MinShare.setInt(of.pool, minShare)
  }

  /** Removes the pool if it has no tasks; returns whether there was one. */
  def drop(name: String): Boolean = scheduler.synchronized {
    val there = all.filter(_.name == name)
    there.filter(_.pool.schedulableQueue.isEmpty)
      .foreach(each => scheduler.rootPool.removeSchedulable(each.pool))
    there.nonEmpty
  }
}

object FairPools {
  private lazy val Weight = field("weight")
  private lazy val MinShare = field("minShare")

  /** The pools of this application, or why there are none. */
  def of(sc: SparkContext): Either[String, FairPools] = sc.taskScheduler match {
    case fair: TaskSchedulerImpl if fair.schedulingMode == SchedulingMode.FAIR =>
      Right(new FairPools(fair))
    case other: TaskSchedulerImpl =>
      Left(s"Spark schedules ${other.schedulingMode}, which knows no shares, and reads that only " +
        "when it starts: --conf spark.scheduler.mode=FAIR")
    case other => Left(s"the task scheduler of this Spark is not known: ${other.getClass.getName}")
  }

  private def field(name: String) = {
    val found = classOf[Pool].getDeclaredField(name)
    found.setAccessible(true)
    found
  }
}
