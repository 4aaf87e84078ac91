package io.curtail.examples

import java.util.concurrent.TimeUnit.NANOSECONDS

import io.curtail.probe.NioCheckpointFileManager
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{LocalFileSystem, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream

/**
 * A local disk that takes the files of state stores no faster than a cloud's does.
 *
 * Spark uploads what a checkpoint has new from its local RocksDB to the checkpoint's folder. On one
 * machine that is a copy within the page cache; where jobs run it goes over a network to a volume
 * or an object store of so many megabytes a second, one after another. For `fs.file.impl`, together
 * with [[CloudCheckpoints]]: Spark writes snapshots through the one and changelogs through the
 * other, and both share the rate.
 */
class CloudDisk extends LocalFileSystem {
  override def copyFromLocalFile(delete: Boolean, from: Path, to: Path): Unit = {
    val taken = pathToFile(from).length
    super.copyFromLocalFile(delete, from, to)
    CloudDisk.take(taken, getConf)
  }
}

/**
 * The files that Spark writes as streams, on the same disk: changelogs, the lists of a snapshot's
 * files, and the logs of a query. For `spark.sql.streaming.checkpointFileManagerClass`.
 */
class CloudCheckpoints(path: Path, conf: Configuration) extends NioCheckpointFileManager(path, conf) {
  override def createAtomic(
      path: Path, overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    new UploadedOnClose(super.createAtomic(path, overwriteIfPossible), conf)
}

/** As an object store takes it: the bytes go when the file is closed; cancelled, none do. */
private class UploadedOnClose(file: CancellableFSDataOutputStream, conf: Configuration)
    extends CancellableFSDataOutputStream(file) {
  private var open = true

  override def close(): Unit = if (open) {
    open = false
    CloudDisk.take(getPos, conf)
    super.close() // which gives the file its name
  }

  override def cancel(): Unit = if (open) {
    open = false
    file.cancel()
  }
}

object CloudDisk {
  val Rate = "curtail.example.disk-mb-s"

  private var freeAt = System.nanoTime

  private[examples] def take(bytes: Long, conf: Configuration): Unit = {
    val megabytesPerSecond = conf.getDouble(Rate, 125)
    val until = synchronized {
      freeAt = math.max(freeAt, System.nanoTime) + (bytes * 1e3 / megabytesPerSecond).toLong
      freeAt
    }
    NANOSECONDS.sleep(until - System.nanoTime)
  }
}
