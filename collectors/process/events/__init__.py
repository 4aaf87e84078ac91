"""What Spark, RocksDB and the JVMs said, read as intervals and counts."""
