package io.curtail.probe

/**
 * The words of a pool's page that steer it. What stood there first is written beside them before
 * they are changed, so that it can be set back by whichever executor has the page then.
 */
private[probe] class SteeredPool(page: PoolPage) {
  import PoolPage.{Header, Instance}
  import SteeredPool._

  private var changed: Option[Change] = None

  def isRunning: Boolean = page.isWhole && page.word(Header.State) == PoolPage.Running

  /** Since when the last change of this lever waits to be seen by all. */
  def unseenSinceNs: Option[Long] = {
    changed = changed.filterNot(last => page.seenByAll(last.version))
    changed.map(_.atNs)
  }

  /** Makes it so, and sets back what is not wished; the reason if it cannot be. */
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
    // Whoever sees the new version finds the new shares.
    if (sharesChanged || wanted != policy) {
      changed = Some(Change(version + 1, nowNs))
      page.put(Header.Control, (version + 1) << 16 | wanted)
    }
    if (wish.policy.isEmpty && found != 0) page.put(Header.PolicyFound, 0)
    None
  }

  def close(): Unit = page.close()

  /** Whether it was another. */
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
