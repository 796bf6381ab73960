"""Personal links, with which players report and confirm results without a key.

A player has one link per pool. It ends when it is renewed or revoked, when the next season begins, or on a date. The
pool's secret signs it, so that organisers can print it again, although the database does not contain the signature.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, get_args

import sqlalchemy as sa
from itsdangerous import BadData, Signer

from podium.errors import ParameterError, UnknownError
from podium.log.database import StoreError
from podium.log.players import admit_names, names_of, numbers_of
from podium.log.schema import player_link
from podium.log.statements import instant, microseconds, now, of_pool, upsert
from podium.store.following import PoolReader
from podium.support.answers import answer, described
from podium.support.words import part
from podium.views.names import accounts_of, number_of, present_names

Act = Literal["give", "renew", "revoke"]
NONCE_BYTES = 12
SALT = "podium player link"
ENDED = "this link no longer works. Ask the organisers for a new one."
SELECT_LINKS = sa.select(player_link).where(of_pool(player_link))
DELETE_LINK = sa.delete(player_link).where(of_pool(player_link), player_link.c.player_id == sa.bindparam("player"))


@answer
class PlayerLink:
    """A player's personal link."""

    player: str = described("The player's current name.")
    path: str = described("Path of the link. Anyone who has it can report and confirm results as this player.")
    until: datetime | None = described("Time at which the link ends. Null if only the next season ends it.")


def valid_rows(pool: PoolReader) -> list[Any]:
    """Return the rows of links that have not ended. The beginning of a season ends all earlier links."""
    seasons, time = len(pool.snapshot.events.seasons), now()
    rows = pool.execute(SELECT_LINKS)
    return [row for row in rows if row.seasons == seasons and (row.expires_at is None or time < row.expires_at)]


def links(pool: PoolReader) -> tuple[PlayerLink, ...]:
    """List the links that work, by name."""
    rows, signer = valid_rows(pool), Signer(pool.secret, SALT)
    names = present_names(pool, [row.player_id for row in rows])
    found = []
    for row in rows:
        path = f"/p/{part(pool.name)}/report/{signer.sign(row.nonce).decode()}"
        until = None if row.expires_at is None else instant(row.expires_at)
        found.append(PlayerLink(names[row.player_id], path, until))
    return tuple(sorted(found, key=lambda link: link.player.casefold()))


def change_links(
    pool: PoolReader, act: Act | str, names: Sequence[str] = (), *, until: datetime | None = None
) -> tuple[PlayerLink, ...]:
    """Give links to players who have none, or replace or revoke links. New names are added as players.

    Args:
        pool: the pool.
        act: `give`, `renew` or `revoke`.
        names: the players' names. Default: all players.
        until: time at which new links end. Default: when the next season begins.

    Returns:
        All links of the pool that work.

    Raises:
        StoreError: players of this pool cannot report results.
        ParameterError: there is no such act, a name is invalid, or the time has passed.
        UnknownError: a player whose link would be revoked does not exist.
    """
    if act not in get_args(Act):
        raise ParameterError(f"{act!r} is not possible. Use one of {', '.join(get_args(Act))}.")
    if act == "revoke":
        for name in names or names_of(pool).values():
            for account in accounts_of(pool, number_of(pool, name)):
                pool.run(DELETE_LINK, player=account)
        return links(pool)
    if not pool.description.reports:
        raise StoreError(f"Players cannot report results. Allow it: podium pool set {pool.name} --reports '50% 48h'")
    if until is not None and microseconds(until) <= now():
        raise ParameterError("The links would end at once. Give a later date.")
    given = numbers_of(pool, admit_names(pool, names)).values() if names else names_of(pool)
    known = {row.player_id for row in valid_rows(pool)} if act == "give" else set()
    seasons = len(pool.snapshot.events.seasons), None if until is None else microseconds(until)
    new = {pool.snapshot.merged.get(number, number) for number in given} - known
    upsert(
        pool.connection,
        player_link,
        [(pool.id, player, secrets.token_urlsafe(NONCE_BYTES), *seasons) for player in sorted(new)],
    )
    return links(pool)


def player_with(pool: PoolReader, link: str) -> int:
    """Return the number of the player to whom a link belongs.

    Raises:
        UnknownError: the link does not work.
    """
    try:
        nonce = Signer(pool.secret, SALT).unsign(link.encode(errors="replace")).decode()
    except BadData:
        raise UnknownError(ENDED) from None
    for row in valid_rows(pool) if pool.description.reports else ():
        if row.nonce == nonce:
            return pool.snapshot.merged.get(row.player_id, row.player_id)
    raise UnknownError(ENDED)
