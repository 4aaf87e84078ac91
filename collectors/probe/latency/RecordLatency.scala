package io.curtail.probe

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.{Expression, Nondeterministic, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, TimestampType}

/**
 * `curtail_record(event_time)`: the timestamp itself, its latency counted on the way.
 * Nondeterministic, so that Catalyst neither moves it across filters nor evaluates it twice.
 */
case class RecordLatency(child: Expression) extends UnaryExpression with Nondeterministic {
  @transient private var recorder: Recorder = _

  override def dataType: DataType = child.dataType
  override def prettyName: String = RecordLatency.Name

  override def checkInputDataTypes(): TypeCheckResult = child.dataType match {
    case TimestampType => TypeCheckResult.TypeCheckSuccess
    case other => TypeCheckResult.TypeCheckFailure(
      s"${RecordLatency.Name} takes a TIMESTAMP, not ${other.sql}")
  }

  override protected def initializeInternal(partitionIndex: Int): Unit =
    recorder = Recorder.forTask()

  override protected def evalInternal(input: InternalRow): Any = {
    val value = child.eval(input)
    if (value != null) recorder.record(value.asInstanceOf[Long])
    value
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val recorderClass = classOf[Recorder].getName
    val state = ctx.addMutableState(recorderClass, "latencyRecorder")
    ctx.addPartitionInitializationStatement(s"$state = $recorderClass.forTask();")
    val value = child.genCode(ctx)
    value.copy(code = code"""
      ${value.code}
      if (!${value.isNull}) { $state.record(${value.value}); }""")
  }

  override protected def withNewChildInternal(newChild: Expression): RecordLatency =
    copy(child = newChild)
}

object RecordLatency {
  val Name = "curtail_record"
}
