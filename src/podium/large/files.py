"""The files of a dataset: its manifest, and how a pool's files become parts that need no check but their digest."""

import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl

from podium.errors import SHOWN_FAULTS, Fault, OutputError, ParameterError, ResultsError, needs_extra
from podium.large import MANIFEST, Dataset, PartFile, PoolFiles, is_url
from podium.large.long_periods import Part
from podium.large.parts import moments
from podium.large.slices import read_ahead
from podium.results.columns import DEFAULTS, has_values, in_order
from podium.results.consistency import Places
from podium.results.hashing import Numbered, runs
from podium.results.reading import Results, parse_parquet
from podium.support.part_files import part_file
from podium.version import __version__


@dataclass(frozen=True, slots=True)
class Storage:
    """A folder by its path or address; it travels to other processes as that text."""

    uri: str

    def read(self, path: str) -> bytes:
        if not is_url(self.uri):
            return (Path(self.uri) / path).read_bytes()
        system, root = self._remote()
        content: bytes = system.cat_file(f"{root}/{path}")
        return content

    def write(self, path: str, content: bytes) -> None:
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
        if not is_url(self.uri):
            top = Path(self.uri)
            yield from sorted(each.relative_to(top).as_posix() for each in top.rglob("*") if each.is_file())
            return
        system, root = self._remote()
        found = system.find(root) if system.exists(root) else []
        yield from sorted(each.removeprefix(root).lstrip("/") for each in found)

    def remove(self) -> None:
        if not is_url(self.uri):
            shutil.rmtree(self.uri, ignore_errors=True)
            return
        system, root = self._remote()
        if system.exists(root):
            system.rm(root, recursive=True)

    def below(self, path: str) -> str:
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
    return Storage(uri.rstrip("/") if isinstance(uri, str) and is_url(uri) else os.path.abspath(uri))  # noqa: PTH100


def pool_parts(pool: PoolFiles, period: str) -> Iterator[Part]:
    """The parts of a pool, a file each; the rows of a file's last moment, or rating period, wait for the next."""
    reads = (partial(read_file, pool, each) for each in pool.files)
    frames = (read() for read in reads) if len(pool.files) == 1 else read_ahead(reads)
    held: pl.DataFrame | None = None
    for file, whole in zip(pool.files, frames, strict=True):
        frame = whole if held is None else pl.concat([held, whole], how="diagonal", rechunk=True)
        end = frame.height if file is pool.files[-1] else end_of_settled(frame, period)
        held = frame[end:]
        if end:
            yield part_of(frame[:end], file.path)
        del whole, frame


def end_of_settled(frame: pl.DataFrame, period: str) -> int:
    """The first row of the last moment: later files may go on from there. All rows, where they have no dates."""
    if "started_at" not in frame.columns:
        return frame.height
    numbers = moments(period, frame["started_at"])
    return int(np.searchsorted(numbers, numbers[-1]))


def part_of(frame: pl.DataFrame, name: str) -> Part:
    number, first = runs(frame["event_id"])
    places = Places([name], np.zeros(frame.height, np.int32), np.arange(frame.height))
    return Part(Results(frame, name), Numbered(number, first), places)


def read_file(pool: PoolFiles, file: PartFile) -> pl.DataFrame:
    """The rows of a file, as `read_results` gives them: its digest vouches that they were checked."""
    storage = Storage(pool.uri)
    try:
        content = storage.read(file.path)
    except OSError as error:
        raise ResultsError.whole(storage.below(file.path), f"cannot be read ({error.strerror or error})") from None
    if len(content) != file.bytes or file_digest(content) != file.digest:
        remedy = "is not as it was written; podium dataset check finds all such files, podium dataset write mends them"
        raise ResultsError.whole(storage.below(file.path), remedy)
    frame = parse_parquet(content, storage.below(file.path))
    constants = {"pool": pool.name}
    if "status" not in frame.columns or (frame["status"] == DEFAULTS["status"]).all():
        constants["status"] = DEFAULTS["status"]  # a column of one value, which the frame holds once
    held = frame.select(name for name in frame.columns if name not in constants and has_values(frame[name]))
    whole = held.with_columns(pl.lit(value).alias(name) for name, value in constants.items())
    return whole.select(in_order(whole.columns))


def write_part(storage: Storage, path: str, frame: pl.DataFrame, events: int, **how: Any) -> PartFile:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **how)
    content = buffer.getvalue()
    storage.write(path, content)
    return PartFile(path, frame.height, events, len(content), file_digest(content))


