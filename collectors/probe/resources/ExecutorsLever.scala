package io.curtail.probe

import java.util.concurrent.TimeUnit

import org.apache.spark.SparkContext
import org.apache.spark.curtail.Fleet

/**
 * Sets the number of executors of an application: `executors` of an order.
 *
 * One that is to go is decommissioned where Spark may do that, which ends it after its tasks.
 * Otherwise the state partitions on it are moved first, and it is killed when they are gone, or
 * after a while. Off leaves the number as it is: to restore it would stall a batch once more.
 */
private[probe] class ExecutorsLever(
    context: () => Option[SparkContext], placement: PlacementLever) extends Lever {
  import ExecutorsLever._

  override val name = "executors"

  /** The number that there was before the first order. */
  private var found = Option.empty[Int]
  private var requested = Option.empty[Int]
  private var leaving = Set.empty[String]
  private var leavingSinceNs = 0L
  private var unmetSinceNs = Option.empty[Long]

  override def settled: Boolean = unmetSinceNs.forall(isOver)

  override def hold(orders: Seq[Order]): Map[Int, String] =
    if (orders.isEmpty) { forget(); Map.empty }
    else {
      val first = orders.head
      val others = orders.tail.map { order =>
        order.number -> s"order ${first.number} sets the number of executors already"
      }
      val why = for {
        sc <- context().filterNot(_.isStopped).toRight("there is no Spark context here")
        fleet <- Fleet.of(sc)
        wanted <- read(first, most(sc, fleet))
      } yield bring(fleet, wanted)
      if (why.isLeft) forget()
      (why.fold(Some(_), identity).map(first.number -> _) ++ others).toMap
    }

  /** Brings the executors to the number, a step each round; returns why that is not so in the end. */
  private def bring(fleet: Fleet, wanted: Int): Option[String] = {
    val there = fleet.executors
    if (!requested.contains(wanted)) {
      requested = Some(wanted)
      unmetSinceNs = None
      stay()
      fleet.request(wanted)
    }
    if (there.size > wanted) retire(fleet, there, there.size - wanted) else stay()
    if (there.size == wanted) unmetSinceNs = None
    else unmetSinceNs = unmetSinceNs.orElse(Some(System.nanoTime()))
    Option.when(unmetSinceNs.exists(isOver))(
      s"there are ${there.size} executors, not $wanted, after ${PatienceS} s: the cluster " +
        (if (there.size < wanted) "gives no more" else "has not ended the others"))
  }

  private def retire(fleet: Fleet, there: Seq[String], many: Int): Unit =
    if (fleet.decommissions) fleet.remove(newest(there, many))
    else {
      // Those that were chosen stay so, but for those that went by themselves meanwhile.
      if (leaving.isEmpty) leavingSinceNs = System.nanoTime()
      val chosen = leaving.intersect(there.toSet).toSeq
      leaving = (chosen ++ newest(there.filterNot(leaving), many - chosen.size)).take(many).toSet
      placement.leave(leaving)
      if (placement.hasLeft || System.nanoTime() - leavingSinceNs > MovesNs) {
        fleet.remove(leaving.toSeq)
        stay()
      }
    }

  private def stay(): Unit = if (leaving.nonEmpty) {
    leaving = Set.empty
    placement.leave(leaving)
  }

  private def forget(): Unit = {
    stay()
    requested = None
    unmetSinceNs = None
  }

  private def most(sc: SparkContext, fleet: Fleet): Int = {
    val before = found.getOrElse(fleet.executors.size)
    found = Some(before)
    sc.getConf.getInt(MostOption, math.max(2 * before, before + More))
  }
}

private[probe] object ExecutorsLever {
  private val MostOption = "spark.curtail.executors.most"
  private val More = 4
  private val PatienceS = 30L
  /** A query that waits for rows has no batch with which its state could move. */
  private val MovesNs = TimeUnit.SECONDS.toNanos(15)

  private def isOver(sinceNs: Long): Boolean =
    System.nanoTime() - sinceNs >= TimeUnit.SECONDS.toNanos(PatienceS)

  /** The ones that joined last have the least of what executors keep for later batches. */
  def newest(executors: Seq[String], many: Int): Seq[String] =
    executors.sortBy(id => (id.toLongOption.getOrElse(Long.MaxValue), id)).takeRight(math.max(0, many))

  private def read(order: Order, most: Int): Either[String, Int] = {
    val value = order.values.path("executors")
    if (!value.isIntegralNumber || !value.canConvertToInt || value.asInt < 1)
      Left(s"executors must be a whole number from 1 on, not $value")
    else if (value.asInt > most)
      Left(s"at most $most executors, not $value; for more: --conf $MostOption=$value")
    else Right(value.asInt)
  }
}
