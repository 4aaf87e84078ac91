package io.curtail.probe

import java.util.UUID

/** Reads the slots of a page: the tasks' chunks, and the growth of their counters since last time. */
private[probe] class TaskGrowth(page: PoolPage, remember: UUID => Unit) {
  import PoolGrowth.isLevel
  import PoolPage.Slot
  import TaskGrowth.Words

  private val generations = Array.fill(page.slots)(-1L)
  private val before = Array.fill(page.slots, Words.length)(0L)
  private val grown = new Array[Long](Words.length)
  private var held = 0L

  def heldChunks: Long = held

  def handedOutAgain: Long = grown(0)

  def counts: TaskCounts = TaskCounts(grown(1), grown(2), grown(3), grown(4))

  /** Returns whether the numbers make sense. */
  def look(): Boolean = {
    held = 0
    java.util.Arrays.fill(grown, 0L)
    var believed = true
    var slot = 0
    while (slot < page.slots) {
      val at = page.slot(slot)
      val generation = page.word(at + Slot.Generation)
      if (generation != 0) {
        if (page.word(at + Slot.Pid) != 0) held += page.word(at + Slot.Chunks)
        believed &= isLevel(held) & lookAt(slot, generation == generations(slot))
        generations(slot) = generation
        page.query(slot).foreach(remember)
      }
      slot += 1
    }
    believed
  }

  /** The counters of a slot restart when another task takes it; garbage is not remembered. */
  private def lookAt(slot: Int, isSameTask: Boolean): Boolean = {
    val (at, last) = (page.slot(slot), before(slot))
    var believed = true
    var each = 0
    while (each < Words.length) {
      val now = page.word(at + Words(each))
      if (isLevel(now)) {
        grown(each) += (if (isSameTask && now >= last(each)) now - last(each) else now)
        last(each) = now
      } else believed = false
      each += 1
    }
    believed
  }
}

private object TaskGrowth {
  import PoolPage.Slot

  val Words: Array[Int] = Array(Slot.Again, Slot.Sent, Slot.Replayed, Slot.Won, Slot.Twice)
}
