package io.curtail.probe

import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Path, StandardOpenOption}

/**
 * A file of /proc or /sys: opened once, read again for every sample, and parsed without allocation.
 * With `head`, only that many bytes at its start are read, in one read; otherwise the whole file is
 * read, however many reads that takes.
 */
private[probe] class KernelFile(path: Path, head: Int = 0) {
  private val channel = FileChannel.open(path, StandardOpenOption.READ)
  private var buffer = ByteBuffer.allocateDirect(if (head > 0) head else 4096)
  // Parsed as an array: faster than the buffer, above all before the JIT has compiled this.
  private var bytes = new Array[Byte](buffer.capacity())
  private var end = 0
  private var at = 0

  /** Reads the file again; returns False if there is nothing to read. */
  def read(): Boolean = {
    buffer.clear()
    if (head > 0) readOn()
    // The kernel hands out a list page by page, so one read may not be all.
    else while (readOn()) if (!buffer.hasRemaining) grow()
    buffer.flip()
    end = buffer.limit()
    at = 0
    buffer.get(bytes, 0, end)
    end > 0
  }

  /** Moves behind the next `text`; returns whether there is one. */
  def skipPast(text: String): Boolean = {
    while (at <= end - text.length) {
      if (isAt(text)) { at += text.length; return true }
      at += 1
    }
    at = end
    false
  }

  def skipLine(): Boolean = {
    while (at < end && bytes(at) != '\n') at += 1
    at += 1
    at < end
  }

  /** The next number of this line; -1 if there is none. */
  def number(): Long = {
    skipSpaces()
    var value = -1L
    while (at < end && bytes(at) >= '0' && bytes(at) <= '9') {
      value = math.max(value, 0) * 10 + (bytes(at) - '0')
      at += 1
    }
    value
  }

  def skipNumbers(many: Int): Unit = {
    var left = many
    while (left > 0) { number(); left -= 1 }
  }

  /** The next word of this line, up to a space or a colon. */
  def word(): String = {
    skipSpaces()
    val start = at
    while (at < end && bytes(at) > ' ' && bytes(at) != ':') at += 1
    val found = new String(bytes, start, at - start, US_ASCII)
    if (at < end && bytes(at) == ':') at += 1
    found
  }

  private def skipSpaces(): Unit = while (at < end && bytes(at) == ' ') at += 1

  private def isAt(text: String): Boolean = {
    var same = 0
    while (same < text.length && bytes(at + same) == text.charAt(same)) same += 1
    same == text.length
  }

  private def readOn(): Boolean =
    buffer.hasRemaining &&
      (try channel.read(buffer, buffer.position()) > 0
       catch { case _: java.io.IOException => false })

  private def grow(): Unit = {
    buffer.flip()
    buffer = ByteBuffer.allocateDirect(2 * buffer.capacity()).put(buffer)
    bytes = new Array[Byte](buffer.capacity())
  }
}
