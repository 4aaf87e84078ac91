package io.curtail.probe

/**
 * Writes the policy and the shares in a pool's page. The original values are saved in the page
 * before they are changed, so that any executor that has the page later can restore them.
 */
private[probe] class SteeredPool(page: PoolPage) {
  import PoolPage.{Header, Instance}
  import SteeredPool._

  private var changed: Option[Change] = None

  def isRunning: Boolean = page.isWhole && page.word(Header.State) == PoolPage.Running

  /** Since when this lever's last change waits to be seen by all; None if it was seen. */
  def unseenSinceNs: Option[Long] = {
    changed = changed.filterNot(last => page.seenByAll(last.version))
    changed.map(_.atNs)
  }

  /** Applies the wish and restores everything else; returns the reason if it cannot. */
  def hold(wish: PoolWish, nowNs: Long): Option[String] = {
    val outside = wish.shares.keys.filter(_ >= page.instances)
    if (outside.nonEmpty) {
      hold(PoolWish.Nothing, nowNs)
      return Some(s"the pool has instances 0 to ${page.instances - 1}, not ${outside.max}")
    }
    val sharesChanged = (0 until page.instances).map(holdShare(_, wish.shares)).exists(identity)
    val found = page.word(Header.PolicyFound)
    val before = if (found == 0) policy else (found - 1) & PolicyMask
    if (wish.policy.isDefined && found == 0) page.put(Header.PolicyFound, before + 1)
    val wanted = wish.policy.fold(before)(_.toLong)
    // Shares were written first, so a reader of the new version also sees the new shares.
    if (sharesChanged || wanted != policy) {
      changed = Some(Change(version + 1, nowNs))
      page.put(Header.Control, (version + 1) << 16 | wanted)
    }
    if (wish.policy.isEmpty && found != 0) page.put(Header.PolicyFound, 0)
    None
  }

  def close(): Unit = page.close()

  /** Sets or restores one share; returns whether it changed. */
  private def holdShare(number: Int, shares: Map[Int, Int]): Boolean = {
    val at = page.instance(number)
    val (share, found) = (page.word(at + Instance.Share), page.word(at + Instance.ShareFound))
    val wanted = shares.get(number) match {
      case Some(asked) =>
        if (found == 0) page.put(at + Instance.ShareFound, share + 1)
        asked.toLong
      case None => if (found == 0) share else found - 1
    }
    if (wanted != share) page.put(at + Instance.Share, wanted)
    if (!shares.contains(number) && found != 0) page.put(at + Instance.ShareFound, 0)
    wanted != share
  }

  private def version: Long = page.word(Header.Control) >>> 16

  private def policy: Long = page.word(Header.Control) & PolicyMask
}

private object SteeredPool {
  private val PolicyMask = 0xffffL

  private final case class Change(version: Long, atNs: Long)
}
