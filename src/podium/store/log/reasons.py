"""Reasons of corrections, in the words of who made them: beside the log, so that a text can be blanked."""

import unicodedata
from collections.abc import Collection, Sequence

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.store.log.log import BLANK, append, json_entry
from podium.store.log.pools import Pool
from podium.store.sql.schema import log, reason

MAX_CHARACTERS = 500
UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # controls, halves of surrogate pairs, separators of lines and paragraphs
IN_POOL = reason.c.pool_id == sa.bindparam("pool")
SELECT_REASONS = (
    sa.select(reason.c.seq, log.c.place, reason.c.text)
    .join(log, log.c.seq == reason.c.seq)
    .where(IN_POOL)
    .order_by(reason.c.seq)
)
DELETE_REASON = sa.delete(reason).where(IN_POOL, reason.c.seq == sa.bindparam("entry"))


def admit_reason(text: str) -> str:
    """The reason, normalised; empty where none is given.

    Raises:
        ParameterError: it is too long, or has a control character.
    """
    normal = unicodedata.normalize("NFC", text.strip())
    if len(normal) > MAX_CHARACTERS:
        raise ParameterError(f"the reason has {len(normal)} characters; it has up to {MAX_CHARACTERS}")
    unseen = next((each for each in normal if unicodedata.category(each) in UNSEEN), None)
    if unseen is not None:
        raise ParameterError(f"the reason has a control character (U+{ord(unseen):04X}); write it as one line of text")
    return normal


def blank(connection: sa.Connection, pool: Pool, seq: int, actor: str) -> None:
    """Forget the reason of a log entry; that it was blanked is in the log.

    Raises:
        UnknownError: the entry has no reason, or it is blanked already.
    """
    place = next((row.place for row in connection.execute(SELECT_REASONS, {"pool": pool.id}) if row.seq == seq), None)
    if place is None:
        raise UnknownError(f"log entry {seq} of pool {pool.name!r} has no reason that could be blanked")
    blank_all(connection, pool, [(seq, place)], actor)


def blank_naming(connection: sa.Connection, pool: Pool, names: Collection[str], actor: str) -> None:
    """Forget every reason in which one of these names stands, as a part of another word too."""
    folded = [fold(name) for name in names]
    rows = connection.execute(SELECT_REASONS, {"pool": pool.id}).all()
    blank_all(
        connection,
        pool,
        [(row.seq, row.place) for row in rows if any(each in fold(row.text) for each in folded)],
        actor,
    )


def fold(text: str) -> str:
    """The text without the difference of capital and small letters."""
    return unicodedata.normalize("NFC", text.casefold())


def blank_all(connection: sa.Connection, pool: Pool, entries: Sequence[tuple[int, int]], actor: str) -> None:
    """Forget the reasons of log entries.

    Args:
        entries: the number and the place of each.
    """
    if entries:
        append(connection, pool, BLANK, [json_entry(str(place), None, actor) for _, place in entries])
        connection.execute(DELETE_REASON, [{"pool": pool.id, "entry": seq} for seq, _ in entries])
