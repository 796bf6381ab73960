"""Chances of winning: for two players against each other, and for a field."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
from fastapi import Query, Response
from markupsafe import Markup

from podium.errors import ParameterError
from podium.ledger.forecast import Forecast, Member, names_in
from podium.ledger.history import can_be_provisional
from podium.ledger.reasons.shares import shown_table
from podium.log.pools import Pool
from podium.pages.charts import HistoryLine, HistoryPoint, history_chart
from podium.pages.drawing import share_bar, split_bar
from podium.pages.numbers import DASH, SIGMAS, with_notes
from podium.pages.reliability import trust_of
from podium.service.http.json import MAX_SENT_CHARACTERS
from podium.service.web.boards import default_listing, ranked_card, spans_of
from podium.service.web.distribution import rating_of
from podium.service.web.rendering import PageRouter, PoolHeader, pool_header
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.views.player_models import Listing, PlayerCard
from podium.views.races.chances import Rivalry

router = PageRouter()
MAX_POINTS = 150  # maximum number of points per history
LAST_MEETINGS = 10
Name = Annotated[str, Query(max_length=MAX_SENT_CHARACTERS)]


@router.pool_page("/compare")
def compare(visit: VisiblePool, player: Name = "", other: Name = "") -> Response:
    """Compare two players. By default, compare the first two on the board."""
    store = visit.store
    pool, player, other = store.pool(visit.pool), player.strip(), other.strip()
    header = pool_header(pool)
    if not (player and other):
        best = best_players(store, pool)
        free = [name for name in best if name not in (player, other)]
        player, other = player or (free.pop(0) if free else ""), other or (free.pop(0) if free else "")
    unknown = tuple(
        (name, similar_names(store, header, name, most=5))
        for name in dict.fromkeys((player, other))
        if name and rating_of(store, visit.pool, name) is None
    )
    pair, are_one = None, False
    if player and other and not unknown:
        try:
            pair = pair_of(store, header, store.rivalry(visit.pool, player, other, newest=LAST_MEETINGS))
        except ParameterError:  # a player's former name and current name
            are_one = True
    names = f"{pair['first']} or {pair['second']}?" if pair else "Compare two players"
    return visit.show(
        "compare.html",
        names,
        tab="compare",
        description=pair_sentence(pair),
        player=player,
        other=other,
        unknown=unknown,
        are_one=are_one,
        pair=pair,
        status=404 if unknown else 422 if are_one else 200,
    )


def best_players(store: Store, pool: Pool) -> list[str]:
    listings = default_listing(store, pool), Listing(provisional=True)
    listed, everybody = (
        [row.player for row in store.leaderboard(pool.name, listing, top=3).players] for listing in listings
    )
    return listed if len(listed) > 1 else everybody


def pair_sentence(pair: dict[str, Any] | None) -> str:
    if pair is None:
        return ""
    if not pair["of_hundred"]:
        return f"{pair['first']} and {pair['second']}: neither is the favourite."
    return f"{pair['favourite']} would finish ahead of {pair['outsider']} in {pair['of_hundred']} of 100 duels."


def pair_of(store: Store, header: PoolHeader, found: Rivalry) -> dict[str, Any]:
    """Return the template's data about two players and their expected results."""
    first, second = found.players
    wins = [player.expected - (found.draw or 0.0) / 2.0 for player in found.players]
    of_first, drawn, of_second = percentages(*wins, has_draws=found.draw is not None)
    favourite, outsider = (first, second) if of_first >= of_second else (second, first)
    more = max(of_first, of_second)
    of_hundred = "" if of_first == of_second else "more than 99" if max(wins) > 0.99 else str(more)  # noqa: PLR2004
    shares, draw = (f"{of_first}%", f"{of_second}%"), "" if found.draw is None else f"draw {drawn}%"
    words = [f"{first.player} {shares[0]}", *([draw] if draw else []), f"{second.player} {shares[1]}"]
    cards, note = ranked_cards(store, header.name, (first.player, second.player))
    lines = [history(store, header, side.player) for side in (first, second)]
    then = lead_then(header, found, 1.0 if favourite is first else -1.0)
    return {
        "first": first.player,
        "second": second.player,
        "favourite": favourite.player,
        "outsider": outsider.player,
        "of_hundred": of_hundred,  # number of duels in a hundred that the favourite wins; empty without a favourite
        "each": f"{of_first} of 100" if found.draw else "half of the",  # duels that each wins if there is no favourite
        "draw": draw,
        "bar": split_bar(of_first / 100.0, ", ".join(words), drawn / 100.0),
        "shares": shares,
        "doubt": doubt(header, cards),
        "figures": figures(header, cards, lines, note),
        "chart": histories(header, lines),
        "found": found,
        # The player with the higher rating, on average, when they met, if today's ratings differ.
        "leader_then": (favourite if then > 0 else outsider).player if then else "",
        "lead_then": abs(then),
    }


