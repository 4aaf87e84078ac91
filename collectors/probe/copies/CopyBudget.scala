package io.curtail.probe

import scala.collection.mutable

/**
 * Task time that copies of one query's tasks took, against what its tasks took, over the last
 * minute. A copy is charged what it is expected to take when it is made; what it really took
 * replaces that. The first copy needs no credit. Time is an argument.
 */
private[probe] class CopyBudget {
  import CopyBudget._

  private val workedMs = new Array[Long](Seconds)
  private val secondOf = Array.fill(Seconds)(Long.MinValue)
  private val charges = mutable.LinkedHashMap.empty[Long, Charge]
  private var copies = 0L

  /** The query's own tasks ran for so long, counted together. */
  def worked(nowMs: Long, ms: Long): Unit = {
    val second = Math.floorDiv(nowMs, 1000L)
    val at = Math.floorMod(second, Seconds.toLong).toInt
    if (secondOf(at) != second) { secondOf(at) = second; workedMs(at) = 0L }
    workedMs(at) += ms
  }

  def worked(nowMs: Long): Long = {
    val since = Math.floorDiv(nowMs, 1000L) - Seconds
    secondOf.indices.iterator.filter(secondOf(_) > since).map(workedMs(_)).sum
  }

  /** What copies of the last minute took or are expected to take. */
  def spent(nowMs: Long): Long = {
    charges.filterInPlace((_, charge) => charge.open || nowMs - charge.madeMs < WindowMs)
    charges.valuesIterator.map(charge => math.min(charge.ms, WindowMs)).sum
  }

  def allows(nowMs: Long, costMs: Long, percent: Double): Boolean =
    percent > 0 && (copies == 0 || spent(nowMs) + costMs <= percent / 100 * worked(nowMs))

  /** Returns a number for the copy, by which it is corrected. */
  def made(nowMs: Long, costMs: Long): Long = {
    copies += 1
    charges(copies) = Charge(nowMs, costMs, open = true)
    copies
  }

  /** The copy has run for so long, and goes on: it may take more than was expected. */
  def runs(copy: Long, ageMs: Long): Unit =
    charges.updateWith(copy)(_.map(charge => charge.copy(ms = math.max(charge.ms, ageMs))))

  def ended(copy: Long, tookMs: Long): Unit =
    charges.updateWith(copy)(_.map(_.copy(ms = tookMs, open = false)))
}

private[probe] object CopyBudget {
  private val Seconds = 60
  private val WindowMs = Seconds * 1000L

  private final case class Charge(madeMs: Long, ms: Long, open: Boolean)
}
