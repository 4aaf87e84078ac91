"""A technique that switches Spark's speculation on: by the driver's lever for live options."""
