"""The next race of a player, as the player's own page has it: what it would bring, and whether that passes the next."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from podium.errors import PodiumError
from podium.ledger.imagined import TWO, place_words
from podium.ledger.stakes import MOST_EXACT, Stakes
from podium.pages.numbers import change, minute, named, percent, rating
from podium.service.web.ahead.keeping import KeptStakes
from podium.service.web.rendering import PoolHeader, pool_address
from podium.store import Store
from podium.store.writing.fixtures import Fixture
from podium.support.words import counted, shown_change

MOST_AHEAD = 10  # races to come, among which the player's is looked for


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A player's next race."""

    pool: PoolHeader
    race: Fixture
    is_entrant: bool
    stakes: Stakes | None  # None where they take longer than a page may, or there are none
    waits: bool  # whether they take longer

    @property
    def link(self) -> Markup:
        """The race, as a link to its page."""
        address = pool_address(self.pool.name, "matches", self.race.fixture_id)
        return Markup('<a href="{}">{}</a>').format(address, named(self.race.title or self.race.fixture_id))

    def note(self) -> Markup:
        """When it is and who starts, and what it would bring."""
        size = "whoever comes" if self.race.entrants is None else counted(len(self.race.entrants), self.pool.word)
        entered = "" if self.is_entrant or self.race.entrants is None else ", not entered"
        return Markup("{}, {}{}.{}").format(minute(self.race.starts_at), size, entered, self.promise())

    def promise(self) -> str:
        """Which places gain, and what the likeliest brings; empty where that is not known."""
        lines = self.lines()
        if self.stakes is None or not lines:
            return ""
        likeliest = max(lines, key=lambda line: float(line["chance"] or 0.0))
        place, digits = place_words(likeliest["place"], self.stakes.sides), self.stakes.digits
        moved = change(shown_change(likeliest["rating"] - likeliest["delta"], likeliest["rating"], digits), digits)
        return f" {self.stakes.headline()} Likeliest, {percent(likeliest['chance'])}: {place}, {moved}."

    def reach(self, above: float) -> Markup:
        """The least result that brings so high a rating; or what the best one brings."""
        lines = self.lines()
        if self.stakes is None or not lines:
            return Markup("")
        enough = [line for line in lines if line["rating"] >= above]
        line = enough[-1] if enough else lines[0]
        place = place_words(line["place"], self.stakes.sides)
        if self.stakes.sides == TWO:
            what = f"A {place}"
        else:
            what = f"{place} place" + (" or better" if enough and line is not lines[0] else "")
        end = "" if enough else ", which is not enough"
        return Markup("{} in {} would bring {}{}.").format(
            what, self.link, rating(line["rating"], self.pool.digits - 1), end
        )

    def lines(self) -> list[dict[str, Any]]:
        """The lines of the places, the best first."""
        return [] if self.stakes is None else [line for line in self.stakes.lines() if line["place"] is not None]


def upcoming(store: Store, kept: KeptStakes, pool: PoolHeader, player: str, *, draws: bool) -> Upcoming | None:
    """The next race of those that a player is entered in, or else of all; None where none is planned.

    Args:
        draws: whether a table may take longer than a page: one of few sides never does.
    """
    ahead = store.fixtures(pool.name, ahead=True, most=MOST_AHEAD)
    own = [each for each in ahead if any(player == starter.player for starter in each.entrants or ())]
    race = next(iter([*own, *ahead]), None)
    if race is None:
        return None
    if not own or len(race.sides) < 2:  # noqa: PLR2004  (nobody to meet)
        return Upcoming(pool, race, bool(own), None, waits=False)
    if len(race.sides) > MOST_EXACT and not draws:
        return Upcoming(pool, race, True, None, waits=True)
    try:
        stakes = kept.of_race(store, pool.name, race, player).stakes
    except PodiumError:  # the page of the race says why
        stakes = None
    return Upcoming(pool, race, True, stakes, waits=False)
