package io.curtail.probe

import scala.util.control.NonFatal

import org.apache.logging.log4j.{Level, LogManager, Marker}
import org.apache.logging.log4j.core.{Filter, Logger, LoggerContext}
import org.apache.logging.log4j.core.Filter.Result
import org.apache.logging.log4j.core.config.Configuration
import org.apache.logging.log4j.core.filter.{AbstractFilter, CompositeFilter}
import org.apache.logging.log4j.message.Message
import org.apache.spark.SparkEnv

/**
 * Reads what state stores say of flushes, compactions, commits and snapshots, before the user's log
 * levels decide what is shown: what is shown stays the same. docs/state-store.md tells how.
 */
private[probe] class StateStoreTap extends MetricSource {
  private val filter = new StateStoreFilter
  private var removed = false

  /** Throws where the log is not log4j 2, or another version of it: then there is no tap. */
  def install(): StateStoreTap = synchronized {
    val current = configuration()
    if (!removed && !present(current.getFilter)) current.addFilter(filter)
    this
  }

  /** For good: a later Spark session of this JVM brings its own. */
  def remove(): Unit = synchronized {
    removed = true
    configuration().removeFilter(filter)
  }

  /** Measures nothing: who configures log4j anew takes the filter away, so look every window. */
  override def sample(): Seq[Metric] = { install(); Nil }

  private def present(found: Filter): Boolean = found match {
    case several: CompositeFilter => several.getFiltersArray.exists(_ eq filter)
    case one => one eq filter
  }

  /** Of the loggers that Spark's own classes use: log4j keeps one context per class loader. */
  private def configuration(): Configuration =
    LogManager.getContext(classOf[SparkEnv].getClassLoader, false) match {
      case context: LoggerContext => context.getConfiguration
      case other => throw new UnsupportedOperationException(s"the log is ${other.getClass.getName}")
    }
}

