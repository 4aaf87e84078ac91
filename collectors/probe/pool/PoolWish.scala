package io.curtail.probe

import com.fasterxml.jackson.databind.JsonNode

import scala.jdk.CollectionConverters._

/** A number that steers a pool, with its bounds. */
private[probe] final case class PoolSetting(name: String, low: Int, high: Int)

/**
 * What an order wants of a pool: the number of a policy, shares of traffic in 1 % by instance,
 * settings by their place in the page, and how many instances its operators are to have, by name.
 */
private[probe] final case class PoolWish(
    policy: Option[Int],
    shares: Map[Int, Int],
    settings: Map[Int, Int] = Map.empty,
    instances: Map[String, Int] = Map.empty) {
  import PoolWish._

  /** The parts of a pool that it steers; each has one order at a time. */
  def parts: Set[Part] =
    (if (policy.isDefined || shares.nonEmpty || settings.nonEmpty) Set[Part](Dispatch) else Set.empty) ++
      (if (instances.nonEmpty) Set[Part](Size) else Set.empty)
}

private[probe] object PoolWish {
  /** The numbers of techniques/pool/policies.py; a test compares the two. */
  val Policies: Seq[(String, Int)] = Seq(
    "round-robin" -> 0,
    "fewest-queued" -> 1,
    "power-of-two" -> 2,
    "latency-weighted" -> 3,
    "shared-queue" -> 4)

  /** Those of techniques/pool/settings.py, by their place in the page; a test compares the two. */
  val Settings: Seq[PoolSetting] = Seq(
    PoolSetting("replay", 0, 3),
    PoolSetting("replay_budget", 0, 10000),
    PoolSetting("replay_period_ms", 100, 60000),
    PoolSetting("balance_period_ms", 100, 600000),
    PoolSetting("balance_alpha", 1, 1000),
    PoolSetting("balance_threshold", 1000, 10000),
    PoolSetting("balance_unit", 1, 1000),
    PoolSetting("tau_ms", 0, 10000))
  /** Places of the settings that samples tell. */
  val Replay: Int = placeOf("replay")
  val TauMs: Int = placeOf("tau_ms")

  sealed trait Part
  /** How chunks are handed out. */
  case object Dispatch extends Part
  /** How many instances there are. */
  case object Size extends Part

  val Nothing: PoolWish = PoolWish(None, Map.empty)
  private val Asked = Seq("policy", "shares", "settings", "instances")
  private val MostShare = 100
  private val Number = """\d{1,3}""".r

  /** Parses an order's values; Left is the reason why they are invalid. */
  def read(values: JsonNode): Either[String, PoolWish] = {
    val unknown = values.fieldNames().asScala.find(!Asked.contains(_))
    if (!values.isObject || values.isEmpty)
      Left("neither a policy nor shares nor settings nor instances are asked for")
    else if (unknown.isDefined)
      Left(s"an order for a pool has no ${unknown.get}; it has ${Asked.mkString(", ")}")
    else for {
      policy <- readPolicy(values.get("policy"))
      shares <- readShares(values.get("shares"))
      settings <- readSettings(values.get("settings"))
      instances <- readInstances(values.get("instances"))
    } yield PoolWish(policy, shares, settings, instances)
  }

  private def placeOf(name: String): Int = Settings.indexWhere(_.name == name)

  private def readPolicy(value: JsonNode): Either[String, Option[Int]] =
    if (value == null) Right(None)
    else Policies.collectFirst { case (name, number) if value.isTextual && name == value.asText => number }
      .map(Some(_)).toRight(s"no policy $value; there are ${Policies.map(_._1).mkString(", ")}")

  private def readShares(value: JsonNode): Either[String, Map[Int, Int]] =
    readMap(value, "shares are by instance")(
      {
        case (instance, _) if !Number.matches(instance) => s"no instance $instance"
        case (instance, share) if !isWithin(share, 1, MostShare) =>
          s"the share of instance $instance must be a whole number from 1 to $MostShare, not $share"
      },
      _.toInt)

  /** The page says which operators there are, and which has room for so many. */
  private def readInstances(value: JsonNode): Either[String, Map[String, Int]] =
    readMap(value, "instances are by operator")(
      {
        case (operator, instances) if !isWithin(instances, 1, PoolPage.MostInstances) =>
          s"the instances of $operator must be a whole number from 1 to ${PoolPage.MostInstances}, " +
            s"not $instances"
      },
      identity)

  private def readSettings(value: JsonNode): Either[String, Map[Int, Int]] =
    readMap(value, "settings are by name")(
      {
        case (name, _) if placeOf(name) < 0 =>
          s"a pool has no setting $name; there are ${Settings.map(_.name).mkString(", ")}"
        case (name, asked) if !isWithin(asked, Settings(placeOf(name))) =>
          val bounds = Settings(placeOf(name))
          val what = if (asked.isIntegralNumber) "" else "a whole number "
          s"$name must be ${what}between ${bounds.low} and ${bounds.high}, not $asked"
      },
      placeOf)

  /** Reads a map of whole numbers; `wrong` has the reason why an entry is invalid. */
  private def readMap[K](value: JsonNode, what: String)(
      wrong: PartialFunction[(String, JsonNode), String],
      key: String => K): Either[String, Map[K, Int]] =
    if (value == null) Right(Map.empty)
    else if (!value.isObject) Left(s"$what, not $value")
    else {
      val each = value.fields().asScala.toSeq.map(one => one.getKey -> one.getValue)
      each.collectFirst(wrong).toLeft(each.map { case (name, asked) => key(name) -> asked.asInt }.toMap)
    }

  private def isWithin(value: JsonNode, bounds: PoolSetting): Boolean =
    isWithin(value, bounds.low, bounds.high)

  private def isWithin(value: JsonNode, low: Int, high: Int): Boolean =
    value.isIntegralNumber && value.canConvertToInt && value.asInt >= low && value.asInt <= high
}
