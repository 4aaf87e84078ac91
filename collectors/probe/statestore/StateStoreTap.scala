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
 * Reads the state stores' log lines on flushes, compactions, commits and snapshots before the
 * user's log levels filter them; the log that the user sees stays the same. docs/state-store.md
 * explains how.
 */
private[probe] class StateStoreTap extends MetricSource {
  private val filter = new StateStoreFilter
  private var removed = false

  /** Installs the filter; throws (then there is no tap) if logging is not a known log4j 2. */
  def install(): StateStoreTap = synchronized {
    val current = configuration()
    if (!removed && !present(current.getFilter)) current.addFilter(filter)
    this
  }

  /** Removes the filter for good; a later Spark session of this JVM installs its own. */
  def remove(): Unit = synchronized {
    removed = true
    configuration().removeFilter(filter)
  }

  /** Measures nothing: reinstalls the filter every window, as reconfiguring log4j removes it. */
  override def sample(): Seq[Metric] = { install(); Nil }

  private def present(found: Filter): Boolean = found match {
    case several: CompositeFilter => several.getFiltersArray.exists(_ eq filter)
    case one => one eq filter
  }

  /** The configuration of Spark's own loggers: log4j keeps one context per class loader. */
  private def configuration(): Configuration =
    LogManager.getContext(classOf[SparkEnv].getClassLoader, false) match {
      case context: LoggerContext => context.getConfiguration
      case other => throw new UnsupportedOperationException(s"the log is ${other.getClass.getName}")
    }
}

/** Called for every log call of the JVM: for other loggers it must cost next to nothing. */
private[probe] class StateStoreFilter extends AbstractFilter {
  import StateStoreFilter._

  /** The level that this thread just asked about, without logging at it since. */
  private val lastAsked = new ThreadLocal[Level]

  private def on(logger: Logger, level: Level, line: AnyRef): Result = {
    val name = logger.getName
    // Loggers of stores have long names with a whole id, so most other calls end here.
    if (name.length < ShortestName) Result.NEUTRAL
    else if (is(name, RocksDb)) {
      if (line == null) askedByRocksDb(level) else read(saidByRocksDb(level, name, line))
    } else if (is(name, InMemory)) {
      if (line == null) accept(level) else read(saidInMemory(name, line))
    } else Result.NEUTRAL
  }

  /** Compares the class first: all names that come this far have the same package. */
  private def is(name: String, of: String): Boolean =
    name.startsWith(of, Package.length) && name.startsWith(Package)

  /** Reads a line; whether it is shown is still decided by the user's log levels. */
  private def read(line: => Unit): Result = {
    try line
    catch { case NonFatal(_) => }
    Result.NEUTRAL
  }

  /** Answers yes to `isInfoEnabled` and `isDebugEnabled`, so that the line is made for us. */
  private def accept(level: Level): Result =
    if ((level eq Level.INFO) || (level eq Level.DEBUG)) Result.ACCEPT else Result.NEUTRAL

  /**
   * When Spark opens a database it asks for WARN, INFO and DEBUG in a row and sets RocksDB's own
   * log level to the last one with a yes. We need INFO; DEBUG is left to the user's configuration.
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
      // Cut off a new file's table properties: a kilobyte that is not used.
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

  // All overloads that log4j may call; those with parameters are spelt out because the inherited
  // ones allocate an array for every call of every logger.
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

/** The phrases to look for; collectors/process/events/state_store.py interprets them. */
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
