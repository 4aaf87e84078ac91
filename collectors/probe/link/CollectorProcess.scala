package io.curtail.probe

import java.io.{BufferedOutputStream, DataOutputStream, File, IOException}
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, TimeUnit}
import java.util.concurrent.locks.LockSupport

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.SparkContext

import org.slf4j.LoggerFactory

import scala.jdk.CollectionConverters._

private[probe] case class CollectorSettings(
    python: String,
    pythonPath: String,
    redisUrl: String,
    techniques: Option[String],
    hello: Map[String, String])

private[probe] object CollectorSettings {
  def from(sc: SparkContext, applicationId: String): CollectorSettings = {
    val conf = sc.getConf
    CollectorSettings(
      python = conf.get("spark.curtail.python", conf.get("spark.pyspark.python", "python3")),
      pythonPath = conf.get("spark.curtail.pythonPath", ""),
      // "secret" in the name makes Spark's UI and event log hide a password in the address.
      redisUrl = conf.get("spark.curtail.redis.secretUrl", "redis://127.0.0.1:6379/0"),
      techniques = conf.getOption("spark.curtail.techniques"),
      hello = Map(
        "job" -> conf.get("spark.curtail.job", sc.appName),
        "application_id" -> applicationId,
        "spark_version" -> sc.version,
        "driver_host" -> conf.get("spark.driver.host", "")))
  }
}

/**
 * The Python collector, a child process of the driver that reads messages on its standard input:
 * four bytes of length, one of kind, the payload. It ends when this JVM ends, because its input
 * does. If it stalls, messages are dropped oldest first and counted; if it dies it is started again.
 */
object CollectorProcess {
  private case class Message(kind: Int, payload: Array[Byte])

  private val DeliveryMs = 2 * Clock.WindowMs
  private val OnTheWayMs = 12L
  private val log = LoggerFactory.getLogger("io.curtail.probe")
  private val json = new ObjectMapper
  // Parts are small, but a progress event of many state partitions is not.
  private val queue =
    new DroppingQueue[Message](capacity = 4096, maxBytes = 32L << 20, _.payload.length)
  private val started = new ConcurrentHashMap[String, Message]
  // Few, and never dropped: a lost start would hide a job, a lost end would leave it running.
  private val startsAndEnds = new ConcurrentLinkedQueue[Message]
  @volatile private var running = false
  @volatile private var process: Option[Process] = None
  @volatile private var thread: Thread = _

  def offer(kind: Int, payload: Array[Byte]): Unit =
    if (running) queue.offer(Message(kind, payload))

  /** Sends immediately instead of with the next delivery, because others wait for a batch's end. */
  def offerNow(kind: Int, payload: Array[Byte]): Unit = {
    offer(kind, payload)
    LockSupport.unpark(thread)
  }

  /** Sends a query's start and keeps it: a restarted collector must hear of running queries. */
  def queryStarted(runId: String, payload: Array[Byte]): Unit = {
    val message = Message(MessageKind.QueryStarted, payload)
    started.put(runId, message)
    if (running) startsAndEnds.add(message)
  }

  def queryTerminated(runId: String, payload: Array[Byte]): Unit = {
    started.remove(runId)
    if (running) startsAndEnds.add(Message(MessageKind.QueryTerminated, payload))
  }

  /** The collector's process id, for tests and operators; -1 while there is none. */
  def pid: Long = process.filter(_.isAlive).map(_.pid()).getOrElse(-1L)

  private[probe] def start(settings: CollectorSettings): Unit = synchronized {
    if (!running) {
      running = true
      thread = new Thread(() => supervise(settings), "curtail-collector")
      thread.setDaemon(true)
      thread.start()
    }
  }

  private[probe] def stop(): Unit = synchronized {
    running = false
    if (thread != null) thread.join(3000)
  }

  private def supervise(settings: CollectorSettings): Unit = {
    var pauseMs = 250L
    while (running) {
      Guard.quietly("run the collector") {
        val startedAtNs = System.nanoTime()
        feed(launch(settings), settings)
        if (System.nanoTime() - startedAtNs > 60L * 1000000000L) pauseMs = 250L
      }
      if (running) {
        log.warn(s"curtail: the collector ended; starting it again in $pauseMs ms")
        Thread.sleep(pauseMs)
        pauseMs = math.min(30000L, pauseMs * 2)
      }
    }
  }

  private def launch(settings: CollectorSettings): Process = {
    val builder = new ProcessBuilder(settings.python, "-m", "collectors.process.main")
    builder.redirectError(ProcessBuilder.Redirect.INHERIT)
    val environment = builder.environment()
    environment.put("CURTAIL_REDIS_URL", settings.redisUrl)
    settings.techniques.foreach(environment.put("CURTAIL_TECHNIQUES", _))
    val path = Seq(settings.pythonPath, environment.getOrDefault("PYTHONPATH", ""))
    environment.put("PYTHONPATH", path.filter(_.nonEmpty).mkString(File.pathSeparator))
    builder.start()
  }

  /** Writes messages until the collector or this application ends. */
  private def feed(child: Process, settings: CollectorSettings): Unit = {
    process = Some(child)
    val listener = new Thread(() => Control.listen(child.getInputStream), "curtail-orders")
    listener.setDaemon(true)
    listener.start()
    val out = new DataOutputStream(new BufferedOutputStream(child.getOutputStream, 1 << 16))
    var lossTold = 0L
    try {
      write(out, Message(MessageKind.Hello, json.writeValueAsBytes(settings.hello.asJava)))
      started.values.asScala.foreach(write(out, _))
      out.flush()
      while (running && child.isAlive) {
        sleepUntilDelivery()
        // Starts and ends go before the queue: a query's first part must not precede its start.
        writeAll(out, Option(startsAndEnds.poll()))
        writeAll(out, queue.poll(0))
        if (queue.dropped != lossTold) {
          lossTold = queue.dropped
          write(out, Message(MessageKind.LinkLoss, lossTold.toString.getBytes))
        }
        out.flush()
      }
      writeAll(out, Option(startsAndEnds.poll()))
      writeAll(out, queue.poll(0))
    } catch { case _: IOException => () } // the collector died; supervise logs that
    finally {
      try out.close() catch { case _: IOException => () }
      if (!child.waitFor(2, TimeUnit.SECONDS)) child.destroyForcibly()
    }
  }

  /**
   * Waking the collector costs more than its work, so it is woken only when it has to close windows
   * (collectors/process/pace.py) and gets all messages then. That is early enough for all of them,
   * and leaves a few milliseconds for the part of the window that just ended.
   */
  private def sleepUntilDelivery(): Unit =
    LockSupport.parkNanos((DeliveryMs - (Clock.nowMs() - OnTheWayMs) % DeliveryMs) * 1000000L)

  private def writeAll(out: DataOutputStream, next: => Option[Message]): Unit =
    Iterator.continually(next).takeWhile(_.isDefined).flatten.foreach(write(out, _))

  private def write(out: DataOutputStream, message: Message): Unit = {
    out.writeInt(message.payload.length)
    out.writeByte(message.kind)
    out.write(message.payload)
  }
}
