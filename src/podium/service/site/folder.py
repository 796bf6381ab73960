"""The files of a site in a folder: only those that changed are written, and no others are touched."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from podium.errors import PodiumError
from podium.service.site.links import linked_file
from podium.service.site.pages import Extent, public_pages
from podium.service.site.sources import Received, Source
from podium.service.web.rendering import FILES, STATIC_ADDRESS, templates_digest
from podium.support.part_files import part_file

MANIFEST = "podium-site.json"
LOADED = "podium.css", "filter.js", "mark.svg"  # by the pages
UNFINISHED = ".podium-site-"  # begins the name of the folder in which changed files wait for all the others


class SiteError(PodiumError):
    """A site cannot be written."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the files of a site."""

    files: int = 0
    changed: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of a site, and what they were made of."""

    made_of: str = ""  # a digest of all that the pages depend on; empty while they are moved
    files: Mapping[str, str] = field(default_factory=dict)  # a digest of each
    received: Received = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """The manifest of a folder; an empty one where nothing was written.

        Raises:
            SiteError: it is none.
        """
        path = folder / MANIFEST
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else cls()
        except (OSError, ValueError, TypeError) as error:
            raise SiteError(f"{path}: is no list of a site's files ({error}); write the site to a new folder") from None

    def write(self, folder: Path) -> None:
        with part_file(folder / MANIFEST, SiteError) as part:
            part.write_text(json.dumps(asdict(self), indent=0, sort_keys=True), encoding="utf-8")


def write_site(folder: Path, source: Source) -> Written:
    """Write the public pages of a source to a folder: nothing, where they are what they were.

    Raises:
        SiteError: the folder cannot be written, or a file in it is not the site's own.
    """
    known, state = Manifest.read(folder), source.state()
    made_of = digest_of(f"{templates_digest()} {datetime.now(UTC).date()} {state}".encode()) if state else ""
    if made_of and known.made_of == made_of and all((folder / file).is_file() for file in known.files):
        return Written(len(known.files))
    with source.opened(known.received) as (view, pools, received):
        pages = [*public_pages(view, pools, Extent())]
        files = {page.address: page.file for page in pages}
        new = Manifest(made_of, dict.fromkeys([*LOADED, *files.values()], ""), received)
        texts = ((page.file, linked_file(page.write(), page.file, files, STATIC_ADDRESS).encode()) for page in pages)
        return write_files(folder, known, new, chain(((name, FILES[name]) for name in LOADED), texts))


def digest_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def write_files(folder: Path, old: Manifest, new: Manifest, contents: Iterable[tuple[str, bytes]]) -> Written:
    """Write the files of a site: until all are made the old ones stay, and each appears whole.

    Args:
        new: names all files, with `/` between folders; their digests are still to come.
        contents: of each file, in any order.

    Raises:
        SiteError: the folder cannot be written, or there is a file in it that is not the site's own.
    """
    foreign = next((each for each in sorted(new.files.keys() - old.files.keys()) if (folder / each).exists()), None)
    if foreign is not None:
        raise SiteError(f"{folder / foreign}: is there, and not the site's own; move it, or choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left_over in folder.glob(f"{UNFINISHED}*"):  # of a run that was ended
            shutil.rmtree(left_over, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder) as waiting:
            return _replace(folder, Path(waiting), old, new, contents)
    except OSError as error:
        raise SiteError(f"{error.filename or folder}: cannot be written ({error.strerror})") from None


def _replace(
    folder: Path, waiting: Path, old: Manifest, new: Manifest, contents: Iterable[tuple[str, bytes]]
) -> Written:
    """Write what changed to a folder of its own, then put it in place."""
    digests, changed = dict[str, str](), list[str]()
    for file, content in contents:
        digests[file] = digest_of(content)
        if digests[file] == old.files.get(file) and (folder / file).is_file():
            continue
        path = waiting / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        changed.append(file)
    gone = sorted(old.files.keys() - digests.keys())
    moving = {**old.files, **dict.fromkeys(changed, "")}
    Manifest("", moving, old.received).write(folder)  # were it ended here, all are known as its own
    for file in changed:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (waiting / file).replace(folder / file)
    for file in gone:
        (folder / file).unlink(missing_ok=True)
        remove_empty(folder, (folder / file).parent)
    replace(new, files=digests).write(folder)
    return Written(len(digests), len(changed), len(gone))


def remove_empty(folder: Path, inner: Path) -> None:
    """Remove a folder below another, and those around it, where nothing is in them."""
    while inner != folder and inner.is_dir() and not any(inner.iterdir()):
        inner.rmdir()
        inner = inner.parent
