package io.curtail.examples

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.hadoop.fs.{LocalFileSystem, Path}

/**
 * A local disk that takes the files of state stores no faster than a cloud's does.
 *
 * Spark uploads what a checkpoint has new from its local RocksDB to the checkpoint's folder. On one
 * machine that is a copy within the page cache; where jobs run it goes over a network to a volume
 * or an object store of so many megabytes a second, one after another. For `fs.file.impl`.
 */
class CloudDisk extends LocalFileSystem {
  override def copyFromLocalFile(delete: Boolean, from: Path, to: Path): Unit = {
    val taken = pathToFile(from).length
    super.copyFromLocalFile(delete, from, to)
    CloudDisk.take(taken, getConf.getDouble(CloudDisk.Rate, 125))
  }
}

object CloudDisk {
  val Rate = "curtail.example.disk-mb-s"

  private var freeAt = System.nanoTime

  private def take(bytes: Long, megabytesPerSecond: Double): Unit = {
    val until = synchronized {
      freeAt = math.max(freeAt, System.nanoTime) + (bytes * 1e3 / megabytesPerSecond).toLong
      freeAt
    }
    NANOSECONDS.sleep(until - System.nanoTime)
  }
}
