package io.curtail.probe

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}

/**
 * Sets Spark options that a running driver reads again for each task set. Only the options of a
 * fixed list can be set.
 *
 * `options` of an order is a map from names to texts. The previous value is restored when no order
 * wants the option any more.
 */
private[probe] class ConfLever(context: () => Option[SparkContext]) extends Lever {
  import ConfLever._

  override val name = "spark-conf"

  /** Option → its value before it was first set; None if it had none. */
  private var before = Map.empty[String, Option[String]]

  override def hold(orders: Seq[Order]): Map[Int, String] = {
    val asked = orders.map(order => order.number -> options(order))
    val refused = asked.flatMap { case (number, wanted) => whyNot(wanted).map(number -> _) }.toMap
    val wanted = asked.filterNot { case (number, _) => refused.contains(number) }
    // Arbitration grants an option to one order at a time; if two come anyway, the first wins.
    val values = wanted.reverse.flatMap(_._2).toMap
    if (values.nonEmpty || before.nonEmpty) live() match {
      case Some(conf) =>
        before.keySet.diff(values.keySet).foreach(putBack(conf, _))
        values.foreach { case (key, value) => put(conf, key, value) }
        refused ++ wanted.flatMap { case (number, own) => unlike(own).map(number -> _) }
      case None => asked.map(_._1 -> "there is no Spark context here").toMap
    } else refused
  }

  private def live(): Option[SparkConf] =
    for (sc <- context() if !sc.isStopped; env <- Option(SparkEnv.get)) yield env.conf

  private def put(conf: SparkConf, key: String, value: String): Unit = {
    if (!before.contains(key)) before += key -> conf.getOption(key)
    if (!conf.getOption(key).contains(value)) conf.set(key, value)
  }

  private def putBack(conf: SparkConf, key: String): Unit = {
    before(key) match {
      case Some(value) => conf.set(key, value)
      case None => conf.remove(key)
    }
    before -= key
  }

  /** Reads the options back from the context; returns the first that differs from the wanted. */
  private def unlike(wanted: Map[String, String]): Option[String] = {
    val said = context().map(_.getConf)
    wanted.collectFirst {
      case (key, value) if !said.exists(_.getOption(key).contains(value)) =>
        s"$key is ${said.flatMap(_.getOption(key)).getOrElse("not set")}, not $value"
    }
  }
}

private object ConfLever {
  /** Options that Spark reads again for every task set and that do not change a query's results. */
  private val Live = Set(
    "spark.speculation",
    "spark.speculation.multiplier",
    "spark.speculation.quantile",
    "spark.locality.wait",
    "spark.locality.wait.process",
    "spark.locality.wait.node",
    "spark.locality.wait.rack")
  private val Longest = 100

  private def options(order: Order): Map[String, String] = {
    val node = order.values.path("options")
    if (!node.isObject) Map.empty
    else node.properties().asScala.map(each => each.getKey -> each.getValue.asText).toMap
  }

  private def whyNot(wanted: Map[String, String]): Option[String] =
    if (wanted.isEmpty) Some("no options are named")
    else wanted.collectFirst {
      case (key, _) if !Live(key) => s"$key cannot be set while Spark runs"
      case (key, value) if value.isEmpty || value.length > Longest => s"$key cannot be that"
    }
}