def file_digest(content: bytes) -> str:
    """Thirty-two hex digits of a file's bytes."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def pool_folder(name: str) -> str:
    """The folder of a pool: `pool=NAME` as Hive has it, percent-encoded.

    A name that a folder cannot have, or that says in Hive that there is none, gets one by its digest; its files have
    the column `pool`.
    """
    folder = f"pool={quote(name, safe='')}"
    return f"pool-{file_digest(name.encode())}" if len(folder) > LONGEST_NAME or name.startswith("__HIVE") else folder


LONGEST_NAME = 255  # bytes of a folder's name
FORMAT = "podium-dataset"
LAYOUT = 1  # of the folders and the manifest
CHECKS = 1  # of the rules for results; to be raised when they get stricter, so that older datasets are written anew


def manifest_text(dataset: Dataset) -> str:
    """The manifest of a dataset, a line a file."""
    head = {
        "format": FORMAT,
        "layout": LAYOUT,
        "checks": CHECKS,
        "podium": __version__,
        "rows": dataset.rows,
        "events": dataset.events,
        "columns": dataset.schema,
        "digest": dataset.digest,
    }
    pools = []
    for pool in dataset.pools:
        files = ",\n    ".join(json.dumps(asdict(each), ensure_ascii=False) for each in pool.files)
        counts = f'"rows": {pool.rows}, "events": {pool.events}'
        name = json.dumps(pool.name, ensure_ascii=False)
        pools.append(f'\n  {{"name": {name}, {counts}, "files": [\n    {files}]}}')
    return json.dumps(head, ensure_ascii=False)[:-1] + ', "pools": [' + ",".join(pools) + "\n]}\n"


def read_manifest(storage: Storage, content: bytes) -> Dataset:
    name = storage.below(MANIFEST)

    def refuse(remedy: str) -> ResultsError:
        return ResultsError.whole(name, f"{remedy}; write the dataset anew")

    try:
        values = json.loads(content)
        if values["format"] != FORMAT:
            raise refuse("is not the manifest of a dataset")
        if (values["layout"], values["checks"]) != (LAYOUT, CHECKS):
            raise refuse(f"was written by Podium {values['podium']}, whose rules were others")
        pools = tuple(
            PoolFiles(storage.uri, str(each["name"]), tuple(PartFile(**file) for file in each["files"]))
            for each in values["pools"]
        )
        dataset = Dataset(storage.uri, dict(values["columns"]), pools)
        agrees = all(getattr(dataset, each) == values[each] for each in ("rows", "events", "digest"))
    except ResultsError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise refuse(f"is damaged ({type(error).__name__}: {error})") from None
    if not agrees:
        raise refuse("contradicts itself: its files do not add up to its counts and digest")
    return dataset


def open_dataset(source: Dataset | str | Path) -> Dataset:
    """Open a dataset: its manifest is read, its rows are not.

    Args:
        source: the path of its folder, or an address that fsspec knows, such as `s3://bucket/results`.

    Returns:
        Its pools and their files; `podium.rate`, `evaluate`, `tune` and `audit` take it.

    Raises:
        ResultsError: there is none, or its manifest is damaged.
        MissingExtraError: the address needs a library that is not installed.
    """
    if isinstance(source, Dataset):
        return source
    storage = storage_at(source)
    try:
        content = storage.read(MANIFEST)
    except OSError as error:
        remedy = f"is no dataset: {MANIFEST} cannot be read ({error.strerror or error}); podium dataset write makes one"
        raise ResultsError.whole(str(source), remedy) from None
    return read_manifest(storage, content)


def check(source: Dataset | str | Path) -> Dataset:
    """Check a dataset: that every file is there, as it was written, with as many rows and events as the manifest says.

    Args:
        source: as `open_dataset` takes it.

    Returns:
        The dataset, which is whole.

    Raises:
        ResultsError: files are missing, changed, or not in the manifest; the first 20 are named.
    """
    dataset = open_dataset(source)
    faults = [fault for pool in dataset.pools for fault in faults_of_pool(pool)]
    listed = {MANIFEST, *(each.path for pool in dataset.pools for each in pool.files)}
    others = [path for path in Storage(dataset.uri).files() if path not in listed and path.endswith(".parquet")]
    faults += [Fault(None, None, None, "is not in the manifest; remove it", file=path) for path in others]
    if faults:
        raise ResultsError(dataset.uri, faults[: SHOWN_FAULTS + 1])
    return dataset


def faults_of_pool(pool: PoolFiles) -> Iterator[Fault]:
    for file in pool.files:
        try:
            frame = read_file(pool, file)
        except ResultsError as error:
            yield error.faults[0]._replace(file=file.path)
            continue
        found = frame.height, int(part_of(frame, file.path).numbered.first.size)
        if found != (file.rows, file.events):
            remedy = f"has {found[0]:,} rows of {found[1]:,} events, and the manifest says otherwise"
            yield Fault(None, None, None, remedy, file=file.path)
