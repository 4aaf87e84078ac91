package io.curtail.probe

/**
 * Log-linear buckets for latencies in microseconds: 2^subBits per power of two, so the middle of a
 * bucket is within 1/2^(subBits + 1) of every value in it; values below 2^subBits are exact. The
 * twin of collectors/formats/buckets.py, held equal by tests/collectors/probe/test_probe_formats.py.
 *
 * The scale is an argument, not a field: with a constant there the compiler folds it away.
 */
private object LogLinear {
  final val MaxUs = 3600L * 1000 * 1000

  /** Below zero (an event from the future) counts as zero, beyond an hour as an hour. */
  def index(latencyUs: Long, subBits: Int): Int = {
    val us = math.max(0L, math.min(MaxUs, latencyUs))
    if (us < (1L << subBits)) us.toInt
    else {
      val shift = 63 - java.lang.Long.numberOfLeadingZeros(us) - subBits
      ((shift + 1) << subBits) + ((us >>> shift).toInt & ((1 << subBits) - 1))
    }
  }
}

/** 64 buckets per power of two, 0.78 %: the scale of frames. */
object Buckets {
  final val SubBits = 6
  val Count: Int = index(LogLinear.MaxUs) + 1

  def index(latencyUs: Long): Int = LogLinear.index(latencyUs, SubBits)
}

/** 256 per power of two, 0.2 %: for values moved into `Buckets` later, within 1 % after both. */
object FineBuckets {
  final val SubBits = 8
  val Count: Int = index(LogLinear.MaxUs) + 1

  def index(latencyUs: Long): Int = LogLinear.index(latencyUs, SubBits)
}

/** The filled buckets of a histogram, ascending, and how many records each holds. */
case class Filled(buckets: Array[Int], counts: Array[Int]) {
  def records: Long = counts.foldLeft(0L)(_ + _)
}
