package io.curtail.probe

/**
 * Log-linear buckets for latencies in microseconds: 64 per power of two, so the middle of a bucket
 * is within 1/128 of every value in it; values below 64 are exact. The twin of collectors/buckets.py,
 * held equal by tests/collectors/test_probe_formats.py.
 */
object Buckets {
  val SubBits = 6
  val Sub: Int = 1 << SubBits
  val MaxUs: Long = 3600L * 1000 * 1000
  val Count: Int = index(MaxUs) + 1

  /** Below zero (an event from the future) counts as zero, beyond an hour as an hour. */
  def index(latencyUs: Long): Int = {
    val us = math.max(0L, math.min(MaxUs, latencyUs))
    if (us < Sub) us.toInt
    else {
      val shift = 63 - java.lang.Long.numberOfLeadingZeros(us) - SubBits
      ((shift + 1) << SubBits) + ((us >>> shift).toInt & (Sub - 1))
    }
  }
}
