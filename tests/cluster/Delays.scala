package io.curtail.tests

import java.lang.{Long => JLong}
import java.nio.file.{Files, NoSuchFileException, Paths}
import java.util.concurrent.ThreadLocalRandom

import org.apache.spark.sql.api.java.UDF2

/** Sleeps for up to so many milliseconds, so that of two attempts either may be the quicker one. */
class Dawdle extends UDF2[JLong, JLong, JLong] {
  override def call(value: JLong, mostMs: JLong): JLong = {
    Thread.sleep(ThreadLocalRandom.current().nextLong(mostMs + 1))
    value
  }
}

/** Hangs until it is interrupted, once, on the host that the file names. */
class Hang extends UDF2[JLong, String, JLong] {
  override def call(value: JLong, file: String): JLong = {
    val path = Paths.get(file)
    if (Files.exists(path) && taken(path)) Thread.sleep(Long.MaxValue)
    value
  }

  /** Whoever deletes the file is the one that hangs. */
  private def taken(path: java.nio.file.Path): Boolean =
    try {
      val here = Files.readString(path) == System.getenv("CURTAIL_TEST_HOST")
      if (here) Files.delete(path)
      here
    } catch { case _: NoSuchFileException => false }
}
