package io.curtail.probe

import java.util.{Map => JMap}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

/** Where keys are watched: the query, the columns, and over how many partitions they are spread. */
private[probe] final case class KeyPlace(queryId: String, columns: String, partitions: Int)

/**
 * What all tasks of this JVM counted of each place since it was told last. Once a second the
 * heaviest keys go to the collector, as an event that collectors/process/events/heavy_keys.py reads.
 */
private[probe] object HeavyKeys {
  private val Most = 16
  private val EveryNs = 1000000000L
  private val counted = new ConcurrentHashMap[KeyPlace, KeySketch]
  private val guard = new Guard.Often("tell heavy keys")
  private var toldNs = System.nanoTime()

  /** Called by tasks. `compute` is atomic, so nothing is added to a sketch that was told already. */
  def add(place: KeyPlace, sketch: KeySketch): Unit =
    counted.compute(place, (_, before) => if (before == null) sketch else before.add(sketch))

  /** Called by the sampler at every window. */
  def tell(): Unit =
    if (System.nanoTime() - toldNs >= EveryNs && !counted.isEmpty) guard.quietly {
      toldNs = System.nanoTime()
      counted.keySet.forEach { place =>
        Option(counted.remove(place)).foreach { sketch =>
          Events.offer(EventSource.HeavyKeys, Clock.nowUs(), place.queryId, body(place, sketch))
        }
      }
    }

  private def body(place: KeyPlace, sketch: KeySketch): String = {
    val keys = sketch.top(Most).map { key =>
      JMap.of[String, Any](
        "key", key.text.toString,
        "partition", Math.floorMod(key.hash, place.partitions),
        "rows", key.rows)
    }
    Json.text(JMap.of[String, Any](
      "columns", place.columns, "sampled", sketch.total, "keys", keys.asJava))
  }
}
