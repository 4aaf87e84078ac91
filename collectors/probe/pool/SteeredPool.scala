package io.curtail.probe

/**
 * Writes the policy, the shares, the settings and the numbers of instances in a pool's page. The
 * original values are saved in the page before they are changed, so that any executor that has the
 * page later can restore them.
 */
private[probe] class SteeredPool(page: PoolPage) {
  import PoolPage.{Header, Instance, Operator}
  import SteeredPool._

  private var changed: Option[Change] = None
  private var resizedAtNs: Option[Long] = None

  def isRunning: Boolean = page.isWhole && page.word(Header.State) == PoolPage.Running

  /** Since when this lever's last change waits to be seen by all; None if it was seen. */
  def unseenSinceNs: Option[Long] = {
    changed = changed.filterNot(last => page.seenByAll(last.version))
    resizedAtNs = resizedAtNs.filterNot(_ => operators.forall(isReached))
    (changed.map(_.atNs) ++ resizedAtNs).minOption
  }

  /** Asks for so many instances by operator; what is not named gets what the lever found there. */
  def resize(wanted: Map[String, Int], nowNs: Long): Option[String] = {
    val names = page.operatorNames
    val trouble = wanted.collectFirst {
      case (name, _) if !names.contains(name) =>
        s"no operator $name; the pool has ${names.mkString(", ")}"
      case (name, asked) if asked > room(names.indexOf(name)) =>
        s"$name has room for ${room(names.indexOf(name))} instances, not $asked: pooled(…, most=$asked)"
    }
    val held = if (trouble.isEmpty) wanted else Map.empty[String, Int]
    val changes = operators.map { position =>
      val at = page.operator(position)
      holdWord(at + Operator.Wanted, at + Operator.WantedFound, held.get(names(position)))
    }
    if (changes.contains(true)) resizedAtNs = Some(nowNs)
    trouble
  }

  /** Applies the wish and restores everything else; returns the reason if it cannot. */
  def hold(wish: PoolWish, nowNs: Long): Option[String] = {
    val outside = wish.shares.keys.filter(_ >= page.instances)
    if (outside.nonEmpty) {
      hold(PoolWish.Nothing, nowNs)
      return Some(s"the pool has instances 0 to ${page.instances - 1}, not ${outside.max}")
    }
    val shares = (0 until page.instances).map { number =>
      val at = page.instance(number)
      holdWord(at + Instance.Share, at + Instance.ShareFound, wish.shares.get(number))
    }
    val settings = PoolWish.Settings.indices.map { place =>
      holdWord(Header.Settings + place, Header.SettingsFound + place, wish.settings.get(place))
    }
    val found = page.word(Header.PolicyFound)
    val before = if (found == 0) policy else (found - 1) & PolicyMask
    if (wish.policy.isDefined && found == 0) page.put(Header.PolicyFound, before + 1)
    val wanted = wish.policy.fold(before)(_.toLong)
    // The other words were written first, so a reader of the new version also sees them.
    if (shares.contains(true) || settings.contains(true) || wanted != policy) {
      changed = Some(Change(version + 1, nowNs))
      page.put(Header.Control, (version + 1) << 16 | wanted)
    }
    if (wish.policy.isEmpty && found != 0) page.put(Header.PolicyFound, 0)
    None
  }

  def close(): Unit = page.close()

  private def operators: Range = 0 until page.operators

  private def room(position: Int): Long = page.room(position)

  /** Whether the pool has as many instances as are wanted, and chooses among no others. */
  private def isReached(position: Int): Boolean = {
    val at = page.operator(position)
    page.word(at + Operator.Reached) == page.word(at + Operator.Wanted)
  }

  /** Sets a word, or restores what was found there; returns whether it changed. */
  private def holdWord(at: Int, foundAt: Int, asked: Option[Int]): Boolean = {
    val (now, found) = (page.word(at), page.word(foundAt))
    if (asked.isDefined && found == 0) page.put(foundAt, now + 1)
    val wanted = asked.fold(if (found == 0) now else found - 1)(_.toLong)
    if (wanted != now) page.put(at, wanted)
    if (asked.isEmpty && found != 0) page.put(foundAt, 0)
    wanted != now
  }

  private def version: Long = page.word(Header.Control) >>> 16

  private def policy: Long = page.word(Header.Control) & PolicyMask
}

private object SteeredPool {
  private val PolicyMask = 0xffffL

  private final case class Change(version: Long, atNs: Long)
}
