"""What a dataset is: its pools and their files, and the manifest `_podium.json` that lists them."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from podium.dataset.files import PartFile, PoolFiles
from podium.dataset.storage import Storage
from podium.errors import Fault, ResultsError
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
    """The dataset that a manifest describes.

    Raises:
        ResultsError: it is none, it contradicts itself, or another version of Podium's rules wrote it.
    """
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
