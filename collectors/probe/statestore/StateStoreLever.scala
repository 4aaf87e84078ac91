package io.curtail.probe

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.collection.mutable
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.SparkEnv

/**
 * Desynchronises the compactions of a query's state stores: a threshold per store, a delay after
 * the flush, a phase for their snapshots, and how many threads RocksDB has.
 * docs/techniques/shadowsync.md says why.
 *
 * A database can be changed only while no task uses it, which may be for a few milliseconds at a
 * time. So this lever has a thread of its own, which checks more often than the others and only
 * while an order is held. An order counts as held when it is applied to every store.
 */
private[probe] class StateStoreLever extends Lever {
  import StateStoreLever._

  override val name = "state-stores"

  private var wanted: Seq[Order] = Nil
  private var outcome = Outcome(Nil, settled = true, Map.empty)
  private var thread: Option[Thread] = None

  // Used by this lever's thread only.
  private val held = mutable.Map.empty[StoreId, HeldStore]
  private val withdrawn = mutable.Map.empty[Asked, String]
  private val threads = new BackgroundThreads
  /** Whether there is work left that no order waits for. */
  private var watching = false

  override def hold(orders: Seq[Order]): Map[Int, String] = synchronized {
    wanted = orders
    // Also without orders, if there is a thread: one that died left something to undo.
    val needed = orders.nonEmpty || thread.isDefined
    if (needed && !thread.exists(_.isAlive)) thread = Some(started())
    thread.foreach(LockSupport.unpark)
    // Usually it is done quickly: wait a moment, so that it can be reported in the same round.
    val untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PatienceMs)
    while (thread.exists(_.isAlive) && !settled && System.nanoTime() < untilNs) wait(WaitMs)
    if (outcome.of == orders) outcome.refused else Map.empty
  }

  override def settled: Boolean = synchronized(outcome.of == wanted && outcome.settled)

  private def started(): Thread = {
    val made = new Thread(() => run(), "curtail-state-stores")
    made.setDaemon(true)
    made.start()
    made
  }

  private def run(): Unit = {
    var running = true
    while (running) {
      val orders = synchronized(wanted)
      val done = step(orders)
      running = synchronized {
        outcome = done
        notifyAll()
        val over = wanted.isEmpty && done.of.isEmpty && done.settled && held.isEmpty
        if (over) thread = None
        !over
      }
      if (running) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(paceMs(done)))
    }
  }

  private def paceMs(done: Outcome): Long = if (done.settled && !watching) LookMs else StepMs

  private def step(orders: Seq[Order]): Outcome = {
    val asked = orders.map(order => Asked(order) -> order.number)
    withdrawn.keys.filterNot(asked.toMap.contains).toSeq.foreach(withdrawn.remove)
    watching = asked.exists(_._1.wish.delayMs > 0)
    val pending = try {
      val loaded = if (asked.isEmpty) Nil else StateStores.loaded()
      val open = inForce(asked).map(each => holdStores(each, loaded.filter(_.id.runId == each.runId)))
      holdThreads(inForce(asked))
      open.sum
    } catch {
      case error @ (NonFatal(_) | _: LinkageError) =>
        inForce(asked).foreach(each => withdrawn(each) = said(error))
        0
    }
    val left = letGo(inForce(asked).map(_.runId).toSet)
    Outcome(
      orders,
      settled = pending + left == 0,
      asked.flatMap { case (each, number) => withdrawn.get(each).map(number -> _) }.toMap)
  }

  private def inForce(asked: Seq[(Asked, Int)]): Seq[Asked] =
    asked.map(_._1).filterNot(withdrawn.contains)

  /** Returns how many stores are not set yet. The first error ends it for the whole query. */
  private def holdStores(asked: Asked, loaded: Seq[LoadedStore]): Int = {
    val (rocks, others) = loaded.partition(_.isRocksDb)
    if (rocks.isEmpty && others.nonEmpty)
      withdrawn(asked) = s"state is in ${others.head.provider.getClass.getSimpleName}, not in RocksDB"
    val states = rocks.iterator.map { store =>
      val mine = held.getOrElseUpdate(store.id, new HeldStore(store.id))
      try mine.hold(store, asked.wish, System.nanoTime())
      catch { case error @ (NonFatal(_) | _: LinkageError) => Trouble(said(error)) }
    }.toSeq
    states.collectFirst { case Trouble(why) => why }.foreach { why =>
      withdrawn(asked) = s"$why; withdrawn until it is switched on again"
    }
    watching ||= states.contains(Unseen)
    states.count(_ == Pending)
  }

  /** RocksDB's threads are shared by the whole JVM, so the highest number asked for is used. */
  private def holdThreads(asked: Seq[Asked]): Unit = {
    val wishes = asked.filter(each => held.keysIterator.exists(_.runId == each.runId))
    val flush = if (wishes.exists(_.flushOnAllCores)) cores() else 0
    threads.hold(flush, wishes.map(_.compactionThreads).maxOption.getOrElse(0))
  }

  /** Releases the stores of other runs; returns how many are not released yet. */
  private def letGo(runs: Set[String]): Int = {
    if (runs.isEmpty) Guard.quietly("set RocksDB's threads back") { threads.letGo() }
    held.keys.filterNot(id => runs(id.runId)).toSeq.count { id =>
      var state: Held = AsAsked
      Guard.quietly("set a state store back") { state = held(id).letGo(System.nanoTime()) }
      if (state == AsAsked) held -= id
      watching ||= state == Returning
      state == Pending
    }
  }
}

private object StateStoreLever {
  val StepMs = 10L
  val LookMs = 500L
  val PatienceMs = 300L
  private val WaitMs = 20L

  final case class Outcome(of: Seq[Order], settled: Boolean, refused: Map[Int, String])

  /** An order without its number, which changes with every edition. */
  final case class Asked(
      runId: String, wish: Wish, flushOnAllCores: Boolean, compactionThreads: Int)

  object Asked {
    def apply(order: Order): Asked = Asked(
      order.runId,
      Wish(
        number(order.values, "seed", 0L, Long.MaxValue),
        number(order.values, "spread", 1L, 16L).toInt,
        number(order.values, "delay_ms", 0L, 60000L),
        number(order.values, "base", 0L, 16L).toInt,
        order.values.path("in_step").asBoolean(false),
        order.values.path("snapshots").asBoolean(false)),
      order.values.path("flush_on_all_cores").asBoolean(false),
      number(order.values, "compaction_threads", 0L, 64L).toInt)

    private def number(values: JsonNode, name: String, low: Long, high: Long): Long =
      math.min(high, math.max(low, values.path(name).asLong(low)))
  }

  private def said(error: Throwable): String = s"this cannot be set here: $error"

  /** The cores that this executor may use. */
  private def cores(): Int = {
    val there = Runtime.getRuntime.availableProcessors()
    math.min(there, Option(SparkEnv.get).fold(there)(_.conf.getInt("spark.executor.cores", there)))
  }
}
