package io.curtail.probe

import java.lang.reflect.{Field, Method}
import java.util.WeakHashMap

/**
 * When one state store with changelog checkpoints writes a snapshot.
 *
 * Spark does so as soon as a commit is `minDeltasForSnapshot` versions after the last snapshot, and
 * compares with a number in memory that nothing else reads. All stores of a query count from the same
 * version, so all write at once. Setting that number once gives a store a phase of its own; from
 * then on Spark's own counting keeps it, and nothing has to be held. docs/adr/0009 has the reasons.
 *
 * Every method but `isOut` must be called while no task uses the store (`LoadedStore.whileIdle`).
 */
private[probe] class SnapshotPhase(every: Int) {
  import SnapshotPhase._

  /** Spark's own version of the last snapshot, and the one that replaced it. */
  private var real = Unknown
  private var written = Unknown
  /** The version of the next snapshot before any change, modulo `every`. */
  private var found = Unknown
  private var drawn: Phase = null
  private var drawnOffset = 0

  /** Whether Spark counts in another phase, as far as can be seen without its lock. */
  def isOut(wrapper: AnyRef, phase: Phase): Boolean =
    counts && Math.floorMod(Last.getLong(wrapper) + offset(phase), every.toLong) != 0L

  /** Makes snapshots happen where (version + offset) is a multiple of `every`. */
  def hold(wrapper: AnyRef, phase: Phase): Unit = counted(wrapper) { loaded =>
    if (found == Unknown)
      found = Math.floorMod(math.max(Last.getLong(wrapper) + every, loaded + 1), every.toLong)
    set(wrapper, loaded, offset(phase))
  }

  /** Restores the original phase. Returns false if that has to wait for the next snapshot. */
  def letGo(wrapper: AnyRef): Boolean = {
    if (found != Unknown) counted(wrapper) { loaded =>
      set(wrapper, loaded, Math.floorMod(-found, every.toLong).toInt)
      if (Math.floorMod(written - found, every.toLong) == 0L) found = Unknown
    }
    found == Unknown || Loaded.getLong(wrapper) < 0
  }

  /** Whether snapshots have a phase at all: without changelogs every commit is a snapshot. */
  def counts: Boolean = every > 1

  private def offset(phase: Phase): Int = {
    if (drawn == null || drawn != phase) {
      drawn = phase
      drawnOffset = SnapshotVersions.offset(phase.seed, phase.operator, phase.partition, every)
    }
    drawnOffset
  }

  /** Skips a store whose last commit failed: Spark loads it again before it continues. */
  private def counted(wrapper: AnyRef)(body: Long => Unit): Unit = if (counts) {
    val loaded = Loaded.getLong(wrapper)
    if (loaded >= 0) {
      val last = Last.getLong(wrapper)
      real = if (last == written) math.min(real, last) else last
      body(loaded)
    }
  }

  private def set(wrapper: AnyRef, loaded: Long, offset: Int): Unit = {
    written = SnapshotVersions.lastSnapshot(loaded, real, every, offset)
    if (Last.getLong(wrapper) != written) Last.setLong(wrapper, written)
  }
}

private[probe] object SnapshotPhase {
  /** The inputs from which a store's offset is computed. */
  final case class Phase(seed: Long, operator: Long, partition: Int)

  private val Unknown = Long.MinValue
  private val Package = "org.apache.spark.sql.execution.streaming.state."
  private lazy val WrapperClass = Class.forName(Package + "RocksDB")
  private lazy val ConfClass = Class.forName(Package + "RocksDBConf")
  private lazy val Last = counter("lastSnapshotVersion")
  private lazy val Loaded = counter("loadedVersion")
  private lazy val Conf: Field = opened(WrapperClass.getDeclaredField("conf"))
  private lazy val Changelog: Method = ConfClass.getMethod("enableChangelogCheckpointing")
  private lazy val Deltas: Method = ConfClass.getMethod("minDeltasForSnapshot")

  /** Kept for as long as Spark keeps the store, also after the technique was switched off. */
  private val phases = new WeakHashMap[AnyRef, SnapshotPhase]

  def of(wrapper: AnyRef): SnapshotPhase = phases.synchronized {
    phases.computeIfAbsent(wrapper, _ => {
      val conf = Conf.get(wrapper)
      val changelog = Changelog.invoke(conf).asInstanceOf[Boolean]
      new SnapshotPhase(if (changelog) Deltas.invoke(conf).asInstanceOf[Int] else 0)
    })
  }

  /** Finds a field by the end of its name: the compiler prefixes members that inner classes use. */
  private def counter(name: String): Field =
    WrapperClass.getDeclaredFields.filter { field =>
      field.getType == java.lang.Long.TYPE && field.getName.split('$').last == name
    } match {
      case Array(field) => opened(field)
      case other => throw new NoSuchFieldException(
        s"${other.length} numbers $name in ${WrapperClass.getName}")
    }

  private def opened(field: Field): Field = { field.setAccessible(true); field }
}
