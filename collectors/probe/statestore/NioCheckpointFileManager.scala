package io.curtail.probe

import java.io.{BufferedOutputStream, EOFException, FileNotFoundException, FileOutputStream}
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.{FileAlreadyExistsException, Files, NoSuchFileException, Path => NioPath}
import java.nio.file.StandardCopyOption.{ATOMIC_MOVE, REPLACE_EXISTING}
import java.nio.file.StandardOpenOption.READ
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{BufferedFSInputStream, FSDataInputStream, FSInputStream, FileStatus, Path, PathFilter, FileAlreadyExistsException => HadoopFileAlreadyExists}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream

import scala.jdk.CollectionConverters._
import scala.util.Using

/**
 * Checkpoint files on a local disk without a forked process per file.
 *
 * Hadoop's local file system runs `chmod` and `readlink` as processes, hundreds a second for a
 * stateful query, which then dominate what one measures. This one writes the same names and bytes,
 * so a checkpoint goes on under plain Spark and back: a file is synced, then renamed, then its
 * folder is synced. For `spark.sql.streaming.checkpointFileManagerClass`, on `file:` paths only.
 */
class NioCheckpointFileManager(path: Path, conf: Configuration)
    extends CheckpointFileManager {

  require(local(path).isAbsolute, s"$path is not an absolute path on this machine")

  override def createAtomic(path: Path, overwriteIfPossible: Boolean): CancellableFSDataOutputStream = {
    val target = local(path)
    Files.createDirectories(target.getParent)
    new RenamedOnClose(target, overwriteIfPossible)
  }

  override def open(path: Path): FSDataInputStream =
    try new FSDataInputStream(new BufferedFSInputStream(new NioInputStream(local(path)), 1 << 16))
    catch { case _: NoSuchFileException => throw new FileNotFoundException(path.toString) }

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    val folder = local(path)
    if (!Files.exists(folder)) throw new FileNotFoundException(path.toString)
    val found = if (Files.isDirectory(folder)) children(folder) else Seq(folder)
    found.filterNot(Checksums.is).flatMap(status(path, _)).filter(s => filter.accept(s.getPath)).toArray
  }

  override def mkdirs(path: Path): Unit = Files.createDirectories(local(path))

  override def exists(path: Path): Boolean = Files.exists(local(path))

  override def delete(path: Path): Unit = {
    val file = local(path)
    if (Files.isDirectory(file)) {
      Using.resource(Files.walk(file)) { walk =>
        walk.iterator.asScala.toSeq.reverse.foreach(Files.deleteIfExists)
      }
    } else {
      Files.deleteIfExists(Checksums.of(file))
      Files.deleteIfExists(file)
    }
  }

  override def isLocal: Boolean = true

  override def createCheckpointDirectory(): Path = {
    Files.createDirectories(local(path))
    new Path(local(path).toUri)
  }

  private def local(path: Path): NioPath = {
    val scheme = path.toUri.getScheme
    require(scheme == null || scheme == "file",
      s"NioCheckpointFileManager is for local disks, not for $path: " +
        "unset spark.sql.streaming.checkpointFileManagerClass")
    NioPath.of(path.toUri.getPath)
  }

  private def children(folder: NioPath): Seq[NioPath] =
    Using.resource(Files.list(folder))(_.iterator.asScala.toSeq)

  private def status(parent: Path, file: NioPath): Option[FileStatus] =
    try {
      val directory = Files.isDirectory(file)
      val name = if (file == local(parent)) parent else new Path(parent, file.getFileName.toString)
      Some(new FileStatus(
        if (directory) 0L else Files.size(file), directory, 1, 1 << 25,
        Files.getLastModifiedTime(file).toMillis, name))
    } catch { case _: NoSuchFileException => None } // deleted while we listed

}

/** Writes a temporary file, syncs it and renames it atomically; cancelling leaves nothing. */
private class RenamedOnClose(target: NioPath, overwrite: Boolean, part: SyncedOutputStream)
    extends CancellableFSDataOutputStream(part) {
  def this(target: NioPath, overwrite: Boolean) =
    this(target, overwrite, new SyncedOutputStream(
      target.resolveSibling(s".${target.getFileName}.${UUID.randomUUID()}.tmp")))

  private var open = true

  override def close(): Unit = if (open) {
    open = false
    try {
      super.close()
      part.close()
      // Plain Spark writes a checksum file beside each file; a stale one would fail a reader.
      Files.deleteIfExists(Checksums.of(target))
      publish()
      Using.resource(FileChannel.open(target.getParent, READ))(_.force(true))
    } finally Files.deleteIfExists(part.file)
  }

  override def cancel(): Unit = if (open) {
    open = false
    try part.close() finally Files.deleteIfExists(part.file)
  }

  private def publish(): Unit =
    if (overwrite) Files.move(part.file, target, ATOMIC_MOVE, REPLACE_EXISTING)
    else {
      // A hard link, unlike a rename, fails if the name exists: of two writers only one wins.
      try Files.createLink(target, part.file)
      catch {
        case _: FileAlreadyExistsException =>
          throw new HadoopFileAlreadyExists(s"$target already exists")
      }
    }
}

private object Checksums {
  def of(file: NioPath): NioPath = file.resolveSibling(s".${file.getFileName}.crc")
  def is(file: NioPath): Boolean = {
    val name = file.getFileName.toString
    name.startsWith(".") && name.endsWith(".crc")
  }
}

private class SyncedOutputStream(val file: NioPath)
    extends BufferedOutputStream(new FileOutputStream(file.toFile), 1 << 16) {
  private val target = out.asInstanceOf[FileOutputStream]
  private var open = true

  override def close(): Unit = if (open) {
    open = false
    try { flush(); target.getFD.sync() } finally target.close()
  }
}

private class NioInputStream(file: NioPath) extends FSInputStream {
  private val channel = FileChannel.open(file, READ)

  override def read(): Int = {
    val one = new Array[Byte](1)
    if (read(one, 0, 1) < 0) -1 else one(0) & 0xff
  }
  override def read(bytes: Array[Byte], offset: Int, length: Int): Int =
    if (length == 0) 0 else channel.read(ByteBuffer.wrap(bytes, offset, length))
  override def seek(position: Long): Unit = {
    if (position < 0 || position > channel.size) throw new EOFException(s"cannot seek to $position")
    channel.position(position)
  }
  override def getPos: Long = channel.position
  override def seekToNewSource(target: Long): Boolean = false
  override def available(): Int =
    math.min(Int.MaxValue.toLong, channel.size - channel.position).toInt
  override def close(): Unit = channel.close()
}
