package io.curtail.probe

import org.slf4j.LoggerFactory

import scala.util.control.NonFatal

/** The boundary to the user's job: what goes wrong on our side is said and stays here. */
private[probe] object Guard {
  private val log = LoggerFactory.getLogger("io.curtail.probe")

  def quietly(what: String)(body: => Unit): Unit =
    try body
    catch {
      // A probe built for another Spark version shows as LinkageError: also ours to swallow.
      case error @ (NonFatal(_) | _: LinkageError) =>
        log.warn(s"curtail could not $what; the job goes on without it: $error")
    }

  def say(what: String): Unit = log.warn(s"curtail: $what")

  /** For what is done many times a second: the first fault is said, the rest are only counted. */
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
