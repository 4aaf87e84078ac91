package io.curtail.probe

import org.apache.spark.scheduler.curtail.Attempt

/** Which tasks get a copy, and for what reasons, which the operator reads, a stage's get none. */
private[probe] object CopyChoice {
  val Together = "its tasks start and fail together"
  val Sink = "its tasks write to the sink, and the order leaves those out"
  val State = "its tasks write state that copies could overwrite: Spark gives each attempt files " +
    "of its own only with spark.sql.streaming.stateStore.checkpointFormatVersion=2"

  /** What is known of a stage: its kind and what its tasks do besides computing. */
  final case class Traits(
      kind: Int, together: Boolean, sink: Boolean, state: Boolean, uniqueState: Boolean)

  def leftOut(plan: CopyPlan, stage: Traits): Option[String] =
    if (stage.together) Some(Together)
    else if (stage.sink && !plan.sink) Some(Sink)
    else if (stage.state && !stage.uniqueState) Some(State)
    else None

  /** The attempts of one stage that are due for a copy. Time is an argument. */
  def late(plan: CopyPlan, stage: Traits, running: Seq[Attempt], nowMs: Long): Seq[Attempt] =
    plan.timeoutsMs.get(stage.kind) match {
      case Some(timeoutMs) if leftOut(plan, stage).isEmpty =>
        // The oldest first: where the budget ends, it helped those that wait longest.
        running.filter(each => each.alone && nowMs - each.launchMs > timeoutMs).sortBy(_.launchMs)
      case _ => Nil
    }
}
