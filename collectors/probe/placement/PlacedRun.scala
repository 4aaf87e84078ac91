package io.curtail.probe

import java.util.concurrent.TimeoutException

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.curtail.{ActiveStage, ActiveStages, StateCoordinator}
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId

import scala.util.control.NonFatal

/**
 * The moves that are wished for one run of a query.
 *
 * When the coordinator is told: a task that opens a state store reports its own executor, and hears
 * in return which other stores of that executor have been reported elsewhere since; those are
 * unloaded. So a word in the middle of a stateful stage would be overwritten, or would take a store
 * from a task that has opened it to read and is about to open it to write. Therefore we speak only
 * while no stateful task of the query runs or waits, and with the scheduler's lock held: the word
 * is in the coordinator's inbox before any later task can be launched, let alone report.
 */
private[probe] class PlacedRun(sc: SparkContext, queryId: String, runId: String) {
  private lazy val stages = new ActiveStages(sc)
  private lazy val coordinator = new StateCoordinator(SparkEnv.get)
  private var layout: Option[Layout] = None
  private var moves = Seq.empty[Move]
  private var lookedAt = -1L
  private var completed = -1L
  private var withdrawn: Option[String] = None
  private var leaving = Set.empty[String]
  private var besides = Set.empty[Int]
  private var hasPlanned = true

  /** Keeps how far those moves came that are wished still. */
  def wish(places: Map[Int, String]): Unit = {
    val known = moves.map(each => (each.partition, each.executorId) -> each).toMap
    moves = places.toSeq.map(place => known.getOrElse(place, Move(place._1, place._2)))
  }

  def partitions: Set[Int] = moves.map(_.partition).toSet

  /** Moves all partitions off these executors but for those that others move. */
  def leave(executors: Set[String], others: Set[Int]): Unit =
    if (executors != leaving) {
      leaving = executors
      besides = others
      hasPlanned = false
    }

  def hasLeft: Boolean = withdrawn.isDefined || (hasPlanned && moves.forall(_.isOver))

  def isOpen: Boolean = withdrawn.isEmpty && (!hasPlanned || moves.exists(_.isOpen))

  def why: Option[String] = withdrawn.orElse(moves.flatMap(_.why).headOption)

  /** Sees where the partitions are, and tells the coordinator where they should be if it may. */
  def look(): Unit =
    if (withdrawn.isEmpty) try RunningQuery.find(queryId, runId).foreach(step) catch {
      case _: TimeoutException => () // the driver is busy: the next look may do
      case error @ (NonFatal(_) | _: LinkageError) =>
        withdrawn = Some(s"this Spark's state cannot be moved: $error")
    }

  private def step(query: RunningQuery): Unit = {
    val active = stages.now().filter(isOurs)
    if (layout.isEmpty) layout = query.layout(active.filter(isStateful).map(_.batchId).toSet)
    noteCompleted(query)
    if (!hasPlanned) layout.foreach(planToLeave)
    val due = moves.filter(_.isDue(completed))
    // A partition that is where it should be can leave only with a batch.
    val worthIt = due.exists(_.isOpen) || (due.nonEmpty && completed != lookedAt)
    if (worthIt && !active.exists(mayUseState)) layout.foreach { known =>
      lookedAt = completed
      val stores = due.map(move => move -> known.stores(move.partition)).toMap
      val at = coordinator.executors(stores.values.flatten.toSeq)
      if (known.operators.isEmpty) withdrawn = Some("the query has no state")
      else if (stores.values.exists(_.nonEmpty) && at.isEmpty && completed >= 0)
        withdrawn = Some("Spark keeps no state of this query on executors between batches")
      else {
        val hosts = stages.executors()
        moves = moves.map { move =>
          if (move.partition < 0 || move.partition >= known.partitions)
            move.copy(progress = Move.Failed(s"there is no state partition ${move.partition}"))
          else stores.get(move).fold(move) { own =>
            move.seen(own.flatMap(at.get).toSet, hosts.contains(move.executorId))
          }
        }
        // A store that no task has opened yet has no place to leave.
        val opened = moves.filter(_.isOpen).map(move =>
          move -> known.stores(move.partition).filter(at.contains))
        val told = tell(opened, hosts)
        // Read after speaking: a batch that is counted too late does no harm, too early it would.
        noteCompleted(query)
        moves = moves.map(move => if (told(move)) move.told(completed) else move)
      }
    }
  }

  private def planToLeave(known: Layout): Unit = {
    val stores = (0 until known.partitions).map(each => each -> known.stores(each))
    val at = coordinator.executors(stores.flatMap(_._2))
    val on = stores.collect {
      case (partition, own) if !besides(partition) && own.flatMap(at.get).exists(leaving) => partition
    }
    val stay = stages.executors().keySet.diff(leaving).toSeq.sorted
    if (stay.nonEmpty) {
      wish(on.zipWithIndex.map { case (each, place) => each -> stay(place % stay.size) }.toMap)
      hasPlanned = true
    }
  }

  /** A query that has nothing to do tells of triggers without a batch. */
  private def noteCompleted(query: RunningQuery): Unit =
    completed = math.max(completed, query.completed)

  private def tell(
      wanted: Seq[(Move, Seq[StateStoreProviderId])], hosts: Map[String, String]): Set[Move] = {
    val said = stages.withNoneAdded { active =>
      if (active.exists(stage => isOurs(stage) && mayUseState(stage))) Nil
      else for ((move, own) <- wanted if own.nonEmpty; host <- hosts.get(move.executorId))
        yield move -> coordinator.say(own, host, move.executorId)
    }
    said.foreach(_._2.confirm())
    said.map(_._1).toSet
  }

  private def isOurs(stage: ActiveStage): Boolean = stage.queryId == queryId || stage.runId == runId

  private def isStateful(stage: ActiveStage): Boolean =
    StageKinds.of(stage.stageId).exists(_.stateful)

  /** A stage that the listener bus has not told us of yet may use state as well. */
  private def mayUseState(stage: ActiveStage): Boolean =
    StageKinds.of(stage.stageId).forall(_.stateful)
}
