package org.apache.spark.scheduler.curtail

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{Pool, ResultTask, Schedulable, TaskSchedulerImpl, TaskSetManager}
import org.apache.spark.util.Utils

import scala.collection.mutable
import scala.jdk.CollectionConverters._

/** A running attempt of a task. `alone`: the only one, neither copied nor about to be. */
case class Attempt(index: Int, launchMs: Long, alone: Boolean, copy: Boolean)

/** What became of a copy: it waits for a slot, runs, ended, or was not needed any more. */
sealed trait CopyState
case object Waiting extends CopyState
case class Running(ageMs: Long) extends CopyState
case class Ended(tookMs: Long) extends CopyState

/** A task set of Spark's scheduler: the tasks of one attempt of a stage. */
class RunningSet private[curtail] (private[curtail] val manager: TaskSetManager) {
  def stageId: Int = manager.taskSet.stageId
  def property(name: String): Option[String] =
    Option(manager.taskSet.properties).flatMap(all => Option(all.getProperty(name)))
  def isResult: Boolean = manager.tasks.headOption.exists(_.isInstanceOf[ResultTask[_, _]])

  /** Whether its tasks have to start, or fail, together: barrier stages, real-time mode. */
  def together: Boolean = manager.isBarrier || RunningSets.pipelined(manager.taskSet)
}

/**
 * Copies of tasks by the hand of Spark's scheduler: as its own speculation does, for a task of our
 * choice. In this package because the scheduler's data are private to the one around it. They are
 * read and changed under the scheduler's lock, one task set at a time.
 */
class RunningSets(sc: SparkContext, scheduler: TaskSchedulerImpl) {
  def isStopped: Boolean = sc.isStopped

  /** The task sets in hand. Takes no lock: Spark keeps them in concurrent queues. */
  def all: Seq[RunningSet] = managers(scheduler.rootPool).map(new RunningSet(_)).toSeq

  private def managers(in: Schedulable): Iterator[TaskSetManager] = in match {
    case manager: TaskSetManager => Iterator(manager)
    case pool: Pool => pool.schedulableQueue.asScala.iterator.flatMap(managers)
    case _ => Iterator.empty
  }

  def attempts(of: RunningSet): Seq[Attempt] = scheduler.synchronized {
    val manager = of.manager
    if (manager.isZombie) Nil
    else manager.runningTasksSet.iterator.map(manager.taskInfos(_)).map { info =>
      Attempt(info.index, info.launchTime, single(manager, info.index) && !info.gettingResult,
        info.speculative)
    }.toIndexedSeq
  }

  /** Has Spark run a copy on another host; false if the task no longer needs one. */
  def copy(of: RunningSet, index: Int): Boolean = {
    // Before the scheduler's lock: this takes the backend's, which Spark takes second.
    val executors = sc.getExecutorIds()
    val manager = of.manager
    val wanted = scheduler.synchronized {
      val still = !manager.isZombie && single(manager, index)
      if (still) {
        manager.addPendingTask(index, resolveRacks = false, speculatable = true)
        // A task that prefers an executor would wait for it while others of its stage do so
        // (spark.locality.wait): by name it may run on any, save on hosts that have an attempt.
        val named = manager.pendingSpeculatableTasks.forExecutor
        executors.foreach(named.getOrElseUpdate(_, new mutable.ArrayBuffer[Int]) += index)
        manager.speculatableTasks += index
        scheduler.dagScheduler.speculativeTaskSubmitted(manager.tasks(index), index)
      }
      still
    }
    if (wanted) scheduler.backend.reviveOffers()
    wanted
  }

  def stateOf(of: RunningSet, index: Int, nowMs: Long): CopyState = scheduler.synchronized {
    val manager = of.manager
    manager.taskAttempts(index).find(_.speculative) match {
      case Some(info) if info.finished => Ended(info.duration)
      case Some(info) => Running(math.max(0L, nowMs - info.launchTime))
      case None if manager.isZombie || manager.successful(index) => Ended(0L)
      case None => Waiting
    }
  }

  private def single(manager: TaskSetManager, index: Int): Boolean =
    !manager.successful(index) && manager.copiesRunning(index) == 1 &&
      !manager.speculatableTasks.contains(index) &&
      // A copy that failed is not made again.
      !manager.taskAttempts(index).exists(_.speculative)
}

object RunningSets {
  /** The scheduler that there is, or why copies cannot be made with it. */
  def of(sc: SparkContext): Either[String, RunningSets] =
    if (sc.isLocal) Left("a local master has one host, and copies run on another one")
    else sc.taskScheduler match {
      case scheduler: TaskSchedulerImpl => Right(new RunningSets(sc, scheduler))
      case other => Left(s"the task scheduler of this Spark is not known: ${other.getClass.getName}")
    }

  /** Hosts that have an executor. */
  def hosts(sc: SparkContext): Set[String] =
    sc.statusStore.executorList(activeOnly = true)
      .filter(_.id != SparkContext.DRIVER_IDENTIFIER)
      .map(executor => Utils.parseHostPort(executor.hostPort)._1).toSet

  /** Spark has such stages only since 4.3. */
  private[curtail] def pipelined(of: AnyRef): Boolean =
    try of.getClass.getMethod("isPipelined").invoke(of) == java.lang.Boolean.TRUE
    catch { case _: NoSuchMethodException => false }
}
