"""What a dataset is: its pools and their files, and the manifest `_podium.json` that lists them."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from podium.dataset.files import PartFile, PoolFiles, Storage, is_url, part_of, read_file, storage_at
from podium.errors import SHOWN_FAULTS, Fault, ResultsError
from podium.results.long_periods import Part
from podium.results.parts import Moments
from podium.support.notebook import counted
from podium.version import __version__

MANIFEST = "_podium.json"
FORMAT = "podium-dataset"
LAYOUT = 1  # of the folders and the manifest
CHECKS = 1  # of the rules for results; to be raised when they get stricter, so that older datasets are written anew


@dataclass(frozen=True, slots=True, repr=False)
class Dataset:
    """Results on disk, a folder a pool; see `podium.dataset.write`."""

    uri: str
    schema: dict[str, str]  # the type of each column of its files, as Polars names it
    pools: tuple[PoolFiles, ...]  # by name

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(pool.rows for pool in self.pools)

    @property
    def events(self) -> int:
        """How many events it has."""
        return sum(pool.events for pool in self.pools)

    @property
    def digest(self) -> str:
        """Thirty-two hex digits of all its files: the same for the same results, whatever files they came in."""
        hashed = hashlib.blake2b(json.dumps(self.schema).encode(), digest_size=16)
        for pool in self.pools:
            for each in pool.files:
                hashed.update(f"\n{each.path} {each.rows} {each.events} {each.digest}".encode())
        return hashed.hexdigest()

    def parts(self, moments: Moments) -> Iterator[Part]:
        """The parts of all pools, a pool after the other; see `PoolFiles.parts`.

        Raises:
            ResultsError: a file is not what was written.
        """
        for pool in self.pools:
            yield from pool.parts(moments)

    def __repr__(self) -> str:
        sizes = counted(self.rows, "row"), counted(self.events, "event"), counted(len(self.pools), "pool")
        return f"Dataset({self.uri}: {', '.join(sizes)})"


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
    """The dataset that a manifest describes."""
    name = storage.below(MANIFEST)

    def refuse(remedy: str) -> ResultsError:
        return ResultsError(name, [Fault(None, None, None, f"{remedy}; write the dataset anew")])

    try:
        values = json.loads(content)
        if values["format"] != FORMAT:
            raise refuse("is not the manifest of a dataset")
        if (values["layout"], values["checks"]) != (LAYOUT, CHECKS):
            raise refuse(f"was written by Podium {values['podium']}, whose rules were others")
        pools = tuple(pool_files(storage.uri, each) for each in values["pools"])
        dataset = Dataset(storage.uri, dict(values["columns"]), pools)
        agrees = (dataset.rows, dataset.events, dataset.digest) == tuple(
            values[each] for each in ("rows", "events", "digest")
        )
    except ResultsError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise refuse(f"is damaged ({type(error).__name__}: {error})") from None
    if not agrees:
        raise refuse("contradicts itself: its files do not add up to its counts and digest")
    return dataset


def pool_files(uri: str, values: dict[str, Any]) -> PoolFiles:
    """A pool as the manifest has it."""
    return PoolFiles(uri, str(values["name"]), tuple(PartFile(**each) for each in values["files"]))


def is_dataset(source: Any) -> bool:
    """Whether it is a dataset, the path of one, or an address, which can only be a dataset's."""
    if isinstance(source, Dataset) or is_url(source):
        return True
    return isinstance(source, str | Path) and (Path(source) / MANIFEST).is_file()


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
        raise ResultsError(str(source), [Fault(None, None, None, remedy)]) from None
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
    """What is wrong with the files of a pool."""
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
