package io.curtail.probe

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import org.apache.spark.SparkContext
import org.apache.spark.curtail.ActiveStages

import scala.jdk.CollectionConverters._
import scala.util.Try

/**
 * Moves state partitions to executors. docs/adr/0013 says why results stay exact.
 *
 * `places` of an order is a map from partitions to executor ids. The coordinator can be told only
 * at certain moments, which may last for milliseconds, so a thread of this lever looks for one while
 * there is something to tell. Moves are not undone: a way back would cost as much as the way there.
 */
private[probe] class PlacementLever(context: () => Option[SparkContext]) extends Lever {
  import PlacementLever._

  override val name = "state-placement"

  private var runs = Map.empty[Run, PlacedRun]
  /** Executors that are to have no state, and the moves off them of every query. */
  private var leaving = Set.empty[String]
  private var left = Map.empty[Run, PlacedRun]
  private var thread: Option[Thread] = None

  override def hold(orders: Seq[Order]): Map[Int, String] = synchronized {
    val refused = if (orders.isEmpty) Map.empty[Int, String] else whyNot(orders)
    val wanted = orders.filterNot(order => refused.contains(order.number))
    runs = context().toSeq.flatMap { sc =>
      wanted.map { order =>
        val run = Run(order.queryId, order.runId)
        val placed = runs.getOrElse(run, new PlacedRun(sc, run.queryId, run.runId))
        placed.wish(places(order).filterNot { case (_, executor) => leaving(executor) })
        run -> placed
      }
    }.toMap
    step()
    refused ++ wanted.flatMap { order =>
      runs.get(Run(order.queryId, order.runId)).flatMap(_.why).map(order.number -> _)
    }
  }

  override def settled: Boolean = synchronized(!runs.values.exists(_.isOpen))

  /**
   * Moves the state of all queries off these executors, and ends that for all others. Called again
   * and again: queries start, and what was told has to be seen. Orders for other partitions stand.
   */
  def leave(executors: Set[String]): Unit = synchronized {
    leaving = executors
    left =
      if (executors.isEmpty) Map.empty
      else context().toSeq.flatMap { sc =>
        RunningQuery.all.map { case (queryId, runId) =>
          val run = Run(queryId, runId)
          val placed = left.getOrElse(run, new PlacedRun(sc, queryId, runId))
          placed.leave(executors, runs.get(run).fold(Set.empty[Int])(_.partitions))
          run -> placed
        }
      }.toMap
    step()
  }

  /** Whether no state is on the executors that `leave` was told last, as far as can be known. */
  def hasLeft: Boolean = synchronized(left.values.forall(_.hasLeft))

  private def step(): Unit = {
    look()
    if (isOpen && !thread.exists(_.isAlive)) thread = Some(started())
  }

  private def isOpen: Boolean = (runs.values ++ left.values).exists(_.isOpen)

  private def look(): Unit = (runs.values ++ left.values).foreach(_.look())

  private def started(): Thread = {
    val made = new Thread(() => run(), "curtail-placement")
    made.setDaemon(true)
    made.start()
    made
  }

  private def run(): Unit = {
    var running = true
    while (running) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(StepMs))
      running = synchronized {
        look()
        isOpen
      }
    }
  }

  private def whyNot(orders: Seq[Order]): Map[Int, String] = {
    val everywhere = context() match {
      case Some(sc) if !sc.isStopped => whyNotHere(sc)
      case _ => Some("there is no Spark context here")
    }
    orders.flatMap { order =>
      val unnamed = if (order.values.path("places").isObject) None else Some("no places are named")
      everywhere.orElse(unnamed).map(order.number -> _)
    }.toMap
  }
}

private object PlacementLever {
  private val StepMs = 15L

  private final case class Run(queryId: String, runId: String)

  private def whyNotHere(sc: SparkContext): Option[String] = {
    val executors = new ActiveStages(sc).executors().size
    whyNotIn(sc.isLocal, sc.getConf.getBoolean("spark.dynamicAllocation.enabled", false), executors)
  }

  def whyNotIn(isLocal: Boolean, addsAndRemoves: Boolean, executors: Int): Option[String] =
    if (isLocal) Some("with a local master all state is in one process")
    // It removes executors that are idle, so those that we empty, whatever was planned for them.
    else if (addsAndRemoves) Some("dynamic allocation adds and removes executors by itself")
    else if (executors < 2) Some("there are fewer than two executors")
    else None

  private def places(order: Order): Map[Int, String] = {
    val node = order.values.path("places")
    if (!node.isObject) Map.empty
    else node.properties().asScala.flatMap { each =>
      Try(each.getKey.toInt).toOption.map(_ -> each.getValue.asText)
    }.toMap
  }
}
