package io.curtail.probe

/**
 * An operator pool in one window, and the queries that use it. Layout: collectors/formats/parts.py,
 * whose tests pin these bytes.
 */
private[probe] final case class PoolSample(
    name: String,
    policy: Int,
    heldChunks: Long,
    replaced: Long,
    handedOutAgain: Long,
    tasks: TaskCounts,
    inForce: InForce,
    operators: Seq[OperatorSample],
    instances: Seq[InstanceSample],
    sent: Seq[Sent],
    queries: Seq[String]) {

  /**
   * Divides a sample over windows that share one reading; returns the sample of each window but the
   * last, and that of the last. Levels are the same in all, busy time is divided; chunks and their
   * latencies all go to the last.
   */
  def over(windows: Long): (PoolSample, PoolSample) = {
    val shares = instances.map(_.busyUs / windows)
    val earlier = instances.zip(shares).map { case (each, share) =>
      InstanceSample(each.operator, each.state, each.levels, busyUs = share)
    }
    val last = instances.zip(shares).map { case (each, share) =>
      each.copy(busyUs = each.busyUs - share * (windows - 1))
    }
    (copy(tasks = TaskCounts(), instances = earlier, sent = Nil), copy(instances = last))
  }

  def write(out: Bytes, host: String): Unit = {
    out.text(name)
    out.text(host)
    Seq(policy.toLong, heldChunks, replaced, handedOutAgain).foreach(out.varint)
    tasks.all.foreach(out.varint)
    inForce.all.foreach(out.varint)
    out.varint(operators.size)
    operators.foreach { each =>
      out.text(each.name)
      out.varint(each.sharedQueued)
      out.varint(each.room)
    }
    out.varint(instances.size)
    instances.foreach(_.write(out))
    out.varint(sent.size)
    sent.foreach { each =>
      out.varint(each.source)
      out.varint(each.instance)
      out.varint(each.chunks)
    }
    out.varint(queries.size)
    queries.foreach(out.text)
  }
}

/** What tasks did with chunks in a window. */
private[probe] final case class TaskCounts(
    sent: Long = 0, replayed: Long = 0, replaysWon: Long = 0, resultsDropped: Long = 0) {
  def all: Seq[Long] = Seq(sent, replayed, replaysWon, resultsDropped)
}

/** The timeout that the pool computed (0 = none), and two of the settings that steer it. */
private[probe] final case class InForce(timeoutUs: Long = 0, replay: Long = 0, tauMs: Long = 0) {
  def all: Seq[Long] = Seq(timeoutUs, replay, tauMs)
}

/** An operator of the chain, chunks in the queue that its instances share, how many it may have. */
private[probe] final case class OperatorSample(
    name: String, sharedQueued: Long = 0, room: Long = 0)

/** An instance at the window's end: chunks in its ring and in its outgoing queue, weight, signal. */
private[probe] final case class InstanceLevels(
    queued: Long = 0, parked: Long = 0, weight: Long = 0, signal: Long = 0) {
  def all: Seq[Long] = Seq(queued, parked, weight, signal)
}

private[probe] final case class InstanceSample(
    operator: Int,
    state: Int,
    levels: InstanceLevels = InstanceLevels(),
    executed: Long = 0,
    failed: Long = 0,
    rowsIn: Long = 0,
    rowsOut: Long = 0,
    busyUs: Long = 0,
    dropped: Long = 0,
    latency: Filled = PoolSample.NoRecords) {

  def write(out: Bytes): Unit = {
    out.varint(operator)
    out.byte(state)
    Seq(levels.queued, executed, failed, rowsIn, rowsOut, busyUs).foreach(out.varint)
    Seq(levels.parked, levels.weight, levels.signal, dropped).foreach(out.varint)
    out.histogram(latency)
  }
}

/** Chunks from the tasks (`source` 0) or from instance `source` − 1. */
private[probe] final case class Sent(source: Int, instance: Int, chunks: Long)

private[probe] object PoolSample {
  val NoRecords: Filled = Filled(Array.emptyIntArray, Array.emptyIntArray)
}