def percentages(first: float, second: float, *, has_draws: bool) -> tuple[int, int, int]:
    """Return whole percentages for a win of the first side, a draw and a win of the second side. They add up to 100."""
    of_first, of_second = (min(99, max(1, round(100.0 * win))) for win in (first, second))
    of_second = min(of_second, 100 - of_first) if has_draws else 100 - of_first
    return of_first, 100 - of_first - of_second, of_second


def lead_then(header: PoolHeader, found: Rivalry, side: float) -> Decimal:
    """Return the favourite's mean lead when they met, if it was larger than now or favoured the other player.

    Otherwise, return 0.
    """
    lead = header.rounded(side * (found.mean_lead or 0.0))
    now = header.rounded(side * (found.players[0].rating - found.players[1].rating))
    return lead if lead > now or lead < 0 else Decimal(0)


def ranked_cards(store: Store, pool_name: str, names: Sequence[str]) -> tuple[list[PlayerCard], str]:
    """Return both players' cards, and the group in which they are ranked: the board's group if it lists both."""
    pool = store.pool(pool_name)
    found = [ranked_card(store, pool, name) for name in names]
    spans = {span for _, span in found}
    if len(spans) == 1 and spans != {"any"}:
        return [card for card, _ in found], f"among those who played {spans_of(pool)[spans.pop()].words}"
    cards = [card if span == "any" else store.player_card(pool_name, card.player) for card, span in found]
    return cards, "among those with an established rating" if can_be_provisional(pool.system) else "of all"


def doubt(header: PoolHeader, cards: Sequence[PlayerCard]) -> str:
    """Return a sentence about the uncertainty of both ratings if the difference between them is smaller."""
    deviations = [card.deviation for card in cards if card.deviation is not None]
    lead = abs(header.rounded(cards[0].rating) - header.rounded(cards[1].rating))
    if len(deviations) < len(cards) or lead >= (reach := header.rounded(SIGMAS * math.hypot(*deviations))):
        return ""
    own, others = map(header.margin, deviations)
    apart = f"only {lead} points apart" if lead else "level"
    return (
        f"The ratings are {apart}. This could be off by {reach} points ({own} and {others}), so either may be better."
    )


def figures(
    header: PoolHeader, cards: Sequence[PlayerCard], lines: Sequence[HistoryLine], ranked: str
) -> tuple[tuple[str, str, list[str], list[float]], ...]:
    """Return names, notes and both players' values, as text and as numbers of which the larger is better."""
    highest = [line.best.rating for line in lines]
    ranks = [DASH if card.rank is None else f"{card.rank:,}" for card in cards]
    found = [("Rating", "", [header.rating(card.rating) for card in cards], [card.rating for card in cards])]
    if all(card.deviation is not None for card in cards):
        deviations = [card.deviation or 0.0 for card in cards]
        found.append(
            ("Uncertainty", "the true rating is this close, 19 times in 20", list(map(header.margin, deviations)), [])
        )
    found.append(("Rank", ranked, ranks, [-(card.rank or math.inf) for card in cards]))
    found.append(("Highest rating", "without uncertain ratings", list(map(header.rating, highest)), highest))
    moved = [
        with_notes(header.change(card.last_ten_shown), [("soft", f"in {card.last_ten_events}")])
        if card.last_ten_events
        else DASH
        for card in cards
    ]
    found.append(("Last events", "at most ten, without the first five", moved, []))
    found.append(("Events", "", [f"{card.events:,}" for card in cards], []))
    return tuple(found)


