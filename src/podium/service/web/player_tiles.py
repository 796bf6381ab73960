"""A player's figures for a phone's first screen: rating, uncertainty, recent changes and the next race."""

from decimal import Decimal
from typing import Any

from markupsafe import Markup

from podium.errors import PodiumError
from podium.ledger.history import FINDING_EVENTS, FORM_EVENTS
from podium.ledger.hypothetical_race import DUEL_SIDES, place_words
from podium.ledger.stakes import MAX_EXACT, Stakes
from podium.pages.numbers import Shape, change, day, day_words, minute, name_link, percent
from podium.service.web.ahead.calendar import KeptStakes
from podium.service.web.rendering import PoolHeader, pool_address
from podium.store import Store
from podium.store.writing.fixtures import Fixture
from podium.support.immutable import immutable
from podium.support.words import counted, ordinal, ordinal_number, shown, shown_change
from podium.views.player_models import FormLine, PlayerCard

ESTABLISHED_BY_EVENTS = f"A rating counts as established from event {FINDING_EVENTS} on."
MAX_AHEAD = 10  # number of upcoming races to search for the player's next one


@immutable
class Tile:
    name: str
    value: str | Markup
    note: str | Markup = ""
    is_wide: bool = False  # True for a sentence instead of a figure


TRENDS = {"climbing": "Climbing", "falling": "Falling", "steady": "Steady"}


def verdict_on(header: PoolHeader, card: PlayerCard) -> str:
    """Return one or two sentences about a player's current form."""
    if card.trend == "provisional":
        sentence = f"Provisional rating after {counted(card.events, 'event')}."
    elif not card.last_ten_events:
        sentence = f"{counted(card.events, 'event')} so far, which established the rating."
    elif card.last_ten_events < FORM_EVENTS:  # a trend leaves out the first five events, the sum of reasons does not
        sentence = f"{counted(card.events, 'event')} so far."
    else:
        moved, words = shown(card.last_ten_shown, header.digits), f"last {counted(card.last_ten_events, 'event')}"
        sentence = f"{TRENDS[card.trend]}: {header.change(card.last_ten_shown)} in the {words}."
        if card.trend == "steady" and moved:
            way = "Up" if moved > 0 else "Down"
            within = f"within its own ±{header.rounded(card.chance)}: could be chance"
            sentence = f"{way} {abs(moved)} in the {words}, {within}."
    if card.provisional:
        rank = card.would_be_rank
        place = f"It would rank {ordinal(rank)} of {card.listed + 1}." if rank else ""
        return f"{sentence} {place}".rstrip()
    return f"{sentence} {beside_peak(header, card)}".rstrip()


def beside_peak(header: PoolHeader, card: PlayerCard) -> str:
    """Return a sentence about a player's distance from the highest rating, or an empty string."""
    if card.peak is None:
        return ""
    below = header.rounded(card.peak.rating) - header.rounded(card.rating)
    if below <= 0:
        return "Never rated higher." if card.is_highest else ""
    of_day = "" if card.peak.when is None else f" of {day_words(header.local(card.peak.when))}"
    return f"{below} below the peak{of_day}."


