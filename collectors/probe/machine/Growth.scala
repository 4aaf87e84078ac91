package io.curtail.probe

/** Reports a counter's growth since the last reading; the first reading gives none. */
private[probe] class Growth(id: Int) {
  private var last = Growth.Unknown

  def to(total: Long): Option[Metric] = {
    val before = last
    last = if (total < 0) Growth.Unknown else total
    // A counter that went back was reset: report no number rather than a wrong one.
    if (before < 0 || last < before) None else Some(Metric(id, last - before, amount = true))
  }
}

private object Growth {
  val Unknown: Long = -1
}
