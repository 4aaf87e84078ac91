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
    operators: Seq[String],
    instances: Seq[InstanceSample],
    sent: Seq[Sent],
    queries: Seq[String]) {

  /**
   * Divides a sample over windows that share one reading; returns the sample of each window but the
   * last, and that of the last. Busy time is divided; chunks and their latencies all go to the
   * last.
   */
  def over(windows: Long): (PoolSample, PoolSample) = {
    val shares = instances.map(_.busyUs / windows)
    val earlier = instances.zip(shares).map { case (each, share) =>
      InstanceSample(each.operator, each.state, each.queued, busyUs = share)
    }
    val last = instances.zip(shares).map { case (each, share) =>
      each.copy(busyUs = each.busyUs - share * (windows - 1))
    }
    (copy(instances = earlier, sent = Nil), copy(instances = last))
  }

  def write(out: Bytes, host: String): Unit = {
    out.text(name)
    out.text(host)
    Seq(policy.toLong, heldChunks, replaced, handedOutAgain).foreach(out.varint)
    out.varint(operators.size)
    operators.foreach(out.text)
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

private[probe] final case class InstanceSample(
    operator: Int,
    state: Int,
    queued: Long,
    executed: Long = 0,
    failed: Long = 0,
    rowsIn: Long = 0,
    rowsOut: Long = 0,
    busyUs: Long = 0,
    latency: Filled = PoolSample.NoRecords) {

  def write(out: Bytes): Unit = {
    out.varint(operator)
    out.byte(state)
    Seq(queued, executed, failed, rowsIn, rowsOut, busyUs).foreach(out.varint)
    out.histogram(latency)
  }
}

/** Chunks from the tasks (`source` 0) or from instance `source` − 1. */
private[probe] final case class Sent(source: Int, instance: Int, chunks: Long)

private[probe] object PoolSample {
  val NoRecords: Filled = Filled(Array.emptyIntArray, Array.emptyIntArray)
}