@immutable
class Upcoming:
    """The next race of a player."""

    pool: PoolHeader
    race: Fixture
    is_entrant: bool
    stakes: Stakes | None  # None if the calculation takes too long for a page, or if there are no stakes
    waits: bool  # True if the calculation takes too long

    @property
    def link(self) -> Markup:
        address = pool_address(self.pool.name, "matches", self.race.fixture_id)
        return name_link(address, self.race.title or self.race.fixture_id)

    def note(self) -> Markup:
        """Return the time and size of the race, and its effect on the rating."""
        size = "open to everybody" if self.race.entrants is None else counted(len(self.race.entrants), self.pool.word)
        entered = "" if self.is_entrant or self.race.entrants is None else ", not entered"
        return Shape("{}, {}{}.{}").format(minute(self.pool.local(self.race.starts_at)), size, entered, self.outlook())

    def outlook(self) -> str:
        """Describe the places that gain points, and the effect of the most likely place.

        The text is empty if unknown.
        """
        lines = self.lines()
        if self.stakes is None or not lines:
            return ""
        likeliest = max(lines, key=lambda line: float(line["chance"] or 0.0))
        place, digits = place_words(likeliest["place"], self.stakes.sides), self.stakes.digits
        moved = change(shown_change(likeliest["rating"] - likeliest["delta"], likeliest["rating"], digits), digits)
        return f" {self.stakes.headline()} Likeliest, {percent(likeliest['chance'])}: {place}, {moved}."

    def reach(self, ahead: float) -> Markup:
        """Return the worst result that gains this many points, or else the effect of the best result."""
        lines = self.lines()
        if self.stakes is None or not lines:
            return Markup("")
        enough = [line for line in lines if line["delta"] >= ahead]
        line = enough[-1] if enough else lines[0]
        place = place_words(line["place"], self.stakes.sides)
        if self.stakes.sides == DUEL_SIDES:
            what = f"A {place}"
        else:
            what = f"{place} place" + (" or better" if enough and line is not lines[0] else "")
        end = "" if enough else ", which is not enough"
        return Shape("{} in {} would bring {}{}.").format(what, self.link, self.pool.rating(line["rating"]), end)

    def ends(self) -> list[tuple[str, Decimal]]:
        """Return the best and the worst place with their changes, or nothing if they are unknown."""
        if self.stakes is None:
            return []
        sides, digits, lines = self.stakes.sides, self.stakes.digits, self.lines()
        return [
            (
                f"{'A ' if sides == DUEL_SIDES else ''}{place_words(line['place'], sides)}",
                shown_change(line["rating"] - line["delta"], line["rating"], digits),
            )
            for line in lines[:1] + lines[-1:]
        ]

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
    race = next(iter([*own, *ahead]), None)
    return None if race is None else outlook_of(store, kept, pool, race, player, draws=draws, has_key=has_key)


def outlook_of(
    store: Store, kept: KeptStakes, pool: PoolHeader, race: Fixture, player: str, *, draws: bool, has_key: bool
) -> Upcoming:
    """Return a race with its effects on an entered player. `draws` has the same meaning as in `upcoming`."""
    is_entered = any(player == starter.player for starter in race.entrants or ())
    if not is_entered or len(race.sides) < 2:  # noqa: PLR2004  (nobody to meet)
        return Upcoming(pool, race, is_entered, None, waits=False)
    if len(race.sides) > MAX_EXACT and not draws:
        return Upcoming(pool, race, True, None, waits=True)
    try:
        stakes = kept.of_race(store, pool.name, race, player, has_key=has_key).stakes
    except PodiumError:  # the race's page gives the reason
        stakes = None
    return Upcoming(pool, race, True, stakes, waits=False)


def tiles(header: PoolHeader, card: PlayerCard, rank: Tile, rule: str, ahead: Upcoming | None) -> tuple[Tile, ...]:
    """Return the tiles, most interesting first. `rule` explains when a rating becomes established, or is empty."""
    found = [Tile("Rating", header.score(card), rating_note(header, card)), rank]
    if card.provisional:
        found.append(Tile("Established", "Not yet", rule or ESTABLISHED_BY_EVENTS, is_wide=True))
    if card.form:
        found.append(change_tile(header, card, "Moved", card.form[0], "by"))
    if card.rank is not None:
        found += next_rank_tiles(header, card, ahead)
    if ahead is not None:
        found.append(Tile("Next race", ahead.link, ahead.note(), is_wide=True))
    if card.peak is not None:
        reach = "" if card.peak.deviation is None else f" {header.margin(card.peak.deviation)}"
        note = Shape('{} <a href="{}">{}</a>').format(
            f"{reach}," if reach else "in" if header.is_undated else "on",
            pool_address(header.name, "events", card.peak.event_id, card.player),
            day_words(header.local(card.peak.when)),
        )
        found.append(Tile("Peak", header.rating(card.peak.rating), note))
    most = max(
        (*card.best_days[:1], *card.worst_days[:1]) or card.form, key=lambda cause: abs(cause.shown), default=None
    )
    if most is not None:
        found.append(change_tile(header, card, "Mattered most", most))
    if card.encounters:
        found.append(encounters_tile(header, card))
    if card.peak is not None:
        found.append(streak_tile(card))
    found.append(Tile("Events", f"{card.events:,}", f"since {day_words(header.local(card.first_when))}"))
    return tuple(found)


