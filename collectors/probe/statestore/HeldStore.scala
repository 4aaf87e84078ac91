package io.curtail.probe

import java.util.concurrent.TimeUnit

import org.rocksdb.{MutableColumnFamilyOptions, Options, RocksDB}

/**
 * An order for each state store of its query: a threshold of `base` files and up to `spread` − 1
 * more. Base 0 means the value Spark opened it with. `inStep` is the opposite of the technique, for
 * measuring it: all stores compact at the commits whose version is a multiple of the threshold.
 * `snapshots` gives stores with changelogs phases of their own; other stores are not changed.
 */
private[probe] final case class Wish(
    seed: Long, spread: Int, delayMs: Long, base: Int, inStep: Boolean, snapshots: Boolean)

private[probe] sealed trait Held
private[probe] case object AsAsked extends Held
/** A task uses the database, and the order is not applied yet. */
private[probe] case object Pending extends Held
/** A task uses the database; the order is applied, but a check is due. */
private[probe] case object Unseen extends Held
/** Released, and returning to the checkpoints at which it compacted before. */
private[probe] case object Returning extends Held
private[probe] final case class Trouble(why: String) extends Held

/**
 * One state store's compaction trigger: what Spark opened the database with, what it is now.
 *
 * With a delay, the trigger rests at the ceiling, is lowered to the store's threshold once level 0
 * has been full for that long, and goes up again when the compaction has emptied it. So if a
 * process dies in between, the database still compacts by itself, at the ceiling at the latest. A
 * flush that comes while a compaction waits ends the wait: level 0 never grows for longer than
 * that.
 */
