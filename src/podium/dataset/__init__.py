"""Datasets: results on disk, a folder a pool, checked once, with a manifest that vouches for every file."""

from podium.dataset.files import PartFile, PoolFiles
from podium.dataset.manifest import Dataset, check, is_dataset, open_dataset
from podium.dataset.writing import write

__all__ = ["Dataset", "PartFile", "PoolFiles", "check", "is_dataset", "open_dataset", "write"]
