package io.curtail.probe

/** A counter, told as what it grew by since the last look; the first look says nothing. */
private[probe] class Growth(id: Int) {
  private var last = Growth.Unknown

  def to(total: Long): Option[Metric] = {
    val before = last
    last = if (total < 0) Growth.Unknown else total
    // A counter that went back began anew: no number rather than a wrong one.
    if (before < 0 || last < before) None else Some(Metric(id, last - before, amount = true))
  }
}

private object Growth {
  val Unknown: Long = -1
}
