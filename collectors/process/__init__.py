"""The collector process, a child of the driver: assembles frames, ships them, takes orders."""
