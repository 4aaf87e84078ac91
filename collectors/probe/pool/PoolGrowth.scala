package io.curtail.probe

import java.lang.invoke.VarHandle
import java.util.UUID

import scala.collection.immutable.SortedMap
import scala.collection.mutable

/**
 * Reads one pool's page: levels, and the growth of its counters since the last reading. The first
 * reading gives levels only; impossible numbers give no sample.
 */
private[probe] class PoolGrowth(page: PoolPage, name: String) {
  import PoolGrowth._
  import PoolPage.Header

  private val instances = (0 until page.instances).map(new InstanceGrowth(page, _))
  private val queries = mutable.LinkedHashSet.empty[UUID]
  private val tasks = new TaskGrowth(page, remember)
  private var handedOutAgain = 0L
  private var isFirst = true

  /** Reads the page; `nowNs` is from System.nanoTime, the clock that the page uses too. */
  def look(nowNs: Long): Option[PoolSample] = {
    val seen = instances.map(_.look(nowNs))
    val tasksMakeSense = tasks.look()
    val sharedQueued = (0 until page.operators).map(page.sharedQueued)
    val replaced = page.word(Header.Replaced)
    val inForce = InForce(
      page.word(Header.TimeoutUs), setting(PoolWish.Replay), setting(PoolWish.TauMs))
    val makesSense = seen.forall(_.isDefined) && tasksMakeSense && isLevel(replaced) &&
      sharedQueued.forall(isLevel) && inForce.all.forall(isLevel)
    if (!makesSense) return None
    val samples = seen.flatten
    val sent = instances.flatMap(_.sent)
    val told = numbersToTell(samples, sent.map(_.source - 1).toSet)
    handedOutAgain += tasks.handedOutAgain
    val counts = if (isFirst) TaskCounts() else tasks.counts
    isFirst = false
    Some(
      PoolSample(
        name,
        (page.word(Header.Control) & 0xffff).toInt,
        tasks.heldChunks,
        replaced,
        handedOutAgain,
        counts,
        inForce,
        page.operatorNames.indices.map { position =>
          OperatorSample(
            page.operatorNames(position), sharedQueued(position), page.room(position))
        },
        told.keys.toSeq.map(samples),
        sent.map(each => Sent(
          if (each.source == 0) 0 else 1 + told(each.source - 1), told(each.instance), each.chunks)),
        queries.iterator.map(_.toString).toList))
  }

  /**
   * Instances by their number, each with its place in the sample. One that is not there is left
   * out once all that it did is told, and no later one of its operator is there: in a sample,
   * instances are named by their place.
   */
  private def numbersToTell(
      samples: Seq[InstanceSample], sources: Set[Int]): SortedMap[Int, Int] = {
    val there = instances.indices.filter { number =>
      !page.isAbsent(number) || instances(number).grew || sources(number)
    }
    val last = there.groupBy(samples(_).operator).map { case (operator, own) => operator -> own.max }
    val kept = instances.indices.filter { number =>
      last.get(samples(number).operator).exists(number <= _)
    }
    SortedMap.from(kept.zipWithIndex)
  }

  /** Queries are remembered while the pool lives: one between two batches still uses it. */
  private def remember(query: UUID): Unit =
    if (!queries.contains(query)) {
      if (queries.size == MostQueries) queries -= queries.head
      queries += query
    }

  private def setting(place: Int): Long = page.word(Header.Settings + place)
}

private[probe] object PoolGrowth {
  /** Bounds memory for an application that keeps starting new queries: the last ones are kept. */
  private val MostQueries = 32

  /** More than any pool can hold or do between two readings: beyond this the page is rejected. */
  private val Most = 1L << 40

  def isLevel(value: Long): Boolean = value >= 0 && value < Most
}

