"""A technique that puts state partitions where its settings say: by the driver's lever for it."""
