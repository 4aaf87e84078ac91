package io.curtail.probe

/** The wish to have a state partition on an executor, and how far that is. Pure. */
private[probe] final case class Move(
    partition: Int, executorId: String, progress: Move.Progress = Move.Asked, words: Int = 0) {
  import Move._

  def isOpen: Boolean = progress == Asked

  /** Whether nothing more will come of it. */
  def isOver: Boolean = progress match {
    case There | Dropped | Failed(_) => true
    case Asked | Told(_) => false
  }

  def why: Option[String] = progress match {
    case Failed(why) => Some(why)
    case _ => None
  }

  /** Whether it is time to see where the partition is. The batch that ran when the coordinator was
   *  told may have had its tasks placed already; the one after it had not. */
  def isDue(completed: Long): Boolean = progress match {
    case Asked | There => true
    case Told(last) => completed >= last + 2
    case Dropped | Failed(_) => false
  }

  /** `at`: the executors of the partition's stores as the coordinator names them. */
  def seen(at: Set[String], isAlive: Boolean): Move =
    if (!isAlive) copy(progress = Dropped)
    else if (at.isEmpty) this
    else if (at == Set(executorId)) copy(progress = There)
    else if (words < MostWords) copy(progress = Asked)
    else copy(progress = Failed(
      s"Spark ran partition $partition on executor ${at.mkString(", ")} and not on $executorId, " +
        s"though it was told $words times"))

  def told(completed: Long): Move = copy(progress = Told(completed), words = words + 1)
}

private[probe] object Move {
  /** Whatever Spark does against a wish so often, it has a reason for. */
  val MostWords = 3

  sealed trait Progress
  /** The coordinator has to be told. */
  case object Asked extends Progress
  /** The coordinator was told when this batch was the last completed one. */
  final case class Told(completed: Long) extends Progress
  /** A batch ran there. */
  case object There extends Progress
  /** Its executor is gone, so Spark places the partition by itself. */
  case object Dropped extends Progress
  final case class Failed(why: String) extends Progress
}