/** Asked before every log call of the JVM: for loggers that are not ours it must cost nothing. */
private[probe] class StateStoreFilter extends AbstractFilter {
  import StateStoreFilter._

  /** The level this thread just asked for, without then saying anything at it. */
  private val lastAsked = new ThreadLocal[Level]

  private def on(logger: Logger, level: Level, line: AnyRef): Result = {
    val name = logger.getName
    // The stores' names carry a whole id: few others are this long, so most calls end here.
    if (name.length < ShortestName) Result.NEUTRAL
    else if (is(name, RocksDb)) {
      if (line == null) askedByRocksDb(level) else read(saidByRocksDb(level, name, line))
    } else if (is(name, InMemory)) {
      if (line == null) accept(level) else read(saidInMemory(name, line))
    } else Result.NEUTRAL
  }

  /** The class first: the package in front of it is the same for all that come this far. */
  private def is(name: String, of: String): Boolean =
    name.startsWith(of, Package.length) && name.startsWith(Package)

  /** Whatever we make of a line, the user's own levels decide about it. */
  private def read(line: => Unit): Result = {
    try line
    catch { case NonFatal(_) => }
    Result.NEUTRAL
  }

  /** `isInfoEnabled` and `isDebugEnabled`: yes, so that the line is made and we can read it. */
  private def accept(level: Level): Result =
    if ((level eq Level.INFO) || (level eq Level.DEBUG)) Result.ACCEPT else Result.NEUTRAL

  /**
   * When Spark opens a database it asks for WARN, INFO and DEBUG in a row and makes RocksDB itself
   * as talkative as the last yes. INFO is what we need; whether DEBUG is on is for the user to say.
   */
  private def askedByRocksDb(level: Level): Result = {
    val before = lastAsked.get
    lastAsked.set(
      if (level eq Level.WARN) Level.WARN
      else if ((level eq Level.INFO) && (before eq Level.WARN)) Level.INFO
      else null)
    if ((level eq Level.DEBUG) && (before eq Level.INFO)) Result.NEUTRAL else accept(level)
  }

  private def saidByRocksDb(level: Level, name: String, message: AnyRef): Unit = {
    lastAsked.set(null)
    val line = text(message)
    val store = storeOf(name, RocksDb)
    if (level eq Level.DEBUG) native(line).foreach(offer(EventSource.RocksDb, store, _))
    else if (line.startsWith(Committed)) offer(EventSource.StateStore, store, upTo(line, Stats))
    else if (RocksDbLines.exists(line.contains)) offer(EventSource.StateStore, store, line)
  }

  private def saidInMemory(name: String, message: AnyRef): Unit = {
    val line = text(message)
    if (InMemoryLines.exists(line.startsWith))
      offer(EventSource.StateStore, storeOf(name, InMemory), upTo(line, WhereTo))
  }

  /** Spark passes RocksDB's own log on at DEBUG. */
  private def native(line: String): Option[String] = {
    val at = line.indexOf(EventLog)
    if (at < 0) { if (line.contains(Closed)) Some(Closed) else None }
    else if (!NativeEvents.exists(line.contains)) None
    else {
      // A new file's table properties are a kilobyte that nobody reads.
      val rest = line.indexOf(TableProperties, at)
      val json = line.substring(at + EventLog.length, if (rest < 0) line.length else rest)
      Some(if (rest < 0) json else json + "}")
    }
  }

  private def storeOf(name: String, of: String): String =
    name.substring(Package.length + of.length)

  private def offer(source: Int, store: String, body: String): Unit =
    Events.offer(source, Clock.nowUs(), store, body)

  private def upTo(line: String, end: String): String = {
    val at = line.indexOf(end)
    if (at < 0) line else line.substring(0, at)
  }

  private def text(line: AnyRef): String = line match {
    case message: Message => message.getFormattedMessage
    case other => other.toString
  }

  // Every way log4j may ask; those with parameters are spelt out because the inherited ones
  // allocate an array for every call of every logger.
  private type O = Object
  override def filter(
      l: Logger, v: Level, k: Marker, m: Message, t: Throwable): Result = on(l, v, m)
  override def filter(l: Logger, v: Level, k: Marker, m: O, t: Throwable): Result = on(l, v, m)
  override def filter(l: Logger, v: Level, k: Marker, m: String): Result = on(l, v, m)
  override def filter(l: Logger, v: Level, k: Marker, m: String, all: O*): Result = on(l, v, m)
  override def filter(l: Logger, v: Level, k: Marker, m: String, a: O): Result = on(l, v, m)
  override def filter(l: Logger, v: Level, k: Marker, m: String, a: O, b: O): Result = on(l, v, m)
  override def filter(
      l: Logger, v: Level, k: Marker, m: String, a: O, b: O, c: O): Result = on(l, v, m)
  override def filter(
      l: Logger, v: Level, k: Marker, m: String, a: O, b: O, c: O, d: O): Result = on(l, v, m)
  override def filter(
      l: Logger, v: Level, k: Marker, m: String, a: O, b: O, c: O, d: O, e: O): Result = on(l, v, m)
  override def filter(
      l: Logger, v: Level, k: Marker, m: String, a: O, b: O, c: O, d: O, e: O, f: O): Result =
    on(l, v, m)
  override def filter(
      l: Logger, v: Level, k: Marker, m: String, a: O, b: O, c: O, d: O, e: O, f: O, g: O): Result =
    on(l, v, m)
  override def filter(
      l: Logger, v: Level, k: Marker, m: String,
      a: O, b: O, c: O, d: O, e: O, f: O, g: O, h: O): Result = on(l, v, m)
  override def filter(
      l: Logger, v: Level, k: Marker, m: String,
      a: O, b: O, c: O, d: O, e: O, f: O, g: O, h: O, i: O): Result = on(l, v, m)
  override def filter(
      l: Logger, v: Level, k: Marker, m: String,
      a: O, b: O, c: O, d: O, e: O, f: O, g: O, h: O, i: O, j: O): Result = on(l, v, m)
}

/** The words we listen for; what they mean is in collectors/process/events/state_store.py. */
private object StateStoreFilter {
  val Package = "org.apache.spark.sql.execution.streaming.state."
  val RocksDb = "RocksDB "
  val InMemory = "HDFSBackedStateStoreProvider "
  val ShortestName: Int = Package.length + 60

  val EventLog = "EVENT_LOG_v1 "
  val NativeEvents = Array("\"event\": \"flush_", "\"event\": \"compaction_",
    "\"event\": \"table_file_creation\"")
  val TableProperties = ", \"table_properties\""
  val Closed = "Shutdown complete"

  val Committed = "Committed "
  val Stats = ", stats ="
  val WhereTo = " for HDFSStateStore["
  val RocksDbLines = Array("Flushing updates for ", "Rolling back ", "Upload snapshot of version ")
  val InMemoryLines = Array("Committed version ", "writeSnapshotFile() took ")
}
