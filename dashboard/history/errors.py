"""What goes wrong with an archive, as its users have to tell it apart.

ArchiveError
├── Overtaken              another archiver committed first: ask for the marks again
└── ArchiveUnavailable     cannot be read or written now: try later, tell somebody
"""


class ArchiveError(Exception):
    pass


class Overtaken(ArchiveError):
    """Another archiver committed these streams first. Nothing of the table it names was written."""


class ArchiveUnavailable(ArchiveError):
    """The archive cannot be read or written now (disk full, no rights, network); says why."""
