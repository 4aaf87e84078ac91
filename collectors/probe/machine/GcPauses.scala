package io.curtail.probe

import java.lang.management.{ManagementFactory, MemoryType, MemoryUsage}
import java.util.{Map => JMap}
import javax.management.{Notification, NotificationEmitter, NotificationListener}
import javax.management.openmbean.CompositeData

import com.fasterxml.jackson.databind.ObjectMapper
import com.sun.management.{GarbageCollectionNotificationInfo, GcInfo}

import scala.jdk.CollectionConverters._

/**
 * Reports every GC pause; the JVM gives its times in milliseconds since the JVM started. One object
 * per JVM, however many Spark sessions it has, so that no pause is reported twice.
 */
private[probe] object GcPauses extends NotificationListener {
  private val json = new ObjectMapper
  private val heapPools = ManagementFactory.getMemoryPoolMXBeans.asScala
    .filter(_.getType == MemoryType.HEAP).map(_.getName).toSet
  // On the monotonic clock, so that a later correction of the wall clock moves no pause.
  private val startedUs =
    ManagementFactory.getRuntimeMXBean.getStartTime * 1000 - Clock.hostUs() + monotonicUs
  @volatile private var heapAfter = -1L

  private lazy val listening: Unit = ManagementFactory.getGarbageCollectorMXBeans.forEach {
    case emitter: NotificationEmitter => emitter.addNotificationListener(this, null, null)
    case _ => ()
  }

  def listen(): Unit = listening

  /** -1 before the first collection. */
  def heapAfterBytes: Long = heapAfter

  override def handleNotification(notification: Notification, handback: AnyRef): Unit =
    if (notification.getType == GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)
      Guard.quietly("tell of a GC pause") {
        val data = notification.getUserData.asInstanceOf[CompositeData]
        val info = GarbageCollectionNotificationInfo.from(data)
        heapAfter = heap(info.getGcInfo.getMemoryUsageAfterGc)
        // "end of GC cycle" (ZGC, Shenandoah) is concurrent work; its pauses are reported
        // separately.
        if (!info.getGcAction.contains("cycle")) tell(info, info.getGcInfo)
      }

  private def tell(info: GarbageCollectionNotificationInfo, gc: GcInfo): Unit = {
    val startUs = epochUs(gc.getStartTime)
    val endUs = startUs + gc.getDuration * 1000
    val body = JMap.of[String, Any](
      "start_us", startUs,
      "end_us", endUs,
      "action", info.getGcAction,
      "cause", info.getGcCause,
      "heap_before", heap(gc.getMemoryUsageBeforeGc),
      "heap_after", heap(gc.getMemoryUsageAfterGc))
    Events.offer(EventSource.Gc, endUs, info.getGcName, json.writeValueAsString(body))
  }

  private def heap(pools: JMap[String, MemoryUsage]): Long =
    pools.asScala.collect { case (name, usage) if heapPools(name) => usage.getUsed }.sum

  private def epochUs(sinceStartMs: Long): Long =
    startedUs + sinceStartMs * 1000 + Clock.nowUs() - monotonicUs

  private def monotonicUs: Long = System.nanoTime() / 1000
}