private[probe] class HeldStore(id: StoreId) {
  import HeldStore._

  private var store: LoadedStore = null
  private var database: AnyRef = null
  private var reopened = -1
  private var found = Unknown
  private var ceiling = Unknown
  private var threshold = Unknown
  private var trigger = Unknown
  private var drawnFor: Wish = null
  private var lookedNs = 0L
  private var fullSinceNs = 0L
  private var fullFiles = 0
  private var outOfStep = false
  /** The commits at which it compacted before: their version modulo `found`. */
  private var step = Unknown.toLong
  private var returnsUntil = Unknown.toLong
  private var phased = false

  /** Called repeatedly by the lever's thread; touches the database only when something is due. */
  def hold(loaded: LoadedStore, wish: Wish, nowNs: Long): Held = {
    if (store == null || (loaded.provider ne store.provider)) {
      store = loaded
      database = null
      found = Unknown
    }
    returnsUntil = Unknown
    if (!isDue(wish, nowNs)) asLooked
    else store.whileIdle { (open, options) =>
      val level0 = HeldStore.level0(open)
      meet(open, options, wish, level0)
      trouble(open, level0).map(Trouble).getOrElse {
        val flushed = if (wish.inStep) (store.version % threshold).toInt else 0
        set(open, if (wish.inStep) stepped(level0, flushed, threshold) else wanted(level0, wish, nowNs))
        holdSnapshots(wish)
        lookedNs = nowNs
        outOfStep = wish.inStep && level0 % threshold != flushed
        asLooked
      }
    } match {
      case Seen(held) => held
      case InUse =>
        if (wish == drawnFor && (store.database eq database) && !outOfStep) Unseen else Pending
      case NotOpen => AsAsked // there will be an order to hold when there is a database
    }
  }

  /**
   * Restores what Spark opened it with. Its files would still be out of step with the others', so
   * its next compaction is moved to a checkpoint at which it would have compacted before. The phase
   * of its snapshots may have to wait for the next snapshot.
   */
  def letGo(nowNs: Long): Held =
    if (found == Unknown) AsAsked
    else if (isReturning && nowNs - lookedNs < TimeUnit.MILLISECONDS.toNanos(ReturnStepMs)) Returning
    else store.whileIdle { (open, options) =>
      if (open ne database) trigger = Unknown // Spark opened it again, with an unknown value
      database = open
      drawnFor = null
      options.setLevel0FileNumCompactionTrigger(found)
      lookedNs = nowNs
      if (!isReturning) returnsUntil = store.version + ReturnCycles * found
      val level0 = HeldStore.level0(open)
      val flushed = Math.floorMod(store.version - step, found.toLong).toInt
      val isInStep = level0 % found == flushed || store.version > returnsUntil ||
        SnapshotPhase.of(store.wrapper).counts
      set(open, if (isInStep) found else stepped(level0, flushed, found))
      letGoSnapshots() && isInStep
    } match {
      case Seen(false) => Returning
      case InUse => if (isReturning && (store.database eq database)) Returning else Pending
      case _ => found = Unknown; returnsUntil = Unknown; AsAsked
    }

  private def isReturning: Boolean = returnsUntil != Unknown

  private def isDue(wish: Wish, nowNs: Long): Boolean = {
    val everyMs = if (wish.delayMs > 0 || outOfStep) DelayStepMs else LookMs
    wish != drawnFor || (store.database ne database) || isOutOfPhase(wish) ||
      nowNs - lookedNs >= TimeUnit.MILLISECONDS.toNanos(everyMs)
  }

  /** True after Spark loaded the store again, or was told to write a snapshot now. */
  private def isOutOfPhase(wish: Wish): Boolean = wish.snapshots && {
    val wrapper = store.wrapper
    wrapper != null && SnapshotPhase.of(wrapper).isOut(wrapper, phase(wish))
  }

  /** Applies the snapshot phase; what cannot be done now is due at the next check. */
  private def holdSnapshots(wish: Wish): Unit =
    if (wish.snapshots) {
      phased = true
      SnapshotPhase.of(store.wrapper).hold(store.wrapper, phase(wish))
    } else letGoSnapshots()

  /** Restores the snapshot phase; returns whether nothing is left to do. */
  private def letGoSnapshots(): Boolean = {
    if (phased) phased = !SnapshotPhase.of(store.wrapper).letGo(store.wrapper)
    !phased
  }

  private def phase(wish: Wish) = SnapshotPhase.Phase(wish.seed, id.operator, id.partition)

  /** Called when Spark opened the database, for the first time or again, or the order changed. */
  private def meet(open: RocksDB, options: Options, wish: Wish, level0: Int): Unit = {
    if (found == Unknown) {
      found = options.level0FileNumCompactionTrigger()
      step = Math.floorMod(store.version - level0, found.toLong)
      val slowdown = options.level0SlowdownWritesTrigger()
      ceiling = math.max(found, (if (slowdown > 0) slowdown else DefaultSlowdown) - Margin)
    }
    if (open ne database) {
      reopened += 1
      database = open
      trigger = options.level0FileNumCompactionTrigger()
      drawnFor = null
    }
    if (wish != drawnFor) {
      val alpha = Thresholds.alpha(
        wish.seed, id.operator, id.partition, id.name, reopened, wish.spread)
      threshold = math.min((if (wish.base > 0) wish.base else found) + alpha, ceiling)
      options.setLevel0FileNumCompactionTrigger(threshold)
      drawnFor = wish
      fullSinceNs = 0L
    }
  }

  private def wanted(level0: Int, wish: Wish, nowNs: Long): Int =
    if (wish.delayMs <= 0) threshold
    else if (level0 < threshold) { fullSinceNs = 0L; ceiling }
    else {
      if (fullSinceNs == 0L) { fullSinceNs = nowNs; fullFiles = level0 }
      val waited = nowNs - fullSinceNs >= TimeUnit.MILLISECONDS.toNanos(wish.delayMs)
      if (waited || level0 > fullFiles) threshold else ceiling
    }

  private def asLooked: Held = if (outOfStep) Pending else AsAsked

  /** The number of files at the next commit in step; a compaction that is due is not postponed. */
  private def stepped(level0: Int, flushed: Int, every: Int): Int =
    if (level0 >= every) every else math.min(level0 + every - flushed, ceiling)

  private def trouble(open: RocksDB, level0: Int): Option[String] =
    if (level0 >= ceiling)
      Some(s"$id has $level0 files at level 0, and $ceiling is the limit: compaction is behind")
    else if (open.getLongProperty("rocksdb.is-write-stopped") != 0L)
      Some(s"RocksDB has stopped the writes of $id")
    else if (open.getLongProperty("rocksdb.actual-delayed-write-rate") != 0L)
      Some(s"RocksDB slows down the writes of $id")
    else None

  /** Takes RocksDB some milliseconds: it writes all its options to a file. */
  private def set(open: RocksDB, wanted: Int): Unit = if (trigger != wanted) {
    val options = MutableColumnFamilyOptions.builder().setLevel0FileNumCompactionTrigger(wanted)
    open.setOptions(options.build())
    trigger = wanted
  }
}

private object HeldStore {
  val Unknown: Int = -1
  /** How far to stay below the number of files at which RocksDB slows writes down. */
  val Margin = 4
  val DefaultSlowdown = 20
  val LookMs = 500L
  val DelayStepMs = 20L
  val ReturnStepMs = 50L
  /** Cycles to wait at most for a commit in step: commits that flush nothing add no file. */
  val ReturnCycles = 3L

  def level0(open: RocksDB): Int = open.getProperty("rocksdb.num-files-at-level0").toInt
}
