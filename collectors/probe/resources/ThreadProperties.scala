package org.apache.spark.curtail

import java.util.Properties

import org.apache.spark.SparkContext

/**
 * The local properties of another thread, which go with every job that it submits. They are in a
 * table of that thread; Spark opens `java.lang` to itself, so they can be found there. In this
 * package because the key of the table is private to Spark.
 */
object ThreadProperties {
  val Pool: String = SparkContext.SPARK_SCHEDULER_POOL

  /** None if the thread has none yet. */
  def of(sc: SparkContext, thread: Thread): Option[Properties] =
    Option(Table.get(thread)).flatMap { table =>
      val find = table.getClass.getDeclaredMethod("getEntry", classOf[ThreadLocal[_]])
      find.setAccessible(true)
      Option(find.invoke(table, sc.localProperties)).flatMap { entry =>
        val value = entry.getClass.getDeclaredField("value")
        value.setAccessible(true)
        Option(value.get(entry).asInstanceOf[Properties])
      }
    }

  private lazy val Table = {
    val found = classOf[Thread].getDeclaredField("inheritableThreadLocals")
    found.setAccessible(true)
    found
  }
}
