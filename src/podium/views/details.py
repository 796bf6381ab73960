"""Details of players: country, club, division, a link, and IDs in other programs."""

import json

from podium.log.log import titles_in
from podium.log.players import IDS
from podium.support.answers import answer, described
from podium.views.names import present_names
from podium.views.reader import PoolAt

DETAILS = ("country", "club", "division", "link")


@answer
class PlayerDetail:
    """What a pool says about a player besides the rating."""

    player: str = described("The player's name.")
    country: str | None = described("Country, or null.")
    club: str | None = described("Club, or null.")
    division: str | None = described("Division, or null.")
    link: str | None = described("Web address, or null.")


@answer
class PlayerIds:
    """A player's IDs in other programs."""

    player: str = described("The player's name.")
    discord: str | None = described("ID in Discord, or null.")
    steam: str | None = described("ID in Steam, or null.")
    fide: str | None = described("ID of FIDE, or null.")


def details_by_account(pool: PoolAt) -> dict[int, dict[str, str]]:
    """Return the details of each account that has some, by number."""
    seqs = pool.snapshot.details
    texts = titles_in(pool, seqs.values())
    return {number: json.loads(texts[seq]["details"]) for number, seq in seqs.items() if seq in texts}


def details_by_name(pool: PoolAt) -> dict[str, dict[str, str]]:
    """Return the details of each player by name. Those of a merged account count unless the player has some too."""

    def find() -> dict[str, dict[str, str]]:
        merged, found = pool.snapshot.merged, details_by_account(pool)
        names = present_names(pool, found)
        return {names[number]: found[number] for number in sorted(found, key=lambda number: number not in merged)}

    return pool.value(("details",), find)


def player_details(pool: PoolAt) -> tuple[PlayerDetail, ...]:
    """List what the pool says about its players.

    Returns:
        The players with their details. Players without details are left out.
    """
    found = details_by_name(pool)
    return tuple(PlayerDetail(name, *map(found[name].get, DETAILS)) for name in sorted(found))


def player_ids(pool: PoolAt) -> tuple[PlayerIds, ...]:
    """List the players' IDs in other programs, which only admins may see.

    Returns:
        The players with their IDs. Players without IDs are left out.
    """
    found = details_by_name(pool)
    named = sorted(name for name, details in found.items() if {*IDS} & {*details})
    return tuple(PlayerIds(name, *map(found[name].get, IDS)) for name in named)
