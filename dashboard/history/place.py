"""Where an archive is: a folder on a disk, in an object store or in HDFS."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

_REMOTE = ("s3", "hdfs")
# Spark's names for the schemes of S3; deltalake knows the last one only.
_S3 = ("s3a", "s3n", "s3")


class UnknownPlace(ValueError):
    """The uri names a kind of storage that the archive cannot be kept in."""


@dataclass(frozen=True)
class Place:
    """`uri` is a path, `file://`, `s3a://bucket/path` or `hdfs://host/path`.

    `options` are those of deltalake's storage: credentials, endpoint, region."""

    uri: str
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    def __post_init__(self) -> None:
        self.root  # noqa: B018 — an unknown place is told where it is configured, not at first use

    @cached_property
    def root(self) -> str:
        """The folder as deltalake wants it: an absolute path, `s3://…` or `hdfs://…`."""
        if not self.uri.strip():
            raise UnknownPlace("the archive's place is empty; give a path, s3a://… or hdfs://…")
        if "://" not in self.uri and not self.uri.startswith("file:"):
            return str(Path(self.uri).expanduser().absolute())
        parts = urlsplit(self.uri)
        if parts.scheme == "file":
            if parts.netloc not in ("", "localhost"):
                raise UnknownPlace(f"{self.uri}: file:// is followed by /path, not by a host")
            return str(Path(unquote(parts.path)).absolute())
        scheme = "s3" if parts.scheme in _S3 else parts.scheme
        if scheme not in _REMOTE:
            raise UnknownPlace(
                f"{self.uri}: the archive can be at a path, file://, s3a:// or hdfs://"
            )
        if not parts.netloc and scheme == "s3":
            raise UnknownPlace(f"{self.uri}: the bucket is missing")
        return f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}"

    @property
    def is_local(self) -> bool:
        return self.root.startswith("/")

    def table(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{name}"

    def filesystem(self) -> fs.FileSystem:
        """The archive's folder as a file system; paths in it are relative to the folder."""
        if self.is_local:
            return fs.SubTreeFileSystem(self.root, fs.LocalFileSystem())
        return fs.PyFileSystem(DeltaStorageHandler(self.root, dict(self.options)))