def history(store: Store, header: PoolHeader, player: str) -> HistoryLine:
    curve = store.rating_curve(header.name, player, most=MAX_POINTS)
    points = [HistoryPoint(header.local(point.when), point.rating, point.deviation) for point in curve]
    return HistoryLine(player, points)


def histories(header: PoolHeader, lines: Sequence[HistoryLine]) -> Markup:
    if max(len(line.points) for line in lines) < 2:  # noqa: PLR2004  (a line needs two)
        return Markup("")
    ends = [f"{line.player} {header.rating(line.points[-1].rating)}" for line in lines]
    return history_chart(lines, f"Ratings over time; now {ends[0]}, {ends[1]}", digits=header.digits, height=216)


MAX_ENTRANTS = 64
MAX_SIDES, MAX_SENT_SIDE = 32, 4000  # maximum numbers of sides, and of characters per side
MAX_COLUMNS = 12  # maximum number of columns for places; in larger fields, the places after the tenth share a column
SINGLE_COLUMNS, GROUP = 10, 5
PODIUM = 3
MIN_PODIUM_FIELD = 5  # in smaller fields, nearly everyone reaches the podium
SHADES = 9  # number of shades of colour, in addition to none
HUNDRED = Decimal(100)
SHARP = 99  # percentage; even higher chances are not certain


@router.pool_page("/predict")
def predict(
    visit: VisiblePool,
    entrants: Annotated[list[Annotated[str, Query(max_length=MAX_SENT_CHARACTERS)]] | None, Query()] = None,
    side: Annotated[list[Annotated[str, Query(max_length=MAX_SENT_SIDE)]] | None, Query(max_length=MAX_SIDES)] = None,
) -> Response:
    """Predict the result of a field of players, or of sides such as `Ana,Ben`.

    The default is the newest event's field.
    """
    store = visit.store
    header, newest = visit.header, None
    names, sides = (tuple(dict.fromkeys(filter(None, map(str.strip, names or ())))) for names in (entrants, side))
    if not names and not sides:
        newest = store.leaderboard(visit.pool, Listing(), top=1).newest
        changes = () if newest is None else store.event(visit.pool, newest.event_id).changes
        names = tuple(change.player for change in sorted(changes, key=lambda entrant: -entrant.rating))
    taken, members, field, reason = names[:MAX_ENTRANTS], names_in(sides), None, ""
    try:
        if sum(map(len, members)) > MAX_ENTRANTS:
            reason = f"the sides have more than {MAX_ENTRANTS} players"
        elif taken or sides:
            alone, *together = (
                [Member(name, new=True) for name in member] for member in (taken, *members)
            )  # checks both
            forecast = store.predict(visit.pool, alone, sides=together, top=PODIUM)
            field = field_of(store, header, forecast, taken, sides)
    except ParameterError as error:
        reason = str(error)
    return visit.show(
        "predict.html",
        "Who wins?",
        tab="compare",
        description=field_sentence(field),
        entrants=taken,
        sides=sides,
        newest=newest,
        left_out=len(names) - len(taken),
        reason=reason,
        field=field,
        trust=trust_of(store.pool_facts(visit.pool).reliability),
        status=422 if reason and newest is None else 200,
    )


def field_sentence(field: dict[str, Any] | None) -> str:
    if field is None:
        return ""
    if not field["favourites"]:
        return "Nobody stands out."
    return f"{' or '.join(field['favourites'])}, most likely: {field['odds']}."


