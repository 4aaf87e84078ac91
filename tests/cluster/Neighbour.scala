package org.apache.spark.internal.plugin

import java.lang.management.ManagementFactory
import java.util.Collections

import org.apache.spark.SparkEnv
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}
import org.apache.spark.sql.api.java.UDF3

/**
 * Somebody else's plugin. Spark hands the messages of all plugins to their driver sides on one
 * thread: while this one takes its time, the driver answers none of ours.
 */
class Neighbour extends SparkPlugin {
  override def executorPlugin(): ExecutorPlugin = null
  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    override def receive(message: AnyRef): AnyRef = {
      Thread.sleep(message.asInstanceOf[Number].longValue)
      null
    }
  }
}

/**
 * For SQL, so that a task does it on an executor; in this package, to speak as any plugin there
 * may. The third argument is the row's, or Spark would ask once and on the driver.
 */
class OnExecutor extends UDF3[String, Long, Long, String] {
  override def call(what: String, number: Long, row: Long): String = what match {
    case "hold" => as(classOf[Neighbour].getName).send(Long.box(number)); ""
    case "corrupt" => OnExecutor.corrupt(as("io.curtail.probe.Plugin")).toString
    case "flood" => OnExecutor.flood(number); ""
    case "threads" => OnExecutor.waitingInOurCode().mkString(",")
  }

  private def as(plugin: String): PluginContext = {
    val env = SparkEnv.get
    new PluginContextImpl(
      plugin, env.rpcEnv, env.metricsSystem, env.conf, env.executorId, Collections.emptyMap())
  }
}

object OnExecutor {
  private val Part = 2
  private val Garbage = Array.fill[Byte](64)(-1)

  /** What a bug of ours or a broken network might send; how much of it was answered. */
  def corrupt(toCurtail: PluginContext): Int = {
    val messages = Seq[AnyRef](Garbage, Array.emptyByteArray, "not even bytes", Int.box(7))
    messages.foreach(toCurtail.send)
    messages.count(message => toCurtail.ask(message) != null)
  }

  /** Parts that are none, on the collector's queue. By reflection: this is compiled without us. */
  def flood(times: Long): Unit = {
    val collector = Class.forName("io.curtail.probe.CollectorProcess")
    val offer = collector.getMethod("offer", classOf[Int], classOf[Array[Byte]])
    (1L to times).foreach(_ => offer.invoke(null, Int.box(Part), Garbage))
  }

  /** Threads of this JVM that wait, for whatever it is, in code of Curtail's. */
  def waitingInOurCode(): Seq[String] =
    ManagementFactory.getThreadMXBean.dumpAllThreads(false, false).toSeq.filter { thread =>
      thread.getThreadState != Thread.State.RUNNABLE &&
        thread.getStackTrace.exists(_.getClassName.startsWith("io.curtail."))
    }.map(_.getThreadName)
}
