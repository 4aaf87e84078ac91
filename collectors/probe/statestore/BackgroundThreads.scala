package io.curtail.probe

import org.rocksdb.{Env, Priority}

/** How many threads RocksDB has in this JVM, for all its databases: HIGH flushes, LOW compacts. */
private[probe] class BackgroundThreads {
  private var before = Map.empty[Priority, Int]

  /** Sets the numbers of threads; 0 leaves them as they are. */
  def hold(flush: Int, compaction: Int): Unit = {
    hold(Priority.HIGH, flush)
    hold(Priority.LOW, compaction)
  }

  def letGo(): Unit = hold(0, 0)

  private def hold(priority: Priority, wanted: Int): Unit =
    if (wanted > 0) {
      val found = Env.getDefault.getBackgroundThreads(priority)
      if (!before.contains(priority)) before += priority -> found
      if (found != wanted) Env.getDefault.setBackgroundThreads(wanted, priority)
    } else before.get(priority).foreach { found =>
      Env.getDefault.setBackgroundThreads(found, priority)
      before -= priority
    }
}
