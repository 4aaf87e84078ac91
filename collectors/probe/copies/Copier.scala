package io.curtail.probe

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import org.apache.spark.scheduler.curtail.{Ended, Running, RunningSet, RunningSets, Waiting}

import scala.collection.mutable
import scala.util.control.NonFatal

/** A plan for the tasks of one run of a query. */
private[probe] final case class CopyOrder(queryId: String, runId: String, plan: CopyPlan)

/**
 * Looks at the tasks of queries that have a plan, every 20 ms, on a thread that lives as long as
 * there are plans or copies. The first error ends it: a Spark that this does not fit is left alone.
 */
private[probe] class Copier(sets: RunningSets) {
  import Copier._

  private var orders = Seq.empty[CopyOrder]
  private var thread: Option[Thread] = None
  @volatile private var broken: Option[String] = None
  /** Run → its budget. It outlives the order, so that off and on again gives no new credit. */
  private val budgets = new Recent[String, CopyBudget](64)
  /** (run, kind) → what is known of such stages. */
  private val stages = new Recent[(String, Int), CopyChoice.Traits](1024)
  // Of the thread alone.
  private val open = mutable.ArrayBuffer.empty[Copy]
  private var lookedMs = 0L

  def want(wanted: Seq[CopyOrder]): Unit = synchronized {
    orders = wanted
    if (wanted.nonEmpty && thread.isEmpty && broken.isEmpty) {
      val made = new Thread(() => run(), "curtail-copies")
      made.setDaemon(true)
      thread = Some(made)
      made.start()
    }
  }

  def fault: Option[String] = broken

  /** Why the order has no effect, if every kind that it names is left out. */
  def leftOut(order: CopyOrder): Option[String] = synchronized {
    val kinds = order.plan.timeoutsMs.keys.toSeq.sorted
    val reasons = for (kind <- kinds; stage <- Option(stages.get((order.runId, kind)));
        why <- CopyChoice.leftOut(order.plan, stage)) yield s"stage $kind gets no copies: $why"
    if (reasons.size < kinds.size) None else reasons.headOption
  }

  private def run(): Unit = {
    lookedMs = System.currentTimeMillis()
    while (goesOn()) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(EveryMs))
      try round(synchronized(orders), System.currentTimeMillis())
      catch {
        case error @ (NonFatal(_) | _: LinkageError) =>
          broken = Some(s"copies do not work with this Spark: $error")
          Guard.quietly("copy late tasks") { throw error }
      }
    }
  }

  private def goesOn(): Boolean = synchronized {
    val on = (orders.nonEmpty || open.nonEmpty) && broken.isEmpty && !sets.isStopped
    if (!on) thread = None
    on
  }

  private def round(orders: Seq[CopyOrder], nowMs: Long): Unit = {
    settle(nowMs)
    // Of a long pause nobody knows what ran meanwhile, and the clock may have been set.
    val sinceMs = math.min(math.max(0L, nowMs - lookedMs), LongestLookMs)
    lookedMs = nowMs
    val all = sets.all
    orders.foreach { order =>
      val budget = budgetOf(order.runId)
      all.filter(isOf(_, order)).foreach(look(_, order, budget, sinceMs, nowMs))
    }
  }

  private def look(
      set: RunningSet, order: CopyOrder, budget: CopyBudget, sinceMs: Long, nowMs: Long): Unit = {
    val attempts = sets.attempts(set)
    budget.worked(nowMs, sinceMs * attempts.count(!_.copy))
    traits(set).foreach { stage =>
      synchronized { stages.put((order.runId, stage.kind), stage) }
      val costMs = order.plan.costMs(stage.kind)
      for (late <- CopyChoice.late(order.plan, stage, attempts, nowMs)
          if budget.allows(nowMs, costMs, order.plan.budgetPercent) && sets.copy(set, late.index))
        open += Copy(set, late.index, budget, budget.made(nowMs, costMs))
    }
  }

  /** Corrects what copies were charged. */
  private def settle(nowMs: Long): Unit = open.filterInPlace { copy =>
    sets.stateOf(copy.set, copy.index, nowMs) match {
      case Waiting => true
      case Running(ageMs) => copy.budget.runs(copy.number, ageMs); true
      case Ended(tookMs) => copy.budget.ended(copy.number, tookMs); false
    }
  }

  private def budgetOf(runId: String): CopyBudget =
    budgets.computeIfAbsent(runId, _ => new CopyBudget)
}

private[probe] object Copier {
  private val EveryMs = 20L
  private val LongestLookMs = 1000L
  private val QueryId = "sql.streaming.queryId"
  /** The job group of a streaming query's jobs is its run id. */
  private val RunId = "spark.jobGroup.id"
  private val StateFormat = "spark.sql.streaming.stateStore.checkpointFormatVersion"
  /** From this format on every attempt writes files of its own, and the driver says which count. */
  private val UniqueFiles = 2

  private final case class Copy(set: RunningSet, index: Int, budget: CopyBudget, number: Long)

  private def isOf(set: RunningSet, order: CopyOrder): Boolean =
    set.property(RunId).contains(order.runId) && set.property(QueryId).contains(order.queryId)

  /** None of a stage that Spark has not told us of yet. */
  private def traits(set: RunningSet): Option[CopyChoice.Traits] =
    StageKinds.of(set.stageId).map { kind =>
      val unique = set.property(StateFormat).flatMap(_.toIntOption).exists(_ >= UniqueFiles)
      CopyChoice.Traits(kind.place, set.together, set.isResult, kind.stateful, unique)
    }
}
