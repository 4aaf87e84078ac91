package io.curtail.probe

import java.util.{Collections, Map => JMap}

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}

/** Loaded by `spark.plugins`; only wires the parts. Whatever fails here must not fail the job. */
class Plugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = new Driver
  override def executorPlugin(): ExecutorPlugin = new Executor
}

private class Driver extends DriverPlugin {
  private var context: Option[SparkContext] = None

  override def init(sc: SparkContext, ctx: PluginContext): JMap[String, String] = {
    context = Some(sc)
    Collections.emptyMap[String, String]
  }

  /** Called once the application has its id, which it has not yet at `init`. */
  override def registerMetrics(appId: String, ctx: PluginContext): Unit =
    Guard.quietly("start the collector") {
      context.foreach(sc => Collector.start(CollectorSettings.from(sc, appId)))
    }

  override def receive(message: AnyRef): AnyRef = message match {
    case part: Array[Byte] => Collector.offer(MessageKind.Part, part); Driver.Received
    case _ => Driver.Received
  }

  override def shutdown(): Unit = Guard.quietly("stop the collector") { Collector.stop() }
}

private object Driver {
  /** Executors `ask`, so a reply is due; control settings will ride on it. */
  val Received: Array[Byte] = Array.emptyByteArray
}

private class Executor extends ExecutorPlugin {
  private var sampler: Option[Sampler] = None

  override def init(ctx: PluginContext, extraConf: JMap[String, String]): Unit =
    Guard.quietly("start the sampler") {
      val sender = new Sender(part => ctx.ask(part))
      sampler = Some(new Sampler(ctx.executorID(), () => Executor.host(), sender, sources()))
      sampler.foreach(_.start())
    }

  /** What is measured in every JVM, each on its own: one that cannot start is left out. */
  private def sources(): Seq[MetricSource] = Seq(new HostCpu)

  override def shutdown(): Unit = Guard.quietly("stop the sampler") { sampler.foreach(_.stop()) }
}

private object Executor {
  /** Known only after the plugins are up; ctx.hostname() throws on standalone executors. */
  def host(): Option[String] =
    for (env <- Option(SparkEnv.get); id <- Option(env.blockManager.blockManagerId)) yield id.host
}
