"""Open a dataset, and check that it is still what was written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podium.dataset.files import PoolFiles, part_of, read_file
from podium.dataset.manifest import MANIFEST, Dataset, read_manifest
from podium.dataset.storage import Storage, is_url, storage_at
from podium.errors import SHOWN_FAULTS, Fault, ResultsError


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
