package io.curtail.probe

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.util.control.NonFatal

import org.rocksdb.RocksDB

/**
 * Reports how many live bytes each RocksDB state store of this JVM has, every 5 s, as events, and
 * tells `memories` how much memory their databases hold.
 *
 * A store is looked at only while no task uses it; one in use is tried again half a second later.
 * The looks are spread over time, so that neither the stores nor the events come all at once.
 */
private[probe] class StateSizes(memories: NativeMemories = new NativeMemories) {
  import StateSizes._

  private var seen = Map.empty[StoreId, Sight]
  @volatile private var running = true
  private val thread = new Thread(() => run(), "curtail-state-sizes")
  thread.setDaemon(true)

  def start(): Unit = thread.start()

  def stop(): Unit = {
    running = false
    LockSupport.unpark(thread)
    thread.join(1000)
  }

  private def run(): Unit = {
    val guard = new Guard.Often("see how large state stores are")
    while (running) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LookMs))
      if (running) guard.quietly { look(System.nanoTime()) }
    }
  }

  private def look(nowNs: Long): Unit = {
    val stores = StateStores.loaded().filter(_.isRocksDb)
    // Also forgets those that Spark has unloaded.
    seen = stores.iterator.flatMap(each => seen.get(each.id).map(each.id -> _)).toMap
    val due = stores.filter(each => seen.get(each.id).forall(nowNs - _.atNs >= EveryNs))
    due.sortBy(each => seen.get(each.id).fold(Long.MinValue)(_.atNs)).iterator
      .flatMap(each => reported(each).map(each.id -> Sight(nowNs, _)))
      .take(MostPerLook)
      .foreach(seen += _)
    memories.see(seen.values.toSeq.sortBy(_.atNs).flatMap(_.memory))
  }

  /** Returns what was seen of the store's memory, if the store could be looked at at all. */
  private def reported(store: LoadedStore): Option[Option[NativeMemory]] =
    store.whileIdle((open, _) => (liveBytes(open), memory(store, open))) match {
      case Seen((bytes, memory)) =>
        Events.offer(EventSource.StateSize, Clock.nowUs(), store.id.logged, bytes.toString)
        Some(memory)
      case _ => None
    }

  /** None with a Spark whose store keeps its cache elsewhere: sizes are told all the same. */
  private def memory(store: LoadedStore, open: RocksDB): Option[NativeMemory] =
    try Some(NativeMemory.of(open, store.cache))
    catch { case NonFatal(_) | _: LinkageError => None }
}

/** What was seen of a store, and when. */
private final case class Sight(atNs: Long, memory: Option[NativeMemory])

private object StateSizes {
  val LookMs = 500L
  val EveryNs: Long = TimeUnit.SECONDS.toNanos(5)
  /** At 1 000 stores each is seen every 5 s; of more, each in its turn. */
  val MostPerLook = 100

  /** Of all column families: in files, and in memory where a commit does not flush (changelogs). */
  def liveBytes(open: RocksDB): Long =
    open.getAggregatedLongProperty("rocksdb.estimate-live-data-size") +
      open.getAggregatedLongProperty("rocksdb.cur-size-all-mem-tables")
}
