"""Whether values all differ, by their hashes: quicker than comparing texts, and never wrong when it says yes."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

SMALL_TABLE_ROWS = 1000  # up to so many texts are compared as they are
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: sets the numbers of neighbours far apart


def surely_distinct(texts: pl.Series, rows: npt.NDArray[np.int64] | None = None, within: Any = 0) -> bool:
    """True where no two of `rows` (all, where None) have the same text and number `within`; else some may."""
    if texts.len() <= SMALL_TABLE_ROWS:
        values = texts.to_list() if rows is None else texts[rows].to_list()
        units = np.broadcast_to(within, len(values)).tolist()
        return len(set(zip(values, units, strict=True))) == len(values)
    hashes = texts.hash().to_numpy()
    chosen = hashes if rows is None else hashes[rows]
    ordered = np.sort(chosen ^ (np.asarray(within).astype(np.uint64) * SPREAD))
    return not bool((ordered[1:] == ordered[:-1]).any())


def runs(texts: pl.Series) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The number of the run of equal texts that each row is in, from 0, and the row that each run starts at."""
    changed = (texts[1:] != texts[:-1]).to_numpy()
    starts = np.concatenate([np.zeros(min(texts.len(), 1), np.int64), np.flatnonzero(changed) + 1])
    lengths = np.diff(starts, append=texts.len())
    return np.repeat(np.arange(starts.size), lengths), starts


def factorize(texts: pl.Series) -> pl.Series:
    """A whole number for each different text; quick where equal texts stand together."""
    if texts.len() <= SMALL_TABLE_ROWS:
        numbers: dict[str, int] = {}
        return pl.Series([numbers.setdefault(text, len(numbers)) for text in texts.to_list()], dtype=pl.Int64)
    number, starts = runs(texts)
    if surely_distinct(texts, starts):
        return pl.Series(number)
    heads = texts[starts]
    return pl.Series(heads.cast(pl.Enum(heads.unique())).to_physical().to_numpy().astype(np.int64)[number])
