package io.curtail.probe

import com.fasterxml.jackson.databind.JsonNode

import scala.jdk.CollectionConverters._

/**
 * What an order asks: for each kind of stage the age at which a running task gets a copy, what a
 * copy is expected to take, and how much of the query's task time copies may take. A kind that has
 * no timeout gets no copies; stages that write to the sink get them only with `sink`.
 */
private[probe] final case class CopyPlan(
    timeoutsMs: Map[Int, Long],
    costsMs: Map[Int, Long],
    budgetPercent: Double,
    sink: Boolean) {

  /** A copy of whose cost nothing is known is expected to take as long as one may wait for it. */
  def costMs(kind: Int): Long = costsMs.getOrElse(kind, timeoutsMs.getOrElse(kind, 0L))
}

private[probe] object CopyPlan {
  private val LongestMs = 3600000L
  private val MostKinds = 1000

  /** The plan, or why the values of the order are none. */
  def read(values: JsonNode): Either[String, CopyPlan] =
    for {
      timeouts <- times(values.path("timeouts_ms"), "timeouts_ms")
      _ <- Either.cond(timeouts.nonEmpty, (), "timeouts_ms names no kind of stage")
      costs <- times(values.path("costs_ms"), "costs_ms")
      percent <- percent(values.path("budget_percent"))
    } yield CopyPlan(timeouts, costs, percent, values.path("sink").asBoolean(false))

  private def times(node: JsonNode, name: String): Either[String, Map[Int, Long]] = {
    val entries = if (node.isObject) node.properties().asScala.toSeq else Nil
    val read = entries.flatMap { each =>
      for (kind <- each.getKey.toIntOption if kind >= 0 && each.getValue.isNumber;
          ms = math.round(each.getValue.asDouble) if ms >= 1 && ms <= LongestMs)
        yield kind -> ms
    }
    if (!node.isMissingNode && !node.isObject) Left(s"$name is no map")
    else if (read.size != entries.size) Left(s"$name needs kinds from 0 and 1 to $LongestMs ms")
    else if (read.size > MostKinds) Left(s"$name names more than $MostKinds kinds")
    else Right(read.toMap)
  }

  private def percent(node: JsonNode): Either[String, Double] =
    Either.cond(
      node.isNumber && node.asDouble >= 0 && node.asDouble <= 100,
      node.asDouble,
      "budget_percent has to be between 0 and 100")
}