def field_of(
    store: Store, header: PoolHeader, forecast: Forecast, entrants: Sequence[str], sides: Sequence[str]
) -> dict[str, Any]:
    """Return a field's chances in the form that the template needs."""
    size = forecast.entrants.height
    chances = forecast.ranks["chance"].to_numpy().reshape(size, size)
    singles = size if size <= MAX_COLUMNS else SINGLE_COLUMNS
    starts = [*range(singles), *range(singles, size, GROUP)]
    grouped = np.add.reduceat(chances, starts, axis=1)
    widths = np.diff([*starts, size])
    table = shown_table((100.0 * grouped).tolist(), [HUNDRED] * size, [HUNDRED * int(width) for width in widths], 0)
    most = max(max(row) for row in table)
    best = forecast.entrants.filter(win=forecast.entrants["win"][0])["player"].to_list()
    tied = best if len(best) * 2 < size or size == 2 else []  # noqa: PLR2004  (if half of them lead, nobody does)
    known = set(forecast.players) - set(forecast.newcomers)
    has_podium = size >= MIN_PODIUM_FIELD
    drawn = 0
    if forecast.draw is not None:
        first, drawn, second = percentages(*forecast.entrants["win"].to_list(), has_draws=True)
        table = [[Decimal(first), Decimal(second)], [Decimal(second), Decimal(first)]]
    rows = []
    columns = forecast.entrants.select("player", "rating", "win", "top")
    for (player, points, win, top), cells in zip(columns.iter_rows(), table, strict=True):
        podium = sum(cells[:PODIUM], Decimal(0))
        rows.append(
            {
                "player": player,
                # Newcomers and sides do not have a page.
                "address": header.path("players", player) if player in known else "",
                "is_new": player in forecast.newcomers,
                "rating": header.rating(points),
                "win": chance_words(cells[0], win),
                "podium": chance_words(podium, top),
                "bar": share_bar(float(cells[0]) / 100.0, within=float(podium) / 100.0 if has_podium else None),
                # For each place: the text (a dot below half a per cent), and the colour.
                "cells": [(str(cell) if cell else "·", f"h{round(SHADES * cell / most)}") for cell in cells],
            }
        )
    similar = {newcomer: similar_names(store, header, newcomer, most=3) for newcomer in forecast.newcomers}
    return {
        "favourites": tied if len(tied) <= 2 else [],  # noqa: PLR2004  (empty if nobody or too many stand out)
        "odds": odds_words(float(forecast.entrants["win"][0])) + (" each" if len(tied) > 1 else ""),
        "rows": rows,
        "places": [
            f"{start + 1}" if width == 1 else f"{start + 1}–{start + width}"  # noqa: RUF001  (a range)
            for start, width in zip(starts, widths, strict=True)
        ],
        "is_wide": size > MAX_COLUMNS,
        "has_podium": has_podium,
        "draw": "" if forecast.draw is None else chance_words(Decimal(drawn), forecast.draw),
        "newcomers": [
            (name, [(other, query_with(name, other, entrants, sides)) for other in others])
            for name, others in similar.items()
        ],
    }


def query_with(name: str, other: str, entrants: Sequence[str], sides: Sequence[str]) -> str:
    """Return the query for a field in which one name is replaced by another."""
    alone, *together = ([other if each == name else each for each in names] for names in (entrants, *names_in(sides)))
    texts = (",".join(f'"{each}"' if "," in each else each for each in side) for side in together)
    return urlencode([*(("entrants", each) for each in alone), *(("side", text) for text in texts)])


def chance_words(per_cent: Decimal, chance: float) -> str:
    """Return a rounded chance as text. It is never 0 or 100 unless the result is certain."""
    if per_cent < 1 and chance > 0.0:
        return "<1%"
    return ">99%" if per_cent > SHARP and chance < 1.0 else f"{per_cent}%"


def odds_words(chance: float) -> str:
    """Return a chance as a ratio of small numbers, such as "1 in 5" or "6 in 10"."""
    if chance > SHARP / 100:
        return "more than 99 in 100"
    if chance >= 0.95:  # noqa: PLR2004  (19 in 20)
        return f"{100 * chance:.0f} in 100"
    return f"{10 * chance:.0f} in 10" if chance >= 0.4 else f"1 in {1 / chance:.0f}"  # noqa: PLR2004  (1 in 2 says less)


def similar_names(store: Store, header: PoolHeader, name: str, *, most: int) -> tuple[str, ...]:
    return tuple(hit.player for hit in store.search(name, [header.name], most=most))
