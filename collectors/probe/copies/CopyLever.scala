package io.curtail.probe

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.curtail.RunningSets

/**
 * Has Spark copy tasks that run longer than their kind of stage should, one copy each, on another
 * host, within a budget. Once an order is gone no more copies are made; those that run end as Spark
 * ends them. docs/adr/0014 says by what hand.
 */
private[probe] class CopyLever(context: () => Option[SparkContext]) extends Lever {
  import CopyLever._

  override val name = "task-copies"

  private lazy val copier: Either[String, Copier] = context() match {
    case None => Left("there is no Spark context here")
    case Some(sc) => RunningSets.of(sc).map(new Copier(_))
  }
  private var holding = false

  override def hold(orders: Seq[Order]): Map[Int, String] =
    if (orders.isEmpty && !holding) Map.empty
    else {
      holding = orders.nonEmpty
      copier.fold(
        why => orders.map(_.number -> speculating.getOrElse(why)).toMap, hold(_, orders))
    }

  private def hold(copier: Copier, orders: Seq[Order]): Map[Int, String] = {
    val plans = orders.map(order => order.number -> read(order))
    val here = if (orders.isEmpty) None else whyNotHere(copier)
    copier.want(if (here.isEmpty) plans.flatMap(_._2.toOption) else Nil)
    plans.flatMap { case (number, plan) =>
      here.orElse(plan.fold(Some(_), copier.leftOut)).map(number -> _)
    }.toMap
  }

  private def whyNotHere(copier: Copier): Option[String] =
    copier.fault.orElse(speculating).orElse {
      val hosts = context().map(RunningSets.hosts).getOrElse(Set.empty[String])
      if (hosts.size > 1) None
      else Some("all executors are on one host, and copies run on another one")
    }

  /** Spark reads the option for every task set, so it may have changed since the start. */
  private def speculating: Option[String] =
    if (context().exists(_.getConf.getBoolean("spark.speculation", false)))
      Some("spark.speculation is on: Spark makes copies of its own")
    else None
}

private[probe] object CopyLever {
  private def read(order: Order): Either[String, CopyOrder] =
    CopyPlan.read(order.values).map(CopyOrder(order.queryId, order.runId, _))
}
