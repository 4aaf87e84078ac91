package io.curtail.probe

import java.io.{File, FileNotFoundException}
import java.nio.file.Files

import org.apache.spark.{SparkConf, SparkContext, SparkFiles}

/**
 * Sends the probe's jar to the executors, from the driver that has loaded it (ADR 0011).
 *
 * Spark ends an executor that cannot load a class of `spark.plugins`. Options that name jars are
 * replaced by the user's own, so the driver relies on none: before the first executor asks for its
 * configuration, it adds the jar that this class came from to those that executors fetch first.
 */
private[probe] object ProbeJar {
  private val Plugins = "spark.plugins"
  // Read by executors before they load plugins; written by SparkContext for `spark.jars`.
  private val InitialJars = "spark.app.initial.jar.urls"

  @volatile private var sent = false

  /** False until the jar was announced: until then no task may contain our classes. */
  def reachesExecutors: Boolean = sent

  /** `conf` is the one that executors will be sent. Returns whether they can load the probe. */
  def send(sc: SparkContext, conf: SparkConf): Boolean = {
    forget()
    Guard.quietly("send its jar to the executors") {
      // Executors of a local master are this JVM, which has the probe.
      if (!sc.isLocal) announce(sc, conf)
      sent = true
    }
    if (!sent) withdraw(conf)
    sent
  }

  /** Resets the state, because the next application of this JVM may not have our plugin. */
  def forget(): Unit = sent = false

  private def announce(sc: SparkContext, conf: SparkConf): Unit = {
    val own = new File(getClass.getProtectionDomain.getCodeSource.getLocation.toURI)
    def urls: Seq[String] = sc.listJars().filter(_.endsWith("/" + own.getName))
    // The user may already have added it as a jar of the job.
    if (urls.isEmpty) sc.addJar(kept(own).getPath)
    if (urls.isEmpty) throw new FileNotFoundException(s"$own was not added")
    val initial = conf.get(InitialJars, "").split(',').filter(_.nonEmpty)
    conf.set(InitialJars, (initial ++ urls).distinct.mkString(","))
  }

  /** A copy for the application's lifetime: executors may join after the cache was emptied. */
  private def kept(own: File): File = {
    val copy = new File(SparkFiles.getRootDirectory(), own.getName)
    if (!own.isFile) throw new FileNotFoundException(s"$own is not a file")
    if (!copy.exists()) Files.copy(own.toPath, copy.toPath)
    copy
  }

  private def withdraw(conf: SparkConf): Unit = {
    val others = conf.get(Plugins, "").split(',').map(_.trim)
      .filterNot(name => name.isEmpty || name == classOf[Plugin].getName)
    conf.set(Plugins, others.mkString(","))
    Guard.say("this job runs unseen: its executors would not find the probe")
  }
}
