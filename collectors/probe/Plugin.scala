package io.curtail.probe

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Collections, Map => JMap}

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}

/** Loaded by `spark.plugins`; only wires the parts. An error here must not fail the job. */
class Plugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = new Driver
  override def executorPlugin(): ExecutorPlugin = new Executor
}

private object Plugin {
  /** All levers of this probe. Those that need the context act in the driver only, which has it. */
  def levers(): Seq[Lever] = {
    val placement = new PlacementLever(() => Driver.context)
    Seq(
      Echo,
      new StateStoreLever,
      new ConfLever(() => Driver.context),
      new CopyLever(() => Driver.context),
      placement,
      new ShareLever(() => Driver.context),
      new ExecutorsLever(() => Driver.context, placement))
  }
}

private class Driver extends DriverPlugin {
  import Driver.context
  private var sampler: Option[Sampler] = None
  private var levers: Option[Levers] = None

  override def init(sc: SparkContext, ctx: PluginContext): JMap[String, String] = {
    if (ProbeJar.send(sc, ctx.conf())) {
      Driver.context = Some(sc)
      Guard.quietly("listen to tasks") { TaskEvents.listen(sc) }
    }
    Collections.emptyMap[String, String]
  }

  /** Called once the application has its id, which it has not yet at `init`. */
  override def registerMetrics(appId: String, ctx: PluginContext): Unit =
    Guard.quietly("start the collector") {
      context.foreach { sc =>
        CollectorProcess.start(CollectorSettings.from(sc, appId))
        // In local mode the driver is also the executor, and measured as such.
        if (!sc.isLocal) sampler = Some(measureDriver())
      }
    }

  private def measureDriver(): Sampler = {
    val here = Whereabouts(
      Levers.Driver, isDriver = true, isExecutor = false, () => Executor.host())
    val moved = new Levers(here, Plugin.levers())
    val made =
      new Sampler("driver", () => Executor.host(), new Sender(receive, moved), Machine.sources())
    moved.start()
    levers = Some(moved)
    made.start()
    made
  }

  override def receive(message: AnyRef): AnyRef = message match {
    case part: Array[Byte] =>
      CollectorProcess.offer(MessageKind.Part, part)
      Driver.reply()
    case Control.Question => Control.current.document
    case other =>
      // Counted by the collector: sent by another version of Curtail, or by another plugin.
      val name = Option(other).map(_.getClass.getName).getOrElse("null")
      CollectorProcess.offer(MessageKind.Foreign, name.getBytes(UTF_8))
      Driver.reply()
  }

  override def shutdown(): Unit = Guard.quietly("stop the collector") {
    ProbeJar.forget()
    levers.foreach(_.stop())
    sampler.foreach(_.stop())
    CollectorProcess.stop()
    Driver.context = None
  }
}

private object Driver {
  /** The context of the application whose driver this JVM is. */
  @volatile var context: Option[SparkContext] = None

  /** The reply to every part: the driver's clock, and the number of the edition in force. */
  def reply(): Array[Byte] =
    ByteBuffer.allocate(2 * java.lang.Long.BYTES)
      .putLong(Clock.hostUs()).putLong(Control.current.number).array()
}

private class Executor extends ExecutorPlugin {
  private var sampler: Option[Sampler] = None
  private var tap: Option[StateStoreTap] = None
  private var levers: Option[Levers] = None
  private val memories = new NativeMemories
  private val sizes = new StateSizes(memories)

  override def init(ctx: PluginContext, extraConf: JMap[String, String]): Unit =
    Guard.quietly("start the sampler") {
      // In local mode this is the driver as well.
      val local = ctx.executorID() == Levers.Driver
      val here = Whereabouts(
        ctx.executorID(), isDriver = local, isExecutor = true, () => Executor.host())
      val watched = pools(ctx)
      val moved = new Levers(here, Plugin.levers() ++ watched.map(PoolLever.here(_)))
      val sender = new Sender(message => ctx.ask(message), moved)
      // Reading RocksDB's log makes each flush a little longer, so it can be switched off.
      val wanted = ctx.conf().getBoolean("spark.curtail.stateStore.tap", true)
      val measured = sources() ++ (if (wanted) taps() else Nil)
      sampler =
        Some(new Sampler(ctx.executorID(), () => Executor.host(), sender, measured, watched))
      moved.start()
      levers = Some(moved)
      sampler.foreach(_.start())
      sizes.start()
    }

  /** The metric sources of every JVM; one that cannot start is left out. */
  private def sources(): Seq[MetricSource] = Machine.sources() :+ new Seldom(memories)

  private def pools(ctx: PluginContext): Option[Pools] = {
    var made: Option[Pools] = None
    Guard.quietly("look at operator pools") { made = Some(new Pools(PoolPlaces.of(ctx.conf()))) }
    made
  }

  /** Started separately, because it depends on the cluster's version of log4j. */
  private def taps(): Seq[MetricSource] = {
    Guard.quietly("listen to state stores") { tap = Some(new StateStoreTap().install()) }
    tap.toSeq
  }

  override def shutdown(): Unit = Guard.quietly("stop the sampler") {
    levers.foreach(_.stop())
    sampler.foreach(_.stop())
    tap.foreach(_.remove())
    sizes.stop()
  }
}

private object Executor {
  /** Known only after the plugins are up; ctx.hostname() throws on standalone executors. */
  def host(): Option[String] =
    for (env <- Option(SparkEnv.get); id <- Option(env.blockManager.blockManagerId)) yield id.host
}
