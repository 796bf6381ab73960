"""Datasets: results on disk, a folder a pool, checked once, with a manifest that vouches for every file."""

from podium.large import Dataset, PartFile, PoolFiles, is_dataset
from podium.large.files import check, open_dataset
from podium.large.writing import write

__all__ = ["Dataset", "PartFile", "PoolFiles", "check", "is_dataset", "open_dataset", "write"]
