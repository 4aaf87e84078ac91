package io.curtail.probe

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** JSON by Jackson, which Spark includes. */
private[probe] object Json {
  private val mapper = new ObjectMapper

  def read(bytes: Array[Byte]): JsonNode = mapper.readTree(bytes)
  def write(value: Any): Array[Byte] = mapper.writeValueAsBytes(value)
  def text(value: Any): String = mapper.writeValueAsString(value)
}
