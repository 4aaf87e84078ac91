package io.curtail.probe

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, LinkOption, Path}

import org.apache.spark.SparkConf

import scala.jdk.CollectionConverters._
import scala.util.Try

/** A pool that lives, and the folder of its files. */
private[probe] final case class PoolPlace(name: String, digest: String, where: Path)

/**
 * Finds the pools of this application on this host. techniques/pool/host/meeting_place.py makes the
 * folders; the same checks for safe folders are made here.
 */
private[probe] class PoolPlaces(
    application: () => Option[String],
    environment: String => Option[String]) {
  import PoolPlaces._

  private val user = uid()
  private val root = temporary(environment).resolve(s"curtail-pools-$user")
  private val space = Files.getAttribute(Path.of("/proc/self/ns/pid"), "unix:ino")

  /** The running pools. If there never was one, this only checks whether a folder exists. */
  def found(): Seq[PoolPlace] =
    if (!Files.exists(root) || !isOurs(root)) Nil
    else application().toSeq.flatMap { id =>
      val prefix = s"$space-$id-"
      val listed = Files.newDirectoryStream(
        root, (path: Path) => path.getFileName.toString.startsWith(prefix))
      try listed.iterator().asScala.flatMap(place(_, prefix)).take(MostPools).toList
      finally listed.close()
    }

  private def place(meeting: Path, prefix: String): Option[PoolPlace] =
    for {
      (name, digest) <- named(meeting.getFileName.toString.stripPrefix(prefix))
      where <- Try(current(meeting)).toOption.flatten
    } yield PoolPlace(name, digest, where)

  /** The folder of the pool that meets here, if its supervisor lives. */
  private def current(meeting: Path): Option[Path] = {
    val said = meeting.resolve("current")
    if (!isOurs(meeting) || Files.size(said) > MostBytes) return None
    Files.readString(said, UTF_8).trim match {
      case Current(where, pid, started) if lives(pid, started) => Some(Path.of(where)).filter(isOurs)
      case _ => None
    }
  }

  /** Whether the folder belongs to this user and no one else can access it. */
  private def isOurs(folder: Path): Boolean = {
    val status = Files.readAttributes(folder, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS)
    val mode = status.get("mode").asInstanceOf[Int]
    status.get("uid") == user && (mode & FileType) == Folder && (mode & Others) == 0
  }
}

private[probe] object PoolPlaces {
  private val MostPools = 32
  private val MostBytes = 8192L
  private val FileType = 0xf000
  private val Folder = 0x4000
  private val Others = 0x3f
  private val Current = """(?s)(.+)\s(\d{1,10})\s(\d{1,18})""".r
  // A name as techniques/pool/plan.py allows it, and the digest of what the pool is made of.
  private val Named = """([A-Za-z0-9][A-Za-z0-9_.-]{0,39})-([0-9a-f]{16})""".r

  /** Uses the application id as Python workers see it; in local mode it is set only later. */
  def of(conf: SparkConf): PoolPlaces =
    new PoolPlaces(
      () => conf.getOption("spark.app.id"),
      name => conf.getOption(s"spark.executorEnv.$name").orElse(Option(System.getenv(name))))

  def named(folder: String): Option[(String, String)] = folder match {
    case Named(name, digest) => Some((name, digest))
    case _ => None
  }

  /** The folder that Python's `tempfile` uses in the workers, which get this JVM's environment. */
  def temporary(environment: String => Option[String]): Path =
    (Seq("TMPDIR", "TEMP", "TMP").flatMap(environment(_)).filter(_.nonEmpty) ++
      Seq("/tmp", "/var/tmp", "/usr/tmp", "."))
      .map(Path.of(_).toAbsolutePath.normalize())
      .find(path => Files.isDirectory(path) && Files.isWritable(path) && Files.isExecutable(path))
      .getOrElse(Path.of("/tmp"))

  private def uid(): Int =
    Files.readAllLines(Path.of("/proc/self/status")).asScala
      .collectFirst { case line if line.startsWith("Uid:") => line.split("\\s+")(1).toInt }.get

  /** Checks like techniques/pool/host/identity.py: the pid may belong to another process by now. */
  private def lives(pid: String, started: String): Boolean = Try {
    val told = Files.readString(Path.of("/proc", pid, "stat"), UTF_8)
    val fields = told.substring(told.lastIndexOf(')') + 1).trim.split(' ')
    fields(19) == started && !("ZX".contains(fields(0)) && fields(17).toInt < 2)
  }.getOrElse(false)
}
