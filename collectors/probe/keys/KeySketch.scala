package io.curtail.probe

import org.apache.spark.unsafe.types.UTF8String

import scala.collection.mutable

/** A key with a counter: `rows` is at most how often it was counted. */
final class CountedKey(val hash: Int, val text: UTF8String, var rows: Long)

/**
 * The most frequent keys of a stream, by Misra and Gries: with k counters and after N keys, a
 * counter is at most its key's count and at least that less N / (k + 1). So every key with a larger
 * share has a counter, and no key seems heavier than it is. Merging two sketches keeps the bound
 * (Agarwal et al., Mergeable Summaries, 2012). A key costs amortised constant time.
 *
 * Keys are told apart by their hash; the text is needed only for a key that gets a counter. Not
 * thread-safe.
 */
final class KeySketch(counters: Int = KeySketch.Counters) {
  private val held = new mutable.LongMap[CountedKey]
  private var counted = 0L

  /** How many keys were counted. */
  def total: Long = counted

  /** Counts a key. True if it gets a new counter, for which the caller then has to call `name`. */
  def count(hash: Int): Boolean = {
    counted += 1
    val known = held.getOrNull(hash)
    if (known != null) {
      known.rows += 1
      false
    } else if (held.size < counters) true
    else {
      subtract(1)
      false
    }
  }

  def name(hash: Int, text: UTF8String): Unit = held.update(hash, new CountedKey(hash, text, 1))

  /** Adds what `other` counted; `other` must not be used any more. */
  def add(other: KeySketch): KeySketch = {
    counted += other.counted
    other.held.foreachValue { theirs =>
      val ours = held.getOrNull(theirs.hash)
      if (ours == null) held.update(theirs.hash, theirs) else ours.rows += theirs.rows
    }
    if (held.size > counters) {
      val ascending = held.valuesIterator.map(_.rows).toArray.sorted
      subtract(ascending(ascending.length - 1 - counters))
    }
    this
  }

  /** The keys with the largest counters, the largest first. */
  def top(most: Int): Seq[CountedKey] = held.values.toSeq.sortBy(-_.rows).take(most)

  private def subtract(rows: Long): Unit = {
    held.foreachValue(_.rows -= rows)
    held.filterInPlace((_, key) => key.rows > 0)
  }
}

object KeySketch {
  /** Every key with more than 0.4 % of the rows has a counter. */
  val Counters = 256

  /** For tests in Python: counts each byte as a key. */
  def ofBytes(keys: Array[Byte], counters: Int): KeySketch = {
    val sketch = new KeySketch(counters)
    keys.foreach { key =>
      if (sketch.count(key & 0xff)) sketch.name(key & 0xff, UTF8String.fromBytes(Array(key)))
    }
    sketch
  }
}
