"""Digests of a ledger, part by part: they show whether a replay gives the ratings that were once served."""

import hashlib

import numpy as np

from podium.pool.snapshot import ROW_TYPES, Snapshot

PART_ROWS = 1_024  # a write replaces the digest of the last part, and those behind the first row that it changes


def part_of(row: int) -> int:
    """Return the number of the part that holds a ledger row."""
    return row // PART_ROWS


def digests(snapshot: Snapshot, first_part: int = 0) -> list[bytes]:
    """Return the SHA-256 of each part of the ledger from one on.

    Returns:
        A digest of each part's columns, one after the other: `ROW_TYPES` and `state`, little-endian.
    """
    rows = snapshot.rows
    found = []
    for first in range(first_part * PART_ROWS, rows.size, PART_ROWS):
        digest = hashlib.sha256()
        for name in (*ROW_TYPES, "state"):
            column = rows.part(name, first, min(first + PART_ROWS, rows.size))
            digest.update(np.ascontiguousarray(column, column.dtype.newbyteorder("<")).tobytes())
        found.append(digest.digest())
    return found
