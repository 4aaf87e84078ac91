package io.curtail.probe

import org.slf4j.LoggerFactory

import scala.util.control.NonFatal

/** The boundary to the user's job: our own errors are logged and go no further. */
private[probe] object Guard {
  private val log = LoggerFactory.getLogger("io.curtail.probe")

  def quietly(what: String)(body: => Unit): Unit =
    try body
    catch {
      // A probe built for another Spark version gives a LinkageError: catch that as well.
      case error @ (NonFatal(_) | _: LinkageError) =>
        log.warn(s"curtail could not $what; the job goes on without it: $error")
    }

  def say(what: String): Unit = log.warn(s"curtail: $what")

  /** For code that runs many times a second: logs the first error, only counts the rest. */
  class Often(what: String) {
    private var count = 0L

    def faults: Long = count

    def quietly(body: => Unit): Unit =
      try body
      catch {
        case error @ (NonFatal(_) | _: LinkageError) =>
          count += 1
          if (count == 1) Guard.quietly(what) { throw error }
      }
  }
}
