package io.curtail.probe

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.LockSupport

import com.fasterxml.jackson.databind.JsonNode

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

/** Whom an order is for; empty where it does not matter. */
private[probe] final case class Address(place: String, host: String = "", pool: String = "")

/** One order of an edition: which query it is for, and what is to be so. */
private[probe] final case class Order(
    number: Int,
    lever: String,
    to: Address,
    queryId: String,
    runId: String,
    values: JsonNode)

/**
 * Something of a running JVM that can be set and set back. It is told all orders that are in force
 * for it, again and again: it makes that so, also for what came up since, and undoes what is no
 * longer among them. What it cannot do it answers with a reason, by order.
 */
private[probe] trait Lever {
  def name: String
  def hold(orders: Seq[Order]): Map[Int, String]

  /** Whether what was last asked is so, or refused. Until then nobody is told that it is held. */
  def settled: Boolean = true
}

/** Moves nothing: shows that orders arrive everywhere and that answers come back. */
private[probe] object Echo extends Lever {
  override val name = "echo"

  override def hold(orders: Seq[Order]): Map[Int, String] =
    orders.flatMap(order => Option(order.values.get("refuse")).map(order.number -> _.asText)).toMap
}

/** The levers of this JVM, moved by a thread of their own so that nothing waits for them. */
private[probe] class Levers(places: Set[String], levers: Seq[Lever]) {
  import Levers._

  private val wanted = new AtomicReference[Edition](Control.None)
  @volatile private var heardNs = System.nanoTime()
  @volatile private var running = true
  private val thread = new Thread(() => run(), "curtail-levers")
  thread.setDaemon(true)

  def start(): Unit = thread.start()

  /** The application ends: what was moved goes back first. */
  def stop(): Unit = {
    running = false
    LockSupport.unpark(thread)
    thread.join(1000)
  }

  /** The driver answered, and said which edition is in force. */
  def heard(edition: Long, document: () => Array[Byte]): Unit = {
    heardNs = System.nanoTime()
    if (edition != wanted.get.number) {
      wanted.set(if (edition == 0L) Control.None else Edition(edition, LeaseMs, document()))
      LockSupport.unpark(thread)
    }
  }

  private def run(): Unit = {
    var before = 0L
    while (running) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(EveryMs))
      val edition = inForce()
      // Before anything was ever asked there is nothing to undo and nothing to say.
      if (edition.number != 0L || before != 0L)
        Guard.quietly("move the levers") {
          val refused = hold(edition)
          if (levers.forall(_.settled)) report(edition.number, refused)
        }
      before = edition.number
    }
    if (before != 0L) Guard.quietly("set the levers back") { hold(Control.None) }
  }

  private def inForce(): Edition = {
    val silentMs = (System.nanoTime() - heardNs) / 1000000L
    if (silentMs <= LeaseMs) wanted.get else { wanted.set(Control.None); Control.None }
  }

  private def hold(edition: Edition): Map[Int, String] = {
    val orders = read(edition).filter(order => places(order.to.place))
    val byLever = orders.groupBy(_.lever)
    val refused = levers.flatMap { lever =>
      val own = byLever.getOrElse(lever.name, Nil)
      try lever.hold(own)
      catch {
        case error @ (NonFatal(_) | _: LinkageError) => own.map(_.number -> error.toString)
      }
    }
    val unknown = orders.filterNot(order => levers.exists(_.name == order.lever))
    (refused ++ unknown.map(order => order.number -> s"no lever ${order.lever} here")).toMap
  }

  private def report(edition: Long, refused: Map[Int, String]): Unit = {
    val status = Map(
      "edition" -> edition,
      "refused" -> refused.map { case (number, why) => number.toString -> why.take(LongestWhy) }.asJava)
    Events.offer(EventSource.Levers, Clock.nowUs(), "", Json.text(status.asJava))
  }
}

private[probe] object Levers {
  val Driver = "driver"
  val Executors = "executors"
  val Pool = "pool"
  /** How long orders hold when the driver does not answer. */
  private val LeaseMs = 10000L
  private val EveryMs = 500L
  private val LongestWhy = 200

  private[probe] def read(edition: Edition): Seq[Order] =
    if (edition.number == 0L) Nil
    else Json.read(edition.document).get("orders").elements().asScala.map { order =>
      Order(
        order.get("number").asInt,
        order.get("lever").asText,
        address(order),
        order.get("query").asText,
        order.get("run").asText,
        order.get("values"))
    }.toSeq

  private def address(order: JsonNode): Address = {
    val to = order.path("to")
    if (to.isMissingNode) Address(order.get("where").asText)
    else Address(to.path("place").asText, to.path("host").asText, to.path("pool").asText)
  }
}
