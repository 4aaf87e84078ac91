package io.curtail.probe

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import org.rocksdb.RocksDB

/**
 * Reports how many live bytes each RocksDB state store of this JVM has, every 5 s, as events.
 *
 * A store is looked at only while no task uses it; one in use is tried again half a second later.
 * The looks are spread over time, so that neither the stores nor the events come all at once.
 */
private[probe] class StateSizes {
  import StateSizes._

  private var seenNs = Map.empty[StoreId, Long]
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
    seenNs = stores.iterator.flatMap(each => seenNs.get(each.id).map(each.id -> _)).toMap
    val due = stores.filter(each => seenNs.get(each.id).forall(nowNs - _ >= EveryNs))
    due.sortBy(each => seenNs.getOrElse(each.id, Long.MinValue)).iterator
      .filter(reported)
      .take(MostPerLook)
      .foreach(each => seenNs += each.id -> nowNs)
  }

  /** Returns whether the store could be looked at. */
  private def reported(store: LoadedStore): Boolean =
    store.whileIdle((open, _) => liveBytes(open)) match {
      case Seen(bytes) =>
        Events.offer(EventSource.StateSize, Clock.nowUs(), store.id.logged, bytes.toString)
        true
      case _ => false
    }
}

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