def change_tile(header: PoolHeader, card: PlayerCard, name: str, line: FormLine, word: str = "") -> Tile:
    """Return a tile about a change, with links to the reasons and to the event."""
    link = header.change_link(line.event_id or "", card.player, line.shown)
    note = Shape("{} {}, {}").format(word, header.event_link(line), day(header.local(line.when)))
    return Tile(name, link, note, is_wide=bool(word))


def next_rank_tiles(header: PoolHeader, card: PlayerCard, ahead: Upcoming | None) -> list[Tile]:
    """Return a tile about the distance to the next rank and the result that reaches it, or about the lead."""
    own = next(k for k, row in enumerate(card.nearby) if row.player == card.player)
    above = [row for row in card.nearby[:own] if row.ahead > 0.0]
    others = above[-1:] or card.nearby[own + 1 : own + 2]
    if not others:
        return []
    other = others[0]
    gap = abs(header.rounded(other.rating) - header.rounded(other.rating - other.ahead))
    who = header.player_link(other.player)
    place = f", {ordinal_number(other.rank)}" if other.rank else ""
    if not above:
        return [Tile("Lead", counted_points(gap), Shape("ahead of {}{}.").format(who, place), is_wide=True)]
    reach = ahead.reach(other.ahead) if ahead is not None else Markup("")
    if not reach and card.best_days:
        best = card.best_days[0]
        enough = Shape("A day like {} ({}) would be enough.")
        short = Shape("Even the best day so far, {} ({}), would not be enough.")
        words = enough if best.change >= other.ahead else short
        reach = words.format(header.event_link(best), header.change(best.shown))
    note = Shape("{} {}{}. {}").format("behind" if gap else "with", who, place, reach)
    return [Tile("Next rank", counted_points(gap) if gap else "Level", note, is_wide=True)]


def counted_points(points: Decimal) -> str:
    return f"{points} point{'' if points == 1 else 's'}"


def encounters_tile(header: PoolHeader, card: PlayerCard) -> Tile:
    beaten = [encounter for encounter in card.encounters if encounter.ahead > encounter.behind]
    worst = card.encounters[-1]
    winner, lost = header.player_link(worst.opponent), f"{worst.behind} of {worst.met} times"
    if not beaten:
        return Tile("Beaten most by", winner, lost, is_wide=True)
    first, *others = beaten
    words = [f"{first.ahead} of {first.met} times"]
    words += [
        Shape("{} {} of {}").format(header.player_link(other.opponent), other.ahead, other.met) for other in others
    ]
    note = Markup(", ").join(words)
    if worst.behind > worst.ahead:
        note += Shape(". Beaten most by {}, {}").format(winner, lost)
    return Tile("Beats most", header.player_link(first.opponent), note + ".", is_wide=True)


def rating_note(header: PoolHeader, card: PlayerCard) -> str:
    words = [card.tier] if card.tier else []
    words += [f"rating {header.rating(card.rating)}"] if header.score_digits is not None else []
    established = ", ".join([*words, "provisional" if card.provisional else "established"])
    if card.deviation is None:
        usual = sum(abs(change.shown) for change in card.form) / max(1, len(card.form))
        return f"{established}; an event changes it by about {header.rounded(usual)}"
    return f"{established}; {header.margin(card.deviation)}, in 19 out of 20 cases"


def streak_tile(card: PlayerCard) -> Tile:
    streaks = card.streaks
    wins, current, words = streaks.wins, streaks.current_wins, "won in a row"
    if wins < 2:  # noqa: PLR2004  (a row needs two)
        wins, current, words = streaks.gains, streaks.current_gains, "in a row that raised the rating"
    return Tile("Best streak", f"{wins:,}", f"{'event' if wins == 1 else 'events'} {words}; now {current}")
