package io.curtail.probe

import java.nio.channels.{FileChannel, OverlappingFileLockException}
import java.nio.file.StandardOpenOption

import scala.util.control.NonFatal

/**
 * The operator pools of this application on this host, read by the sampler's thread at the end of
 * every window. About once a second it searches for pools. Of several executors on a host only one
 * reports a pool; if it ends, another takes over within that second.
 */
private[probe] class Pools(places: PoolPlaces) {
  private var watched = Map.empty[PoolPlace, WatchedPool]
  @volatile private var last: Seq[KnownPool] = Nil
  private var nextSearchNs = System.nanoTime()

  def look(): Seq[PoolSample] = {
    val nowNs = System.nanoTime()
    val seen = if (watched.isEmpty) Nil else watched.values.flatMap(_.look(nowNs)).toList
    // Search after reading, so that the last work of a pool that ended is included.
    if (nowNs - nextSearchNs >= 0) {
      nextSearchNs = nowNs + Pools.SearchNs
      try search()
      catch { case NonFatal(_) => () }
    }
    seen
  }

  /** The pools found by the last search, for other threads. */
  def known: Seq[KnownPool] = last

  def close(): Unit = {
    watched.values.foreach(_.close())
    watched = Map.empty
    last = Nil
  }

  private def search(): Unit = {
    val found = places.found()
    val (still, gone) = watched.partition { case (place, _) => found.contains(place) }
    gone.values.foreach(_.close())
    watched = still
    found.filterNot(watched.contains).foreach { place =>
      // Changed functions make a new pool of the same name, which runs beside the old one for a
      // while.
      val taken = watched.values.exists(_.name == place.name)
      val name = if (taken) s"${place.name}~${place.digest.take(4)}" else place.name
      watched += place -> new WatchedPool(place, name)
    }
    watched.values.foreach(_.take())
    last = watched.map { case (place, pool) => KnownPool(place, pool.name, pool.isTaken) }.toList
  }
}

/** `name` is that of its samples; `isOurs` if this executor reports it. */
private[probe] final case class KnownPool(place: PoolPlace, name: String, isOurs: Boolean)

private object Pools {
  val SearchNs = 1000L * 1000 * 1000
}

/** One pool, reported while this executor has its lock; the kernel frees it if we die. */
private[probe] class WatchedPool(place: PoolPlace, val name: String) {
  private var claim: Option[FileChannel] = None
  private var isOurs = false
  private var isBroken = false
  private var page: Option[PoolPage] = None
  private var growth: Option[PoolGrowth] = None

  def take(): Unit =
    try {
      if (!isOurs) isOurs = lock()
      if (isOurs && page.isEmpty && !isBroken) {
        page = PoolPage.open(place.where.resolve("page"))
        growth = page.map(new PoolGrowth(_, name))
      }
    } catch {
      case NonFatal(_) | _: InternalError => () // not there yet, or gone; search again later
    }

  def isTaken: Boolean = isOurs

  def look(nowNs: Long): Option[PoolSample] = growth.flatMap { own =>
    try {
      if (!isWhole) { abandon(); None }
      else {
        val seen = own.look(nowNs)
        // If the page was truncated while we read, the JVM may raise the error only at a later
        // call.
        if (isWhole) seen else { abandon(); None }
      }
    } catch {
      case NonFatal(_) | _: InternalError => abandon(); None
    }
  }

  def close(): Unit = {
    abandon()
    claim.foreach(channel => quietly(channel.close()))
    claim = None
    isOurs = false
  }

  private def isWhole: Boolean = page.exists(_.isWhole)

  private def abandon(): Unit = {
    isBroken = true
    page.foreach(own => quietly(own.close()))
    page = None
    growth = None
  }

  /** Kept open until the end: closing any channel of a file gives up all of a process's locks. */
  private def lock(): Boolean = {
    if (claim.isEmpty)
      claim = Some(FileChannel.open(place.where.resolve("supervisor"), StandardOpenOption.WRITE))
    try claim.exists(_.tryLock() != null)
    catch { case _: OverlappingFileLockException => false }
  }

  private def quietly(body: => Unit): Unit =
    try body
    catch { case NonFatal(_) => () }
}
