package org.apache.spark.curtail

import java.lang.reflect.Constructor

import org.apache.spark.SparkEnv
import org.apache.spark.scheduler.{ExecutorCacheTaskLocation, TaskLocation}
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId
import org.apache.spark.util.RpcUtils

import scala.concurrent.{Await, Future}
import scala.concurrent.duration._

/**
 * Spark's coordinator of state stores, which knows the executor of each store, and by which the
 * scheduler chooses where a stateful task prefers to run. In this package because Spark's RPC is
 * private to it.
 *
 * The messages are private to their file, so they are made by reflection. A Spark without them
 * gives an exception here, and one that no longer understands them gives it as the answer.
 */
class StateCoordinator(env: SparkEnv, messages: StateCoordinator.Messages) {
  import StateCoordinator._

  // Before anything is said: a Spark that lacks one of them is left alone.
  private val locate = constructor(messages.locate, 1)
  private val report = constructor(messages.report, 4)
  private val endpoint = RpcUtils.makeDriverRef("StateStoreCoordinator", env.conf, env.rpcEnv)
  // Only in the same JVM is a message in the coordinator's inbox as soon as it is sent.
  if (endpoint.address != env.rpcEnv.address)
    throw new UnsupportedOperationException("the coordinator of state stores is in another process")

  /** Returns the executor of each store; stores that no task has opened yet are left out. */
  def executors(stores: Seq[StateStoreProviderId]): Map[StateStoreProviderId, String] = {
    val asked = stores.map(store => store -> endpoint.ask[Any](locate.newInstance(store)))
    asked.flatMap { case (store, answer) =>
      answered(answer) match {
        case Some(place: String) => executorIn(place).map(store -> _)
        case _ => None
      }
    }.toMap
  }

  /** Puts the word that the stores are on this executor into the coordinator's inbox, and does not
   *  wait for the answers. */
  def say(stores: Seq[StateStoreProviderId], host: String, executorId: String): Said =
    new Said(stores.map { store =>
      endpoint.ask[Any](report.newInstance(store, host, executorId, Nil))
    })
}

object StateCoordinator {
  private val Package = "org.apache.spark.sql.execution.streaming.state."
  private val Patience = 5.seconds

  /**
   * The classes of two messages: `locate` is made of a store, `report` of a store, its host, its
   * executor, and other stores of that executor which it would unload.
   */
  case class Messages(locate: String, report: String)
  val OfSpark: Messages = Messages(Package + "GetLocation", Package + "ReportActiveInstance")

  /** The answers to a word; `confirm` throws what the coordinator had against it. */
  class Said(answers: Seq[Future[Any]]) {
    def confirm(): Unit = answers.foreach(answered)
  }

  private def answered(answer: Future[Any]): Any = Await.result(answer, Patience)

  private def executorIn(place: String): Option[String] = TaskLocation(place) match {
    case ExecutorCacheTaskLocation(_, executorId) => Some(executorId)
    case _ => None
  }

  private def constructor(name: String, fields: Int): Constructor[_] = {
    val found = Class.forName(name).getDeclaredConstructors
      .find(_.getParameterCount == fields)
      .getOrElse(throw new NoSuchMethodException(s"$name of $fields fields"))
    found.setAccessible(true)
    found
  }
}
