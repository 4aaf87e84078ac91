"""ShadowSync desynchronisation (Zhang et al., Middleware '22) on Spark's RocksDB state stores."""
