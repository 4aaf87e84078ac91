package io.curtail.probe

import java.util.concurrent.TimeUnit

import org.rocksdb.{MutableColumnFamilyOptions, Options, RocksDB}

/**
 * What an order asks of each state store of its query. `spread` 1 leaves the threshold as it is;
 * `snapshots` gives stores with changelogs phases of their own, and changes nothing of others.
 */
private[probe] final case class Wish(
    seed: Long, spread: Int, delayMs: Long, snapshots: Boolean = false)

private[probe] sealed trait Held
private[probe] case object AsAsked extends Held
/** A task has the database, and it is not yet as asked. */
private[probe] case object Pending extends Held
/** A task has the database, which is as asked and due to be looked at. */
private[probe] case object Unseen extends Held
private[probe] final case class Trouble(why: String) extends Held

/**
 * One state store's compaction trigger: what Spark opened the database with, what it is now.
 *
 * With a delay, the trigger rests at the ceiling, is lowered to the store's threshold once level 0
 * has been full for that long, and goes up again when the compaction has emptied it. So whoever
 * dies in between leaves a database that compacts by itself, at the ceiling at the latest. A flush
 * that comes while a compaction waits ends the wait: level 0 never grows for longer than that.
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
  private var phased = false

  /** As the thread that moves levers comes by; only what is due touches the database. */
  def hold(loaded: LoadedStore, wish: Wish, nowNs: Long): Held = {
    if (store == null || (loaded.provider ne store.provider)) {
      store = loaded
      database = null
      found = Unknown
    }
    if (!isDue(wish, nowNs)) AsAsked
    else store.whileIdle { (open, options) =>
      val level0 = HeldStore.level0(open)
      meet(open, options, wish)
      trouble(open, level0).map(Trouble).getOrElse {
        set(open, wanted(level0, wish, nowNs))
        holdSnapshots(wish)
        lookedNs = nowNs
        AsAsked
      }
    } match {
      case Seen(held) => held
      case InUse => if (wish == drawnFor && (store.database eq database)) Unseen else Pending
      case NotOpen => AsAsked // there will be an order to hold when there is a database
    }
  }

  /** Back to what Spark opened it with. *Unseen* if all is but the phase of its snapshots. */
  def letGo(): Held =
    if (found == Unknown) AsAsked
    else store.whileIdle { (open, options) =>
      if (open ne database) trigger = Unknown // Spark opened it again: who knows with what
      database = open
      drawnFor = null
      set(open, found)
      options.setLevel0FileNumCompactionTrigger(found)
      letGoSnapshots()
    } match {
      case InUse => if (drawnFor == null && (store.database eq database)) Unseen else Pending
      case Seen(false) => Unseen
      case _ => found = Unknown; AsAsked
    }

  private def isDue(wish: Wish, nowNs: Long): Boolean = {
    val everyMs = if (wish.delayMs > 0) DelayStepMs else LookMs
    wish != drawnFor || (store.database ne database) || isOutOfPhase(wish) ||
      nowNs - lookedNs >= TimeUnit.MILLISECONDS.toNanos(everyMs)
  }

  /** After Spark loaded it anew, or was told to write a snapshot now. */
  private def isOutOfPhase(wish: Wish): Boolean = wish.snapshots && {
    val wrapper = store.wrapper
    wrapper != null && SnapshotPhase.of(wrapper).isOut(wrapper, phase(wish))
  }

  /** What cannot be done at once is due at the next look. */
  private def holdSnapshots(wish: Wish): Unit =
    if (wish.snapshots) {
      phased = true
      SnapshotPhase.of(store.wrapper).hold(store.wrapper, phase(wish))
    } else letGoSnapshots()

  /** Whether nothing is left to do. */
  private def letGoSnapshots(): Boolean = {
    if (phased) phased = !SnapshotPhase.of(store.wrapper).letGo(store.wrapper)
    !phased
  }

  private def phase(wish: Wish) = SnapshotPhase.Phase(wish.seed, id.operator, id.partition)

  /** Spark opened it, for the first time or again, or something else is asked of it. */
  private def meet(open: RocksDB, options: Options, wish: Wish): Unit = {
    if (found == Unknown) {
      found = options.level0FileNumCompactionTrigger()
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
      threshold = math.min(found + alpha, ceiling)
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
  /** Below the number of files at which RocksDB slows writes down. */
  val Margin = 4
  val DefaultSlowdown = 20
  val LookMs = 500L
  val DelayStepMs = 20L

  def level0(open: RocksDB): Int = open.getProperty("rocksdb.num-files-at-level0").toInt
}
