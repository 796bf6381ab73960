"""A player's figures for a phone's first screen: rating, uncertainty, recent changes and the next race."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from podium.errors import PodiumError
from podium.ledger.history import FINDING_EVENTS
from podium.ledger.hypothetical_race import DUEL_SIDES, place_words
from podium.ledger.stakes import MAX_EXACT, Stakes
from podium.pages.numbers import Shape, day_words, minute, name_link, named, percent, points
from podium.service.web.ahead.calendar import KeptStakes
from podium.service.web.rendering import PoolHeader
from podium.store import Store
from podium.support.immutable import immutable
from podium.support.words import capitalised, counted, ordinal_number, shown_change
from podium.views.player_models import Encounters, NearbyRow, PlayerCard
from podium.views.races.fixtures import Fixture

ESTABLISHED_BY_EVENTS = f"A rating counts as established from event {FINDING_EVENTS} on."
MAX_AHEAD = 10  # number of upcoming races to search for the player's next one


@immutable
class Tile:
    name: str
    value: str | Markup
    note: str | Markup = ""


def lead_on(header: PoolHeader, card: PlayerCard, rule: str, *, has_race: bool) -> str | Markup:
    """Return a sentence about the distance to the next rank, or about the rule for a first rank.

    Args:
        header: the pool.
        card: the player.
        rule: the rule by which a rating becomes established, or an empty string.
        has_race: True if there is a next race, whose note tells how to reach the next rank.
    """
    if card.provisional:
        return f"Provisional rating after {counted(card.events, 'event')}. {rule or ESTABLISHED_BY_EVENTS}"
    rival = rival_of(card)
    if rival is None or card.rank is None:
        return ""
    gap = abs(gap_to(header, rival))
    place = f", {ordinal_number(rival.rank)}" if rival.rank else ""
    who = Shape("{}{}").format(header.player_link(rival.player), place)
    if rival.ahead <= 0.0:
        return Shape("Leads by {}, ahead of {}.").format(counted_points(gap), who)
    behind = Shape("{} behind {}.").format(counted_points(gap), who) if gap else Shape("Level with {}.").format(who)
    best = next(iter(card.best_days), None)
    if has_race or best is None or best.change < rival.ahead:
        return behind
    return behind + Shape(" A day like {} ({}) would be enough.").format(
        header.event_link(best), header.change(best.shown)
    )


def rival_of(card: PlayerCard) -> NearbyRow | None:
    """Return the player on the next better rank or, for a leader, the player behind."""
    own = next(k for k, row in enumerate(card.nearby) if row.player == card.player)
    above = [row for row in card.nearby[:own] if row.ahead > 0.0]
    return next(iter(above[-1:] or card.nearby[own + 1 : own + 2]), None)


def gap_to(header: PoolHeader, row: NearbyRow) -> Decimal:
    return header.rounded(row.rating) - header.rounded(row.rating - row.ahead)


@immutable
class Upcoming:
    """The next race of a player."""

    pool: PoolHeader
    race: Fixture
    is_entrant: bool
    stakes: Stakes | None  # None if the calculation takes too long for a page, or if there are no stakes
    waits: bool  # True if the calculation takes too long

    def note(self, card: PlayerCard) -> Markup:
        """Return the race's link, time and size, its effect on the rating, and the place that gains a rank."""
        link = name_link(self.pool.path("matches", self.race.fixture_id), self.race.title or self.race.fixture_id)
        size = "open to everybody" if self.race.entrants is None else counted(len(self.race.entrants), self.pool.word)
        entered = "" if self.is_entrant or self.race.entrants is None else ", not entered"
        about = Shape("{}, {}, {}{}.").format(link, minute(self.pool.local(self.race.starts_at)), size, entered)
        return about + self.outlook() + self.reach(None if card.rank is None else rival_of(card))

    def outlook(self) -> Markup:
        """Describe the effect of the most likely place, and the places that gain points.

        The text is empty if unknown.
        """
        lines = self.lines()
        if self.stakes is None or not lines:
            return Markup("")
        likeliest = max(lines, key=lambda line: float(line["chance"] or 0.0))
        place = place_words(likeliest["place"], self.stakes.sides)
        return Shape(" Most likely {}{} ({}): {}. {}").format(
            "a " if self.stakes.sides == DUEL_SIDES else "",
            place,
            percent(likeliest["chance"]),
            points(self.change(likeliest), self.pool.digits),
            self.stakes.headline(),
        )

    def reach(self, rival: NearbyRow | None) -> Markup:
        """Name the worst result that gains more points than the player above is ahead, if there is one."""
        enough = [line for line in self.lines() if rival is not None and line["delta"] >= rival.ahead > 0.0]
        if rival is None or not enough:
            return Markup("")
        sides = len(self.race.sides)
        place = place_words(enough[-1]["place"], sides)
        what = f"A {place} passes" if sides == DUEL_SIDES else f"{capitalised(place)} already passes"
        return Shape(" {} {}.").format(what, named(rival.player))

    def ends(self) -> list[tuple[str, Decimal]]:
        """Return the best and the worst place with their changes, or nothing if they are unknown."""
        lines, is_duel = self.lines(), self.stakes is not None and self.stakes.sides == DUEL_SIDES
        words = ("a win", "a loss") if is_duel else ("winning", "last place")
        return [(word, self.change(line)) for word, line in zip(words, lines[:1] + lines[-1:], strict=False)]

    @property
    def win(self) -> str:
        """The chance of winning, as text."""
        return percent(self.lines()[0]["chance"])

    def change(self, line: dict[str, Any]) -> Decimal:
        """Return the displayed change of the rating in a line."""
        return shown_change(line["rating"] - line["delta"], line["rating"], self.pool.digits)

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines for the places, best first."""
        return [] if self.stakes is None else [line for line in self.stakes.lines() if line["place"] is not None]


def upcoming(
    store: Store, kept: KeptStakes, pool: PoolHeader, player: str, *, draws: bool, has_key: bool
) -> Upcoming | None:
    """Return a player's next race or, if there is none, anyone's.

    `draws` permits calculations that are too slow for a page.
    """
    ahead = store.fixtures(pool.name, ahead=True, most=MAX_AHEAD)
    own = [race for race in ahead if any(player == starter.player for starter in race.entrants or ())]
    if own:
        return outlook_of(store, kept, pool, own[0], player, draws=draws, has_key=has_key)
    return Upcoming(pool, ahead[0], False, None, waits=False) if ahead else None


def outlook_of(
    store: Store,
    kept: KeptStakes,
    pool: PoolHeader,
    race: Fixture,
    player: str,
    *,
    draws: bool = False,
    has_key: bool = False,
) -> Upcoming:
    """Return a race with its effects on a player, who enters it if necessary. `draws` is as in `upcoming`."""
    is_entered = any(player == starter.player for starter in race.entrants or ())
    if len(race.sides) < 2:  # noqa: PLR2004  (nobody to meet)
        return Upcoming(pool, race, is_entered, None, waits=False)
    if len(race.sides) > MAX_EXACT and not draws:
        return Upcoming(pool, race, is_entered, None, waits=True)
    try:
        stakes = kept.of_race(store, pool.name, race, player, has_key=has_key).stakes
    except PodiumError:  # the race's page gives the reason
        stakes = None
    return Upcoming(pool, race, is_entered, stakes, waits=False)


def facts_on(header: PoolHeader, card: PlayerCard) -> list[str | Markup]:
    """Return the smaller facts: the number of events, the best streak, and the opponents a player beats most."""
    facts: list[str | Markup] = [f"{counted(card.events, 'event')} since {day_words(header.local(card.first_when))}"]
    if card.events > FINDING_EVENTS:
        facts.append(streak_words(card))
    return facts + encounter_words(header, card.encounters)


def encounter_words(header: PoolHeader, encounters: Sequence[Encounters]) -> list[Markup]:
    """Return the opponents whom a player beats most, and the one who beats the player most."""
    beaten = [each for each in encounters if each.ahead > each.behind]
    words = [
        Shape("{}{} in {} of {}").format("" if k else "Beats ", header.player_link(each.opponent), each.ahead, each.met)
        for k, each in enumerate(beaten)
    ]
    facts = [Markup(", ").join(words)] if words else []
    if encounters and encounters[-1].behind > encounters[-1].ahead:
        worst = encounters[-1]
        facts.append(
            Shape("Beaten by {} in {} of {}").format(header.player_link(worst.opponent), worst.behind, worst.met)
        )
    return facts


def counted_points(points: Decimal) -> str:
    return f"{points} point{'' if points == 1 else 's'}"


def rating_note(header: PoolHeader, card: PlayerCard) -> str:
    words = [card.tier] if card.tier else []
    words += [f"rating {header.rating(card.rating)}"] if header.score_digits is not None else []
    established = ", ".join([*words, "provisional" if card.provisional else "established"])
    if card.deviation is None:
        usual = sum(abs(change.shown) for change in card.form) / max(1, len(card.form))
        return f"{established}; an event changes it by about {header.rounded(usual)}"
    return f"{established}, certain to {header.margin(card.deviation)}"


def streak_words(card: PlayerCard) -> str:
    streaks = card.streaks
    best, current, what = streaks.wins, streaks.current_wins, "wins"
    if best < 2:  # noqa: PLR2004  (a row needs two)
        best, current, what = streaks.gains, streaks.current_gains, "gains"
    return f"Longest run of {what}: {counted(best, 'event')}, now {current}"
