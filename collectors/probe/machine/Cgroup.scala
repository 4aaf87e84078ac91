package io.curtail.probe

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

/** Finds the folder in which the kernel counts for this process's control group. */
private[probe] class Cgroup(
    self: Path = Path.of("/proc/self/cgroup"),
    mounts: Path = Path.of("/proc/self/mountinfo")) {

  /** None at the root group, which counts the whole host and not a container. */
  def v2: Option[Path] =
    folder("", "cgroup2", _ => true).filter(found => Files.exists(found.resolve("cgroup.type")))

  def v1(controller: String): Option[Path] =
    folder(controller, "cgroup", _.split(',').contains(controller))
      .filterNot(found => Files.exists(found.resolve("cgroup.sane_behavior")))

  private def folder(controller: String, kind: String, serves: String => Boolean): Option[Path] =
    for {
      group <- groups.collectFirst {
        case Array(_, names, path) if names.split(',').contains(controller) => path
      }
      (root, point) <- mounted(kind, serves)
      found <- Some(Path.of(point + below(root, group))).filter(Files.isDirectory(_))
    } yield found

  /** In a container the mount may begin at the container's own group. */
  private def below(root: String, group: String): String =
    if (root == "/") group else group.stripPrefix(root)

  /** 4:cpu,cpuacct:/some/group */
  private def groups: Seq[Array[String]] = lines(self).map(_.split(":", 3)).filter(_.length == 3)

  /** 33 31 0:30 /root /mount/point rw,relatime … - cgroup cgroup rw,cpuacct */
  private def mounted(kind: String, serves: String => Boolean): Option[(String, String)] =
    lines(mounts).map(_.split(' ')).collectFirst {
      case words if isOf(words, kind) && serves(words.last) => (words(3), words(4))
    }

  private def isOf(words: Array[String], kind: String): Boolean = {
    val dash = words.indexOf("-")
    dash > 4 && words.length > dash + 1 && words(dash + 1) == kind
  }

  private def lines(path: Path): Seq[String] = Files.readAllLines(path).asScala.toSeq
}
