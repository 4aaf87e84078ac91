package io.curtail.probe

import java.nio.charset.StandardCharsets.UTF_8

/**
 * How much each state store's compaction threshold is raised: pseudo-random, the same for the same
 * seed. techniques/shadowsync/algorithm.py computes the same, and a test compares the two.
 */
private[probe] object Thresholds {
  private val OffsetBasis = 0xcbf29ce484222325L
  private val Prime = 0x100000001b3L

  /** α, uniform over 0 … spread − 1. */
  def alpha(
      seed: Long, operator: Long, partition: Int, store: String, reopened: Int, spread: Int): Int = {
    val drawn = mixed(hash(s"$seed/$operator/$partition/$reopened/$store"))
    java.lang.Long.remainderUnsigned(drawn, spread.toLong).toInt
  }

  /** FNV-1a. */
  private def hash(text: String): Long =
    text.getBytes(UTF_8).foldLeft(OffsetBasis)((hash, byte) => (hash ^ (byte & 0xffL)) * Prime)

  /** The finaliser of SplitMix64: names that differ in one digit end up far apart. */
  private def mixed(value: Long): Long = {
    val once = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L
    val twice = (once ^ (once >>> 27)) * 0x94d049bb133111ebL
    twice ^ (twice >>> 31)
  }
}
