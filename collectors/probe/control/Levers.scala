package io.curtail.probe

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.LockSupport

import com.fasterxml.jackson.databind.JsonNode

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

/** The JVMs that an order is for; techniques/orders.py defines the words. */
private[probe] final case class Address(
    place: String, executor: String = "", host: String = "", pool: String = "")

/** One order of an edition: its query, its lever and the values to set. */
private[probe] final case class Order(
    number: Int,
    lever: String,
    to: Address,
    queryId: String,
    runId: String,
    values: JsonNode)

/**
 * Something in a running JVM that can be set and restored. It is given all orders in force for it,
 * repeatedly: it applies them, also to stores and pools that appeared since, and undoes those that
 * are no longer among them. For each order that it cannot apply it returns a reason.
 */
private[probe] trait Lever {
  def name: String
  def hold(orders: Seq[Order]): Map[Int, String]

  /** Whether all orders are applied or refused. Until then the edition is not reported as held. */
  def settled: Boolean = true
}

/** Changes nothing: shows that orders arrive everywhere and that answers come back. */
private[probe] object Echo extends Lever {
  override val name = "echo"

  override def hold(orders: Seq[Order]): Map[Int, String] =
    orders.flatMap(order => Option(order.values.get("refuse")).map(order.number -> _.asText)).toMap
}

/** Which JVM this is, for orders to find it. In local mode the driver is the one executor too. */
private[probe] final case class Whereabouts(
    executorId: String, isDriver: Boolean, isExecutor: Boolean, host: () => Option[String]) {
  def isAt(to: Address): Boolean = to.place match {
    case "driver" => isDriver
    case "executors" => isExecutor
    case "executor" => isExecutor && to.executor == executorId
    case "pool" => isExecutor && host().contains(to.host)
    case _ => false
  }
}

/**
 * The edition in force in this JVM. It is dropped when the driver has not answered for the
 * edition's own lease. Time is an argument.
 */
private[probe] class HeldEdition {
  private val wanted = new AtomicReference[Edition](Control.None)
  @volatile private var heardNs = 0L

  def number: Long = wanted.get.number

  /** Records that the driver answered, which renews the lease. */
  def heard(nowNs: Long): Unit = heardNs = nowNs

  def take(edition: Edition): Unit = wanted.set(edition)

  def inForce(nowNs: Long): Edition = {
    val edition = wanted.get
    if ((nowNs - heardNs) / 1000000L > edition.leaseMs) wanted.compareAndSet(edition, Control.None)
    wanted.get
  }
}

/** Applies orders to the levers of this JVM, on its own thread so that nothing waits for it. */
private[probe] class Levers(whereabouts: Whereabouts, levers: Seq[Lever]) {
  import Levers._

  private val held = new HeldEdition
  @volatile private var running = true
  private val thread = new Thread(() => run(), "curtail-levers")
  thread.setDaemon(true)

  def start(): Unit = thread.start()

  /** Restores everything before the application ends. */
  def stop(): Unit = {
    running = false
    LockSupport.unpark(thread)
    thread.join(1000)
  }

  /** Takes the driver's answer, which names the edition in force. */
  def heard(edition: Long, document: () => Array[Byte]): Unit = {
    held.heard(System.nanoTime())
    if (edition != held.number) {
      held.take(if (edition == 0L) Control.None else Control.read(document()))
      LockSupport.unpark(thread)
    }
  }

  private def run(): Unit = {
    var before = 0L
    while (running) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(EveryMs))
      val edition = held.inForce(System.nanoTime())
      // Before the first order there is nothing to undo and nothing to report. Restoring may take
      // more than one round.
      if (edition.number != 0L || before != 0L || !levers.forall(_.settled))
        Guard.quietly("move the levers") {
          val refused = hold(edition)
          if (levers.forall(_.settled)) report(edition.number, refused)
        }
      before = edition.number
    }
    if (before != 0L) Guard.quietly("set the levers back") { hold(Control.None) }
  }

  private def hold(edition: Edition): Map[Int, String] = {
    val orders = read(edition).filter(order => whereabouts.isAt(order.to))
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
  /** The executor id that Spark gives the driver. */
  val Driver = "driver"
  private val EveryMs = 500L
  private val LongestWhy = 200

  private[probe] def read(edition: Edition): Seq[Order] =
    if (edition.number == 0L) Nil
    else Json.read(edition.document).get("orders").elements().asScala.map { order =>
      Order(
        order.get("number").asInt,
        order.get("lever").asText,
        address(order.get("to")),
        order.get("query").asText,
        order.get("run").asText,
        order.get("values"))
    }.toSeq

  private def address(to: JsonNode): Address = Address(
    to.get("place").asText,
    to.path("executor").asText(""),
    to.path("host").asText(""),
    to.path("pool").asText(""))
}
