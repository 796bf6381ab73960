"""Where files lie: a folder of this machine, or any place that fsspec has an address for."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.errors import OutputError, ParameterError, needs_extra
from podium.support.part_files import part_file


def is_url(uri: Any) -> bool:
    """Whether it is an address such as `s3://bucket/results` rather than a path of this machine."""
    return isinstance(uri, str) and "://" in uri


@dataclass(frozen=True, slots=True)
class Storage:
    """A folder by its path or address; it travels to other processes as that text."""

    uri: str

    def read(self, path: str) -> bytes:
        """The content of a file.

        Args:
            path: below the folder, its parts between slashes.

        Raises:
            OSError: there is none, or it cannot be read.
            MissingExtraError: fsspec is not installed.
            ParameterError: fsspec does not know the kind of address, or needs a library for it.
        """
        if not is_url(self.uri):
            return (Path(self.uri) / path).read_bytes()
        system, root = self._remote()
        content: bytes = system.cat_file(f"{root}/{path}")
        return content

    def write(self, path: str, content: bytes) -> None:
        """Write a file, whole or not at all; one that is there is replaced.

        Raises:
            OutputError: it cannot be written.
        """
        if not is_url(self.uri):
            target = Path(self.uri) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with part_file(target, OutputError) as part:
                part.write_bytes(content)
            return
        system, root = self._remote()
        target_path = f"{root}/{path}"
        try:
            system.makedirs(target_path.rsplit("/", 1)[0], exist_ok=True)
            system.pipe_file(target_path, content)
        except OSError as error:
            raise OutputError(f"{self.uri}/{path}: cannot be written ({error})") from error

    def files(self) -> Iterator[str]:
        """The paths of all files below, in order; none where there is no such folder."""
        if not is_url(self.uri):
            top = Path(self.uri)
            yield from sorted(each.relative_to(top).as_posix() for each in top.rglob("*") if each.is_file())
            return
        system, root = self._remote()
        found = system.find(root) if system.exists(root) else []
        yield from sorted(each.removeprefix(root).lstrip("/") for each in found)

    def remove(self) -> None:
        """Remove the folder and all that is in it, if it is there."""
        if not is_url(self.uri):
            shutil.rmtree(self.uri, ignore_errors=True)
            return
        system, root = self._remote()
        if system.exists(root):
            system.rm(root, recursive=True)

    def below(self, path: str) -> str:
        """The path or address of what lies below."""
        return f"{self.uri}/{path}" if is_url(self.uri) else os.fspath(Path(self.uri) / path)

    def _remote(self) -> tuple[Any, str]:
        """The file system of the address, which fsspec keeps, and the path there."""
        with needs_extra("remote", f"reading and writing {self.uri}"):
            import fsspec  # noqa: PLC0415  (an extra)
        try:
            system, root = fsspec.core.url_to_fs(self.uri)
        except (ImportError, ValueError) as error:  # the library of its kind is missing, or there is no such kind
            raise ParameterError(f"{self.uri}: {error}") from None
        return system, str(root).rstrip("/")


def storage_at(uri: str | Path) -> Storage:
    """The folder at a path or address."""
    return Storage(uri.rstrip("/") if isinstance(uri, str) and is_url(uri) else os.path.abspath(uri))  # noqa: PTH100
