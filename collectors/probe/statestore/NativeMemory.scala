package io.curtail.probe

import org.rocksdb.RocksDB

/**
 * What one RocksDB database holds outside of the heap. `cache` is the block cache that it uses, by
 * identity: with Spark's bounded memory all databases of a JVM use the same.
 */
private[probe] final case class NativeMemory(
    cache: AnyRef, cacheBytes: Long, pinnedBytes: Long, memtableBytes: Long, readerBytes: Long)

private[probe] object NativeMemory {
  /** Reads counters that RocksDB keeps anyway, of all its column families. */
  def of(open: RocksDB, cache: AnyRef): NativeMemory = NativeMemory(
    cache,
    open.getAggregatedLongProperty("rocksdb.block-cache-usage"),
    open.getAggregatedLongProperty("rocksdb.block-cache-pinned-usage"),
    open.getAggregatedLongProperty("rocksdb.cur-size-all-mem-tables"),
    open.getAggregatedLongProperty("rocksdb.estimate-table-readers-mem"))
}

/**
 * The native memory of all state stores of this JVM, as each was seen last. `StateSizes` looks at
 * the stores, where it may; the sampler only adds up.
 */
private[probe] class NativeMemories extends MetricSource {
  @volatile private var seen = Seq.empty[NativeMemory]

  /** The last look at each store that is loaded, the latest last. */
  def see(stores: Seq[NativeMemory]): Unit = seen = stores

  override def sample(): Seq[Metric] = {
    val stores = seen
    if (stores.isEmpty) Nil
    else {
      // Of stores with the same cache, the one that was seen last knows best how full it is.
      val caches = new java.util.IdentityHashMap[AnyRef, NativeMemory]
      stores.foreach(each => caches.put(each.cache, each))
      var cacheBytes, pinnedBytes = 0L
      caches.values.forEach { each =>
        cacheBytes += each.cacheBytes
        pinnedBytes += each.pinnedBytes
      }
      Seq(
        Metric(Metrics.RocksdbCache, cacheBytes),
        Metric(Metrics.RocksdbPinned, pinnedBytes),
        Metric(Metrics.RocksdbMemtables, stores.iterator.map(_.memtableBytes).sum),
        Metric(Metrics.RocksdbReaders, stores.iterator.map(_.readerBytes).sum))
    }
  }
}
