package io.curtail.probe

import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._

import scala.jdk.CollectionConverters._

/**
 * Passes Spark's query events to the collector. It never waits, because a query's `start()` returns
 * only after onQueryStarted. Loaded by `spark.sql.streaming.streamingQueryListeners`.
 */
class QueryEvents extends StreamingQueryListener {
  private val json = new ObjectMapper

  override def onQueryStarted(event: QueryStartedEvent): Unit =
    Guard.quietly("report a query's start") {
      CollectorProcess.queryStarted(event.runId.toString, encoded(
        "query_id" -> event.id.toString,
        "run_id" -> event.runId.toString,
        "name" -> event.name,
        "started_ms" -> Long.box(System.currentTimeMillis())))
    }

  override def onQueryProgress(event: QueryProgressEvent): Unit =
    Guard.quietly("report a query's progress") {
      CollectorProcess.offerNow(MessageKind.QueryProgress, event.progress.json.getBytes(UTF_8))
    }

  override def onQueryTerminated(event: QueryTerminatedEvent): Unit =
    Guard.quietly("report a query's end") {
      CollectorProcess.queryTerminated(event.runId.toString, encoded(
        "query_id" -> event.id.toString,
        "run_id" -> event.runId.toString,
        "ended_ms" -> Long.box(System.currentTimeMillis()),
        "reason" -> event.exception.getOrElse("")))
    }

  private def encoded(fields: (String, AnyRef)*): Array[Byte] =
    json.writeValueAsBytes(fields.toMap.asJava)
}
