"""The figures of a player, as the first screen of a phone has them: how good, how sure, what moved, what is next."""

from decimal import Decimal

from markupsafe import Markup

from podium.ledger.history import FINDING_EVENTS
from podium.pages.careers import Tile
from podium.pages.numbers import SIGMAS, Shape, change, day, day_words, direction, moved, named, rating
from podium.service.web.ahead.calendar import Upcoming
from podium.service.web.rendering import PoolHeader, pool_address
from podium.store.reading.player_models import FormLine, PlayerCard
from podium.support.words import ordinal_number, shown

SETTLED_BY_EVENTS = f"A rating counts as settled from event {FINDING_EVENTS} on."


def tiles(header: PoolHeader, card: PlayerCard, rank: Tile, rule: str, ahead: Upcoming | None) -> tuple[Tile, ...]:
    """What a player wants to know first, in that order.

    Args:
        rank: where the player stands.
        rule: when a rating is settled; empty where the system has no rule of its own.
        ahead: the next race.
    """
    digits = header.digits - 1
    found = [Tile("Rating", rating(card.rating, digits), rating_note(header, card)), rank]
    if card.provisional:
        found.append(Tile("Settled", "Not yet", rule or SETTLED_BY_EVENTS, is_wide=True))
    if card.form:
        newest = card.form[0]
        found.append(Tile("Moved", change_link(header, card, newest), event_note(header, newest, "by"), is_wide=True))
    if card.rank is not None:
        found += next_rank_tiles(header, card, ahead)
    if ahead is not None:
        found.append(Tile("Next race", ahead.link, ahead.note(), is_wide=True))
    if card.peak is not None:
        reach = "" if card.peak.deviation is None else f" ±{shown(SIGMAS * card.peak.deviation, digits)}"
        note = Shape('{} <a href="{}">{}</a>').format(
            f"{reach}," if reach else "in" if header.is_counted else "on",
            pool_address(header.name, "events", card.peak.event_id, card.player),
            day_words(card.peak.when),
        )
        found.append(Tile("Peak", rating(card.peak.rating, digits), note))
    most = max((*card.best_days[:1], *card.worst_days[:1]) or card.form, key=lambda each: abs(each.shown), default=None)
    if most is not None:
        found.append(Tile("Mattered most", change_link(header, card, most), event_note(header, most)))
    if card.encounters:
        found.append(encounters_tile(header, card))
    if card.peak is not None:
        found.append(streak_tile(card))
    found.append(Tile("Events", f"{card.events:,}", f"since {day_words(card.first_when)}"))
    return tuple(found)


def change_link(header: PoolHeader, card: PlayerCard, line: FormLine) -> Markup:
    address = pool_address(header.name, "events", line.event_id or "", card.player)
    words, points = moved(line.shown, header.digits), change(line.shown, header.digits)
    link = Shape('<a href="{}" aria-label="Why did {} {}?"><span class="{}">{}</span></a>')
    return link.format(address, card.player, words, direction(line.shown), points)


def event_note(header: PoolHeader, line: FormLine, word: str = "") -> Markup:
    address = pool_address(header.name, "events", line.event_id or "")
    name = named(line.title or line.event_id or "")
    return Shape('{} <a href="{}">{}</a>, {}').format(word, address, name, day(line.when))


def next_rank_tiles(header: PoolHeader, card: PlayerCard, ahead: Upcoming | None) -> list[Tile]:
    """How far it is to the next rank, and which result reaches it; of the first, how far ahead."""
    digits = header.digits - 1
    own = next(k for k, row in enumerate(card.nearby) if row.player == card.player)
    above = [row for row in card.nearby[:own] if row.rating > card.rating]
    others = above[-1:] or card.nearby[own + 1 : own + 2]
    if not others:
        return []
    other = others[0]
    gap = abs(shown(other.rating, digits) - shown(card.rating, digits))
    who = player_link(header, other.player)
    place = f", {ordinal_number(other.rank)}" if other.rank else ""
    if not above:
        return [Tile("Lead", counted_points(gap), Shape("ahead of {}{}.").format(who, place), is_wide=True)]
    reach = ahead.reach(other.rating) if ahead is not None else Markup("")
    if not reach and card.best_days:
        best = card.best_days[0]
        address, name = pool_address(header.name, "events", best.event_id or ""), best.title or best.event_id or ""
        event = Shape('<a href="{}">{}</a> ({})').format(address, named(name), change(best.shown, header.digits))
        is_enough = card.rating + best.change >= other.rating
        words = "A day like {} reaches it." if is_enough else "The best day so far, {}, would not reach it."
        reach = Shape(words).format(event)
    note = Shape("behind {}{}. {}").format(who, place, reach)
    return [Tile("Next rank", counted_points(gap), note, is_wide=True)]


def counted_points(points: Decimal) -> str:
    return f"{points} point{'' if points == 1 else 's'}"


def player_link(header: PoolHeader, name: str) -> Markup:
    return Shape('<a href="{}">{}</a>').format(pool_address(header.name, "players", name), named(name))


def encounters_tile(header: PoolHeader, card: PlayerCard) -> Tile:
    beaten = [each for each in card.encounters if each.ahead > each.behind]
    worst = card.encounters[-1]
    lost = Shape("{}, {} of {} times").format(player_link(header, worst.opponent), worst.behind, worst.met)
    if not beaten:
        return Tile("Beaten most by", player_link(header, worst.opponent), lost.partition(", ")[2], is_wide=True)
    first, *others = beaten
    words = [f"{first.ahead} of {first.met} times"]
    words += [Shape("{} {} of {}").format(player_link(header, each.opponent), each.ahead, each.met) for each in others]
    note = Markup(", ").join(words)
    if worst.behind > worst.ahead:
        note += Shape(". Beaten most by {}").format(lost)
    return Tile("Beats most", player_link(header, first.opponent), note + ".", is_wide=True)


def rating_note(header: PoolHeader, card: PlayerCard) -> str:
    settled = "not settled" if card.provisional else "settled"
    if card.deviation is None:
        usual = sum(abs(each.shown) for each in card.form) / max(1, len(card.form))
        return f"{settled}; an event moves it by about {shown(usual, header.digits - 1)}"
    return f"{settled}; ±{shown(SIGMAS * card.deviation, header.digits - 1)}, 19 times in 20"


def streak_tile(card: PlayerCard) -> Tile:
    streaks = card.streaks
    wins, current, words = streaks.wins, streaks.current_wins, "won in a row"
    if wins < 2:  # noqa: PLR2004  (a row takes two)
        wins, current, words = streaks.gains, streaks.current_gains, "in a row that gained"
    return Tile("Best streak", f"{wins:,}", f"{'event' if wins == 1 else 'events'} {words}; now {current}")
