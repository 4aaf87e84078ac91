package io.curtail.probe

import java.util.{Collections, Map => JMap, UUID}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.{StateStoreId, StateStoreProviderId}
import org.apache.spark.sql.streaming.StreamingQuery

import scala.jdk.CollectionConverters._
import scala.util.Try

/** The state stores of a query's run. */
private[probe] final case class Layout(runId: UUID, operators: Seq[OperatorState]) {
  val partitions: Int = operators.map(_.partitions).maxOption.getOrElse(0)

  /** All stores of one partition: of every operator, under every name. */
  def stores(partition: Int): Seq[StateStoreProviderId] =
    for (operator <- operators if partition < operator.partitions; name <- operator.names)
      yield StateStoreProviderId(
        StateStoreId(operator.checkpoint, operator.id, partition, name), runId)
}

private[probe] final case class OperatorState(
    id: Long, checkpoint: String, partitions: Int, names: Seq[String])

/**
 * A running query as Spark's driver has it. Its plan and its operators are found by the names of
 * their methods, because their classes moved between Spark's versions.
 */
private[probe] class RunningQuery(query: StreamingQuery) {
  import RunningQuery._

  /** The thread that runs the query's batches, one after the other. */
  def thread: Thread = call(query, "queryExecutionThread").asInstanceOf[Thread]

  /** The last batch whose tasks are all over; -1 before the first. */
  def completed: Long =
    Option(query.lastProgress).filter(_.durationMs.containsKey("addBatch")).fold(-1L)(_.batchId)

  /**
   * Returns where the query's state is; None while that cannot be read. Spark makes the plan of a
   * batch when somebody first asks for it, and that must not be us: `running` are batches that have
   * tasks already, so that their plans are there.
   */
  def layout(running: Set[String]): Option[Layout] =
    for {
      execution <- Option(call(query, "lastExecution"))
      batch = call(execution, "currentBatchId").asInstanceOf[Long]
      if batch == completed || running(batch.toString)
    } yield Layout(query.runId, operators(call(execution, "executedPlan")))
}

private[probe] object RunningQuery {
  /** The names that Spark 3 gives the stores of a stream–stream join; later ones say them. */
  private val JoinNames =
    for (side <- Seq("left", "right"); kind <- Seq("keyToNumValues", "keyWithIndexToValue"))
      yield s"$side-$kind"

  /** None if this run of the query is over. */
  def find(queryId: String, runId: String): Option[RunningQuery] =
    for {
      query <- Option(active.get(UUID.fromString(queryId)))
      if query.runId.toString == runId
    } yield new RunningQuery(query)

  /** The ids of all queries that run, and of their runs. */
  def all: Seq[(String, String)] =
    active.values.asScala.map(query => (query.id.toString, query.runId.toString)).toSeq

  private def active: JMap[UUID, StreamingQuery] =
    SparkSession.getDefaultSession.orElse(SparkSession.getActiveSession)
      .fold[JMap[UUID, StreamingQuery]](Collections.emptyMap()) { session =>
        call(call(session, "sharedState"), "activeStreamingQueries")
          .asInstanceOf[JMap[UUID, StreamingQuery]]
      }

  /** An operator that reads and writes is two nodes of a plan with the same number. */
  private def operators(plan: AnyRef): Seq[OperatorState] =
    nodes(plan).flatMap(state).groupBy(_.id).values.map { same =>
      same.head.copy(names = same.flatMap(_.names).distinct)
    }.toSeq.sortBy(_.id)

  private def nodes(plan: AnyRef): Seq[AnyRef] =
    plan +: call(plan, "children").asInstanceOf[Seq[AnyRef]].flatMap(nodes)

  private def state(node: AnyRef): Option[OperatorState] =
    if (!node.getClass.getMethods.exists(_.getName == "stateInfo")) None
    else call(node, "stateInfo").asInstanceOf[Option[AnyRef]].map { info =>
      OperatorState(
        call(info, "operatorId").asInstanceOf[Long],
        call(info, "checkpointLocation").toString,
        call(info, "numPartitions").asInstanceOf[Int],
        names(node))
    }

  private def names(node: AnyRef): Seq[String] =
    Try(call(node, "stateStoreNames").asInstanceOf[Seq[String]])
      .getOrElse(StateStoreId.DEFAULT_STORE_NAME +: JoinNames)

  private def call(on: AnyRef, method: String): AnyRef = on.getClass.getMethod(method).invoke(on)
}
