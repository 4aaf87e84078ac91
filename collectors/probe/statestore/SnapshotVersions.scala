package io.curtail.probe

/**
 * At which versions state stores with changelog checkpoints write snapshots.
 * techniques/shadowsync/snapshots.py says the same, and a test holds the two together.
 */
private[probe] object SnapshotVersions {
  /**
   * Returns the version to give Spark as the last snapshot, so that the next one is `every`
   * versions later, at the first version above `loaded` with (version + offset) mod every = 0. But
   * never `2 * every` versions after the `real` last one: such a store writes at its next commit.
   */
  def lastSnapshot(loaded: Long, real: Long, every: Int, offset: Int): Long = {
    val next = loaded + every - Math.floorMod(loaded + offset, every.toLong)
    val latest = math.max(real + 2L * every - 1, loaded + 1)
    math.min(next, latest) - every
  }

  /**
   * Returns a partition's offset. Neighbouring partitions are far apart, and no offset repeats
   * before each was used once: offsets are binary fractions of `every` (0, 1/2, 1/4, 3/4, 1/8 …),
   * starting at a place that depends on seed and operator.
   */
  def offset(seed: Long, operator: Long, partition: Int, every: Int): Int = {
    val bits = 64 - java.lang.Long.numberOfLeadingZeros(every - 1L)
    val order = Iterator.iterate(0L)(_ + 1).map { number =>
      ((if (bits == 0) 0L else java.lang.Long.reverse(number) >>> (64 - bits)) * every) >>> bits
    }.distinct
    val shift = Thresholds.alpha(seed, operator, 0, "snapshots", 0, every)
    ((order.drop(partition % every).next() + shift) % every).toInt
  }
}
