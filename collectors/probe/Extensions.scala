package io.curtail.probe

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, Literal}

/**
 * The functions that `stamp` and `watch_keys` put into plans. Loaded by `spark.sql.extensions`.
 * Tasks on executors without the probe could not read an expression of ours: there, the functions
 * are what they leave unchanged.
 */
class Extensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    add(extensions, RecordLatency.Name, classOf[RecordLatency]) {
      case Seq(eventTime) if !ProbeJar.reachesExecutors => eventTime
      case Seq(eventTime) => RecordLatency(eventTime)
      case _ => throw new IllegalArgumentException(s"${RecordLatency.Name} takes one timestamp")
    }
    add(extensions, WatchKeys.Name, classOf[WatchKeys]) {
      case Seq() => throw new IllegalArgumentException(s"${WatchKeys.Name} takes the columns of a key")
      case _ if !ProbeJar.reachesExecutors => Literal(true)
      case keys => WatchKeys.of(keys)
    }
  }

  private def add(extensions: SparkSessionExtensions, name: String, of: Class[_])(
      build: Seq[Expression] => Expression): Unit =
    extensions.injectFunction((FunctionIdentifier(name), new ExpressionInfo(of.getName, name), build))
}
