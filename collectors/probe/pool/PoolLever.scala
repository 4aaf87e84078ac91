package io.curtail.probe

import java.nio.file.Files
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import com.fasterxml.jackson.databind.JsonNode

import scala.collection.mutable
import scala.util.control.NonFatal

/** An order for the pool of this name, in any of its generations. */
private[probe] final case class PoolOrder(number: Int, pool: String, values: JsonNode)

/**
 * Steers the operator pools of this host by their pages: the policy in force, the instances' shares
 * of traffic and the pool's settings (one order), and the number of instances of each operator
 * (another, or the same). Of several executors on a host only the one that reads a pool's page
 * writes to it; for the others such an order is held.
 *
 * An order counts as held when no task or instance chooses by an older control word any more, and
 * instances were started or are left alone. Used by the levers' thread only.
 */
private[probe] class PoolLever(pools: Pools, host: () => Option[String], patienceMs: Long)
    extends Lever {
  import PoolLever._
  import PoolWish.Part

  override val name = "pool"

  private val patienceNs = TimeUnit.MILLISECONDS.toNanos(patienceMs)
  private val steered = mutable.Map.empty[PoolPlace, SteeredPool]
  private val missingSinceNs = mutable.Map.empty[String, Long]
  private var hasSettled = true

  override def settled: Boolean = hasSettled

  override def hold(orders: Seq[Order]): Map[Int, String] =
    holdPools(orders.collect {
      case order if order.to.host.isEmpty || host().contains(order.to.host) =>
        PoolOrder(order.number, order.to.pool, order.values)
    })

  def holdPools(orders: Seq[PoolOrder]): Map[Int, String] = {
    val read = orders.map(order => order -> PoolWish.read(order.values))
    val unreadable = read.collect { case (order, Left(why)) => order.number -> why }
    val wishes = read.collect { case (order, Right(wish)) => order -> wish }
    val first = mutable.Map.empty[(String, Part), (PoolOrder, PoolWish)]
    val others = wishes.flatMap { case (order, wish) =>
      val taken = wish.parts.flatMap(part => first.get(order.pool -> part)).headOption
      if (taken.isEmpty) wish.parts.foreach(part => first(order.pool -> part) = (order, wish))
      taken.map(own => order.number -> s"order ${own._1.number} steers the pool ${order.pool} already")
    }
    val known = pools.known
    keepOurs(known)
    val failed = known.filter(_.isOurs).flatMap(steer(_, first))
    val absent = first.values.map(_._1).toSeq.distinct.flatMap(whyAbsent(_, known))
    missingSinceNs.keys.filterNot(pool => first.keysIterator.exists(_._1 == pool)).toSeq
      .foreach(missingSinceNs.remove)
    val isSeen = awaitSeen()
    val unheard = known.filter(pool => steered.get(pool.place).exists(isOverdue)).flatMap { pool =>
      Parts.flatMap(wishOf(pool, _, first))
        .map(_._1.number -> s"not all of the pool ${pool.name} answer")
    }
    hasSettled = absent.forall(_._2.isDefined) && (isSeen || steered.values.filter(isUnseen).forall(isOverdue))
    val overdue = absent.collect { case (number, Some(why)) => number -> why }
    (unreadable ++ others ++ failed ++ unheard ++ overdue).toMap
  }

  /** Closes the pages of pools that ended, or that another executor reads by now. */
  private def keepOurs(known: Seq[KnownPool]): Unit = {
    val ours = known.filter(_.isOurs).map(_.place).toSet
    steered.keys.filterNot(ours).toSeq.foreach(steered.remove(_).foreach(_.close()))
  }

  /** Applies the pool's orders, or undoes those that ended; returns the failed ones, and why. */
  private def steer(pool: KnownPool, wishes: Wishes): Seq[(Int, String)] =
    Parts.flatMap { part =>
      val own = wishOf(pool, part, wishes)
      val wish = own.fold(PoolWish.Nothing)(_._2)
      val trouble =
        try opened(pool.place).filter(_.isRunning).flatMap { steered =>
          if (part == PoolWish.Dispatch) steered.hold(wish, System.nanoTime())
          else steered.resize(wish.instances, System.nanoTime())
        } catch {
          case error @ (NonFatal(_) | _: InternalError) =>
            steered.remove(pool.place).foreach(_.close())
            Some(s"the pool ${pool.name} cannot be steered: $error")
        }
      for ((order, _) <- own; why <- trouble) yield order.number -> why
    }

  private def wishOf(pool: KnownPool, part: Part, wishes: Wishes): Option[(PoolOrder, PoolWish)] =
    wishes.get(pool.name -> part).orElse(wishes.get(pool.place.name -> part))

  private def opened(place: PoolPlace): Option[SteeredPool] =
    steered.get(place).orElse {
      val path = place.where.resolve("page")
      // The page may not exist yet while a pool starts, or be gone already.
      val made =
        if (Files.exists(path)) PoolPage.open(path, writable = true).map(new SteeredPool(_)) else None
      made.foreach(steered(place) = _)
      made
    }

  /** Returns the order's number if its pool does not run; after the timeout, with the refusal. */
  private def whyAbsent(order: PoolOrder, known: Seq[KnownPool]): Option[(Int, Option[String])] = {
    val pool = order.pool
    // A pool that is ending, or has yet to start, counts as absent.
    val there = known.exists { each =>
      (each.name == pool || each.place.name == pool) &&
        (!each.isOurs || steered.get(each.place).exists(_.isRunning))
    }
    if (there) { missingSinceNs.remove(pool); return None }
    val sinceNs = missingSinceNs.getOrElseUpdate(pool, System.nanoTime())
    val overdue = System.nanoTime() - sinceNs >= patienceNs
    Some(order.number -> Option.when(overdue)(s"no pool $pool runs on this host"))
  }

  /** Waits a moment for the change to be seen: usually it is, and can be reported at once. */
  private def awaitSeen(): Boolean = {
    val untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SeenWithinMs)
    while (steered.values.exists(isUnseen) && System.nanoTime() < untilNs)
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LookMs))
    !steered.values.exists(isUnseen)
  }

  private def isUnseen(own: SteeredPool): Boolean =
    try own.isRunning && own.unseenSinceNs.isDefined
    catch { case NonFatal(_) | _: InternalError => false } // the next round says what is wrong

  /** A pool that hangs must not delay the report on all others. */
  private def isOverdue(own: SteeredPool): Boolean =
    isUnseen(own) && own.unseenSinceNs.exists(System.nanoTime() - _ >= patienceNs)
}

private[probe] object PoolLever {
  /** The order that steers a part of the pools of a name. */
  private type Wishes = scala.collection.Map[(String, PoolWish.Part), (PoolOrder, PoolWish)]
  private val Parts = Seq(PoolWish.Dispatch, PoolWish.Size)
  /** How long a pool may be absent before its orders are refused: restarting one takes a while. */
  val PatienceMs = 5000L
  private val SeenWithinMs = 300L
  private val LookMs = 10L

  def here(pools: Pools, patienceMs: Long = PatienceMs): PoolLever =
    new PoolLever(pools, () => Executor.host(), patienceMs)
}
