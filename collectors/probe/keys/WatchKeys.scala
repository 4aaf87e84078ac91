package io.curtail.probe

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Cast, Coalesce, ConcatWs, Expression, Literal, NamedExpression, Nondeterministic}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral, TrueLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types.{BooleanType, DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * `curtail_watch_keys(column, …)`: always true, the keys counted on the way. A condition, and not a
 * column as `curtail_record` is, so that no column changes and nobody can drop it. Nondeterministic,
 * so that Catalyst neither moves it across other filters nor finds that it changes nothing.
 *
 * `left` is the hash by which Spark's shuffle picks the partition, `right` the key as text. Both are
 * evaluated only for rows that are counted.
 */
case class WatchKeys(columns: String, left: Expression, right: Expression)
    extends BinaryExpression with Nondeterministic {
  @transient private var watch: KeyWatch = _

  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def prettyName: String = WatchKeys.Name

  override protected def initializeInternal(partitionIndex: Int): Unit =
    watch = KeyWatch.forTask(columns)

  override protected def evalInternal(input: InternalRow): Any = {
    if (watch.isDue()) {
      val hash = left.eval(input).asInstanceOf[Int]
      if (watch.count(hash)) watch.name(hash, right.eval(input).asInstanceOf[UTF8String])
    }
    true
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val watchClass = classOf[KeyWatch].getName
    val state = ctx.addMutableState(watchClass, "keyWatch")
    val named = ctx.addReferenceObj("watchedColumns", columns)
    ctx.addPartitionInitializationStatement(s"$state = $watchClass.forTask($named);")
    val hash = left.genCode(ctx)
    val text = right.genCode(ctx)
    ExprCode(code"""
      if ($state.isDue()) {
        ${hash.code}
        if ($state.count(${hash.value})) {
          ${text.code}
          $state.name(${hash.value}, ${text.value});
        }
      }""", FalseLiteral, TrueLiteral)
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression, newRight: Expression): WatchKeys = copy(left = newLeft, right = newRight)
}

object WatchKeys {
  val Name = "curtail_watch_keys"
  private val LongestName = 200

  def of(keys: Seq[Expression]): Expression = {
    val names = keys.map { case named: NamedExpression => named.name; case other => other.sql }
    // The very hash that a shuffle takes the remainder of, whatever it is in this version of Spark.
    val hash = HashPartitioning(keys, 1).partitionIdExpression.children.head
    val texts = keys.map(key => Coalesce(Seq(Cast(key, StringType), Literal("null"))))
    val text = if (texts.size == 1) texts.head else ConcatWs(Literal(", ") +: texts)
    WatchKeys(names.mkString(", ").take(LongestName), hash, text)
  }
}
