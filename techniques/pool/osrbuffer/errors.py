"""
RingError
├── NotARing    the file is none, or of another version
├── Taken       the ring has a living consumer in another process
└── WriterLost  a consumer took this living writer for dead
"""


class RingError(Exception):
    pass


class NotARing(RingError):
    pass


class Taken(RingError):
    pass


class WriterLost(RingError):
    pass
