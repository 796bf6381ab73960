"""Damage to the file of an SQLite database, a page at a time."""

import sqlite3
from contextlib import closing

HEADER_BYTES = 100


def page_bytes(path):
    """Return the page size in a database's header."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(HEADER_BYTES)[16:18], "big")


def damage_pages(path, numbers):
    """Overwrite pages of a database that nobody has open. The first page has the number 1."""
    size = page_bytes(path)
    with path.open("r+b") as file:
        for number in numbers:
            file.seek((number - 1) * size)
            file.write(b"\xff" * size)


def damage_root(path, name):
    """Overwrite the first page of a table or an index in a database that nobody has open."""
    with closing(sqlite3.connect(path)) as database:
        (number,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    damage_pages(path, [number])


def damage_all_after(path, number):
    """Overwrite every page of a database after a number."""
    damage_pages(path, range(number + 1, path.stat().st_size // page_bytes(path) + 1))
