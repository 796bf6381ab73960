"""Details of players: country, club, division, a link, and IDs in other programs."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from podium.log.log import titles_in
from podium.log.players import IDS, names_of
from podium.support.answers import answer
from podium.views.reader import PoolAt

FILTERS = ("country", "club", "division")  # the details by which boards can be filtered
DETAILS = (*FILTERS, "link")
MAX_CHOICES = 100  # values of a detail to offer in a form
T = TypeVar("T")


@answer
class PlayerDetail:
    """What a pool says about a player besides the rating.

    Attributes:
        player: The player's name.
        country: Country, or null.
        club: Club, or null.
        division: Division, or null.
        link: Web address, or null.
        ids: IDs by program, if the pool shows them to readers.
    """

    player: str
    country: str | None
    club: str | None
    division: str | None
    link: str | None
    ids: dict[str, str] | None = None


@answer
class PlayerIds:
    """A player's IDs in other programs.

    Attributes:
        player: The player's name.
        discord: ID in Discord, or null.
        steam: ID in Steam, or null.
        fide: FIDE ID, or null.
    """

    player: str
    discord: str | None
    steam: str | None
    fide: str | None


def details_by_account(pool: PoolAt, accounts: Iterable[int] | None = None) -> dict[int, dict[str, str]]:
    """Return the details of each of these accounts that has some, by number. By default, include all accounts."""
    known = pool.snapshot.details
    wanted = {*(known if accounts is None else accounts)} - {0}  # see `fold`
    seqs = {number: seq for number, seq in known.items() if number in wanted}
    texts = titles_in(pool, seqs.values())
    return {number: json.loads(texts[seq]["details"]) for number, seq in seqs.items() if seq in texts}


def details_by_number(pool: PoolAt) -> dict[int, dict[str, str]]:
    """Return the details of each player by number. Those of a merged account count unless the player has some too."""

    def find() -> dict[int, dict[str, str]]:
        merged, found = pool.snapshot.merged, details_by_account(pool)
        order = sorted(found, key=lambda number: number not in merged)
        return {merged.get(number, number): found[number] for number in order}

    return kept_with_details(pool, "details", find)


def kept_with_details(pool: PoolAt, name: str, find: Callable[[], T]) -> T:
    """Return a value that depends only on details and merges. Other changes do not calculate it again."""
    # snapshots share these mappings until one changes; the value keeps them, so that their identities stay in use
    facts = pool.snapshot.details, pool.snapshot.merged
    return pool.answers.value((name, pool.id), (*map(id, facts),), lambda: (facts, find()))[1]


def details_by_name(pool: PoolAt) -> dict[str, dict[str, str]]:
    """Return the details of each player by name."""
    found = details_by_number(pool)
    names = names_of(pool, [*found])
    return {names[number]: found[number] for number in found}


def details_of(pool: PoolAt, number: int, name: str) -> PlayerDetail | None:
    """Return the details of a player, or None if the player has none."""
    found = details_by_number(pool).get(number, {})
    detail = shown_detail(pool, name, found)
    return detail if detail.ids or {*DETAILS} & {*found} else None


def shown_detail(pool: PoolAt, name: str, found: Mapping[str, str]) -> PlayerDetail:
    ids = {program: found[program] for program in IDS if program in found} if pool.display.shows_ids else {}
    country, club, division, link = map(found.get, DETAILS)
    return PlayerDetail(name, country, club, division, link, ids or None)


def detail_choices(pool: PoolAt) -> dict[str, tuple[str, ...]]:
    """List the countries, clubs and divisions by which a board can be filtered.

    Returns:
        The most frequent values of each detail, in alphabetical order.
    """

    def find() -> dict[str, tuple[str, ...]]:
        found = details_by_number(pool).values()
        counts = {name: Counter(details[name] for details in found if name in details) for name in FILTERS}
        return {name: tuple(sorted(dict(count.most_common(MAX_CHOICES)))) for name, count in counts.items()}

    return kept_with_details(pool, "choices", find)


def player_details(pool: PoolAt) -> tuple[PlayerDetail, ...]:
    """List what the pool says about its players.

    Returns:
        The players with their details. Players without details are left out.
    """
    found = details_by_name(pool)
    return tuple(shown_detail(pool, name, found[name]) for name in sorted(found))


def player_ids(pool: PoolAt) -> tuple[PlayerIds, ...]:
    """List the players' IDs in other programs, which only admins may see.

    Returns:
        The players with their IDs. Players without IDs are left out.
    """
    found = details_by_name(pool)
    named = sorted(name for name, details in found.items() if {*IDS} & {*details})
    return tuple(PlayerIds(name, *map(found[name].get, IDS)) for name in named)
