package io.curtail.probe

import com.fasterxml.jackson.databind.JsonNode

import scala.jdk.CollectionConverters._

/** What an order wants of a pool: the number of a policy, shares of traffic in 1 % by instance. */
private[probe] final case class PoolWish(policy: Option[Int], shares: Map[Int, Int])

private[probe] object PoolWish {
  /** The numbers of techniques/pool/policies.py; a test compares the two. */
  val Policies: Seq[(String, Int)] = Seq("round-robin" -> 0, "fewest-queued" -> 1)
  val Nothing: PoolWish = PoolWish(None, Map.empty)
  private val MostShare = 100
  private val Number = """\d{1,3}""".r

  /** Parses an order's values; Left is the reason why they are invalid. */
  def read(values: JsonNode): Either[String, PoolWish] = {
    val unknown = values.fieldNames().asScala.find(name => name != "policy" && name != "shares")
    if (!values.isObject || values.isEmpty) Left("neither a policy nor shares are asked for")
    else if (unknown.isDefined) Left(s"a pool has no setting ${unknown.get}")
    else for {
      policy <- readPolicy(values.get("policy"))
      shares <- readShares(values.get("shares"))
    } yield PoolWish(policy, shares)
  }

  private def readPolicy(value: JsonNode): Either[String, Option[Int]] =
    if (value == null) Right(None)
    else Policies.collectFirst { case (name, number) if value.isTextual && name == value.asText => number }
      .map(Some(_)).toRight(s"no policy $value; there are ${Policies.map(_._1).mkString(", ")}")

  private def readShares(value: JsonNode): Either[String, Map[Int, Int]] =
    if (value == null) Right(Map.empty)
    else if (!value.isObject) Left(s"shares are by instance, not $value")
    else {
      val each = value.fields().asScala.toSeq.map(one => one.getKey -> one.getValue)
      each.collectFirst {
        case (instance, _) if !Number.matches(instance) => s"no instance $instance"
        case (instance, share) if !isShare(share) =>
          s"the share of instance $instance must be a whole number from 1 to $MostShare, not $share"
      }.toLeft(each.map { case (instance, share) => instance.toInt -> share.asInt }.toMap)
    }

  private def isShare(value: JsonNode): Boolean =
    value.isIntegralNumber && value.canConvertToInt && value.asInt >= 1 && value.asInt <= MostShare
}