/** One instance. Every word is read on its own, so the order in which they are read matters. */
private[probe] class InstanceGrowth(page: PoolPage, number: Int) {
  import PoolGrowth._
  import PoolPage.Instance._

  private val at = page.instance(number)
  private val SentAt = 5
  // Executed, failed, rows in, rows out, dropped; then chunks from tasks and from each instance.
  private val places = (0 until 4).map(at + Executed + _) ++ Seq(at + Dropped) ++
    (0 to page.instances).map(at + PoolPage.InstanceWords + _)
  private val counters = new Array[Long](places.size)
  private val grown = new Array[Long](places.size)
  private val placed: Array[Int] = places.toArray
  private val buckets = new Array[Long](PoolPage.LatencyWords)
  private var recorded = 0L
  private var life = -1L
  private var toldBusyNs = 0L
  private var isFirst = true
  /** While there is no process: what the look said after which nothing had grown any more. */
  private var resting = Option.empty[InstanceSample]

  /** Whether it did anything between the last two looks. */
  def grew: Boolean = grown.exists(_ != 0)

  def look(nowNs: Long): Option[InstanceSample] = {
    val isAbsent = page.isAbsent(number)
    if (isAbsent && resting.isDefined) return resting
    val seen = lookAtAll(nowNs)
    resting = if (isAbsent && !isFirst && !grew) seen else None
    seen
  }

  private def lookAtAll(nowNs: Long): Option[InstanceSample] = {
    val state = page.word(at)
    val incarnation = page.word(at + 1)
    val operator = page.word(at + Operator)
    val levels = InstanceLevels(
      page.word(at + Queued), page.word(at + Parked), page.word(at + Weight), page.word(at + Signal))
    val makesSense = state >= 0 && state <= Ready && operator >= 0 && operator < page.operators &&
      levels.all.forall(isLevel)
    if (!makesSense) { isFirst = true; java.util.Arrays.fill(grown, 0L); return None }
    VarHandle.loadLoadFence()
    val counts = lookAtCounters()
    val busyUs = lookAtBusy(nowNs, incarnation, state == Ready)
    val latency = lookAtLatencies()
    val sample = InstanceSample(operator.toInt, state.toInt, levels)
    val tells = counts && !isFirst
    if (!tells) java.util.Arrays.fill(grown, 0L)
    isFirst = false
    Some(
      if (!tells) sample
      else sample.copy(
        executed = grown(0),
        failed = grown(1),
        rowsIn = grown(2),
        rowsOut = grown(3),
        busyUs = busyUs,
        dropped = grown(4),
        latency = latency))
  }

  /** The chunks since the last reading. */
  def sent: Seq[Sent] =
    (0 to page.instances).collect {
      case source if grown(SentAt + source) > 0 => Sent(source, number, grown(SentAt + source))
    }

  /** Returns false if a counter went back, or too far: report no number rather than a wrong one. */
  private def lookAtCounters(): Boolean = {
    var believed = true
    var each = 0
    while (each < placed.length) {
      val now = page.word(placed(each))
      grown(each) = now - counters(each)
      believed &= now >= 0 && isLevel(grown(each))
      counters(each) = now
      each += 1
    }
    believed
  }

  /**
   * Busy time, including the chunk in work. An instance ends a chunk by writing `since = 0` and
   * then adding to `done`. So a reader that reads `done` first may miss the chunk for a moment but
   * never counts it twice, and if the sum is smaller for that moment nothing is reported again. The
   * chunk on which an instance died is never added: its successor's time starts over, which skips
   * one reading.
   */
  private def lookAtBusy(nowNs: Long, incarnation: Long, isReady: Boolean): Long = {
    val done = page.word(at + BusyNs)
    VarHandle.loadLoadFence()
    val since = page.word(at + BusySince)
    val working = if (isReady && since > 0 && since < nowNs) nowNs - since else 0L
    val total = done + working
    if (isFirst || incarnation != life) {
      life = incarnation
      toldBusyNs = total
      return 0
    }
    val us = (total - toldBusyNs) / 1000
    if (us <= 0 || !isLevel(us)) {
      if (us > 0) toldBusyNs = total
      return 0
    }
    toldBusyNs += us * 1000
    us
  }

  /** Reads buckets only if a chunk's latency is not counted yet: most readings find none. */
  private def lookAtLatencies(): Filled = {
    if (!isFirst && recorded == counters(0) + counters(1)) return PoolSample.NoRecords
    val from = page.latencies(number)
    val filled = Array.newBuilder[Int]
    val counts = Array.newBuilder[Int]
    var believed = true

    def compare(bucket: Int, before: Long, now: Long): Unit = if (before != now) {
      recorded += now - before
      // The last word has room for one bucket more than there are.
      believed &= now > before && now - before <= Int.MaxValue && bucket < Buckets.Count
      filled += bucket
      counts += (now - before).toInt
    }

    var each = 0
    while (each < buckets.length) {
      val now = page.word(from + each)
      val before = buckets(each)
      if (now != before) {
        compare(2 * each, before & 0xffffffffL, now & 0xffffffffL)
        compare(2 * each + 1, before >>> 32, now >>> 32)
        buckets(each) = now
      }
      each += 1
    }
    if (isFirst || !believed) PoolSample.NoRecords else Filled(filled.result(), counts.result())
  }
}
