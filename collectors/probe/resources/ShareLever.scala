package io.curtail.probe

import java.util.Properties

import org.apache.spark.SparkContext
import org.apache.spark.curtail.ThreadProperties
import org.apache.spark.scheduler.curtail.{FairPool, FairPools}

import scala.collection.mutable
import scala.util.control.NonFatal

/**
 * Gives a running query a share of its application's slots: a pool of its own in Spark's fair
 * scheduler, from its next batch on.
 *
 * `share` of an order is in percent; without one the query counts as a pool of weight 1.
 * `min_share` (0 if absent) is how many tasks it may run before any query that has its own minimum
 * gets a slot. What the shares leave is divided among all other pools as before, so their weights
 * are scaled alike.
 */
private[probe] class ShareLever(context: () => Option[SparkContext]) extends Lever {
  import ShareLever._

  override val name = "fair-share"

  private val held = mutable.Map.empty[String, Held]
  /** Pools that are not ours, with the weight that they had. */
  private val others = mutable.Map.empty[FairPool, Int]
  /** Pools that were ours and may have tasks of a batch that is not over. */
  private val left = mutable.Map.empty[String, Leaving]

  /** A pool that stays is no harm, so a long batch does not keep the report waiting. */
  override def settled: Boolean =
    left.values.forall(each => each.goneNs.isDefined || isLong(each.sinceNs))

  override def hold(orders: Seq[Order]): Map[Int, String] =
    if (orders.isEmpty && held.isEmpty && left.isEmpty) Map.empty
    else context().filterNot(_.isStopped).toRight("there is no Spark context here")
      .flatMap(sc => FairPools.of(sc).map(hold(sc, _, orders)))
      .fold(why => orders.map(_.number -> why).toMap, identity)

  private def hold(sc: SparkContext, pools: FairPools, orders: Seq[Order]): Map[Int, String] = {
    val wished = orders.map(order => order -> read(order))
    val refused = wished.flatMap { case (order, read) =>
      try read.fold(Some(_), wish => take(sc, order.queryId, order.runId, wish)).map(order.number -> _)
      catch {
        case error @ (NonFatal(_) | _: LinkageError) =>
          Some(order.number -> s"this Spark's scheduler cannot be steered: $error")
      }
    }.toMap
    val wanted = wished.collect { case (order, Right(_)) if !refused.contains(order.number) => order.runId }
    held.keys.toSeq.filterNot(wanted.contains).foreach(release(pools, _))
    weigh(pools)
    left.keys.toSeq.foreach(drop(pools, _))
    refused
  }

  /**
   * Removes a pool that was ours once it is empty. It is empty between two stages of a batch as well,
   * and then Spark makes it anew for the next one; so it is watched until it has been gone for long.
   */
  private def drop(pools: FairPools, pool: String): Unit = {
    val before = left(pool)
    if (pools.drop(pool)) left(pool) = before.copy(goneNs = None)
    else if (before.goneNs.exists(isLong)) left.remove(pool)
    else if (before.goneNs.isEmpty) left(pool) = before.copy(goneNs = Some(System.nanoTime()))
  }

  /** Has the query's jobs run in a pool of its own; returns the reason if they cannot. */
  private def take(sc: SparkContext, queryId: String, runId: String, wish: Wish): Option[String] =
    RunningQuery.find(queryId, runId).flatMap(query => ThreadProperties.of(sc, query.thread)) match {
      case None => Some("the query does not run")
      case Some(properties) =>
        val own = poolOf(runId)
        val now = Option(properties.getProperty(ThreadProperties.Pool))
        val found = held.get(runId).fold(now)(_.found)
        held(runId) = Held(properties, found, wish)
        left.remove(own)
        properties.setProperty(ThreadProperties.Pool, own)
        None
    }

  private def release(pools: FairPools, runId: String): Unit =
    held.remove(runId).foreach { was =>
      was.found match {
        case Some(name) => was.properties.setProperty(ThreadProperties.Pool, name)
        case None => was.properties.remove(ThreadProperties.Pool)
      }
      // Its batch may still run; then it goes on as one of all.
      pools.find(poolOf(runId)).foreach(pools.set(_, 1, 0))
      left(poolOf(runId)) = Leaving(System.nanoTime())
    }

  private def weigh(pools: FairPools): Unit = {
    val ours = (held.keySet.map(poolOf) ++ left.keySet).toSet
    val there = pools.all.filterNot(pool => ours(pool.name))
    others.keys.toSeq.filterNot(there.contains).foreach(others.remove)
    there.foreach(pool => others.getOrElseUpdate(pool, pool.weight))
    val weights = FairWeights.of(held.values.flatMap(_.wish.share).toSeq, others.values.toSeq)
    others.foreach { case (pool, weight) => pools.set(pool, weights.other(weight), pool.minShare) }
    held.foreach { case (runId, Held(_, _, wish)) =>
      val weight = wish.share.fold(weights.other(1))(weights.own)
      pools.set(pools.made(poolOf(runId)), weight, wish.minShare)
    }
    if (held.isEmpty) others.clear()
  }
}

private[probe] object ShareLever {
  private val MostShare = 100
  private val MostMinShare = 1000
  private val PatienceNs = 10L * 1000 * 1000 * 1000

  private final case class Leaving(sinceNs: Long, goneNs: Option[Long] = None)

  private def isLong(sinceNs: Long): Boolean = System.nanoTime() - sinceNs > PatienceNs

  private final case class Wish(share: Option[Int], minShare: Int)

  /** `found`: the pool that the query's jobs ran in before; None if none was named. */
  private final case class Held(properties: Properties, found: Option[String], wish: Wish)

  /** As Spark's own pages show it. */
  private def poolOf(runId: String): String = s"curtail-$runId"

  private def read(order: Order): Either[String, Wish] = for {
    share <- whole(order, "share", 1, MostShare)
    minShare <- whole(order, "min_share", 0, MostMinShare)
    _ <- Either.cond(share.isDefined || minShare.isDefined, (), "neither share nor min_share is asked for")
  } yield Wish(share, minShare.getOrElse(0))

  private def whole(
      order: Order, name: String, low: Int, high: Int): Either[String, Option[Int]] = {
    val value = order.values.path(name)
    if (value.isMissingNode) Right(None)
    else if (value.isIntegralNumber && value.canConvertToInt && value.asInt >= low &&
      value.asInt <= high) Right(Some(value.asInt))
    else Left(s"$name must be a whole number from $low to $high, not $value")
  }
}

/**
 * Weights by which some pools get their shares of the slots, in percent, and the others divide what
 * is left as before. Pure.
 *
 * With S the sum of the shares and W that of the other pools' weights w, a share s gets the weight
 * s W, and w becomes w (100 − S): together 100 W, of which s W is s percent.
 */
private[probe] final case class FairWeights(scale: Int, rest: Long) {
  def own(share: Int): Int = bounded(share * rest)
  def other(weight: Int): Int = bounded(weight.toLong * scale)

  private def bounded(weight: Long): Int = math.max(1L, math.min(weight, Int.MaxValue.toLong)).toInt
}

private[probe] object FairWeights {
  /** Shares of 100 and more leave the others one percent, as nobody is to get nothing. */
  def of(shares: Seq[Int], others: Seq[Int]): FairWeights =
    if (shares.isEmpty) FairWeights(1, 1L)
    else FairWeights(math.max(1, 100 - shares.sum), math.max(1L, others.map(_.toLong).sum))
}
