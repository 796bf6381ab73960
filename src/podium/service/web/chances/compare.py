"""Two players beside each other: who is ahead, both histories, and the last meetings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, ClassVar

from fastapi import Query, Request, Response
from markupsafe import Markup

from podium.errors import ParameterError, UnknownError
from podium.pages.drawing.bars import split_bar
from podium.pages.drawing.history_chart import HistoryLine, HistoryPoint, history_chart
from podium.pages.numbers import DASH, SIGMAS, change, rating
from podium.service.http.names import MAX_SENT_CHARACTERS
from podium.service.http.threads import CurrentStore
from podium.service.web.boards.leaderboard import SPAN_WORDS, SPANS, default_span, ranked_card
from podium.service.web.rendering import Page, PageRouter, PoolHeader, pool_address, pool_header, render
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.store.log.pools import Pool
from podium.store.reading.boards.models import Listing
from podium.store.reading.models import CommonEvent, Rivalry
from podium.store.reading.players.models import PlayerCard
from podium.support.rounding import shown

MOST_POINTS = 150  # of each history
LAST_MEETINGS = 10
EVEN = 50  # of a hundred
Name = Annotated[str, Query(max_length=MAX_SENT_CHARACTERS)]
router = PageRouter()


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that nobody in the pool has."""

    name: str
    similar: tuple[tuple[str, str], ...]  # names that somebody has, and the address of the page with them


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table of both."""

    name: str
    both: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Meeting:
    """An event in which both were rated."""

    event: str
    address: str
    started_at: datetime
    rank: int | None
    change: Decimal
    other_rank: int | None
    other_change: Decimal
    ahead: int  # 1 the first, -1 the other, 0 neither
    reason_address: str
    other_reason_address: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two players, and what is expected of them."""

    first: str
    second: str
    favourite: str
    outsider: str
    of_hundred: str  # of duels, in which the favourite is ahead; empty where nobody is the favourite
    bar: Markup
    shares: tuple[str, str]
    figures: tuple[Figure, ...]
    chart: Markup
    meetings: tuple[Meeting, ...]
    meeting_count: int
    ahead: tuple[int, int, int]  # how many meetings the first, the other, and neither was ahead in
    leader_then: str  # who was rated above on average when they met, where today's ratings do not tell
    lead_then: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePage(Page):
    """Two players beside each other, or why they are not."""

    template: ClassVar[str] = "compare.html"

    player: str  # as the form has them
    other: str
    unknown: tuple[Unknown, ...]
    are_one: bool
    pair: Pair | None


@router.pool_page("/compare")
def compare(request: Request, visit: VisiblePool, store: CurrentStore, player: Name = "", other: Name = "") -> Response:
    """Two players beside each other; the first two of the board where nobody is named."""
    page = compare_page(store, visit.pool, player.strip(), other.strip())
    return render(request, page, status=404 if page.unknown else 422 if page.are_one else 200)


def compare_page(store: Store, pool_name: str, player: str, other: str) -> ComparePage:
    """What the page shows."""
    newest_entry = store.version(pool_name)
    header = pool_header(store.pool(pool_name))
    if not (player and other):
        best = best_players(store, store.pool(pool_name))
        free = [each for each in best if each not in (player, other)]
        player, other = player or (free.pop(0) if free else ""), other or (free.pop(0) if free else "")
    unknown = tuple(
        unknown_name(store, header, each, player, other)
        for each in dict.fromkeys((player, other))
        if each and not is_known(store, pool_name, each)
    )
    pair, are_one = None, False
    if player and other and not unknown:
        try:
            pair = pair_of(store, header, store.rivalry(pool_name, player, other, newest=LAST_MEETINGS))
        except ParameterError:  # a name and a former one
            are_one = True
    names = f"{pair.first} or {pair.second}?" if pair else "Compare two players"
    return ComparePage(
        title=names,
        description=sentence_of(pair),
        pool=header,
        tab="compare",
        newest_entry=newest_entry,
        player=player,
        other=other,
        unknown=unknown,
        are_one=are_one,
        pair=pair,
    )


def best_players(store: Store, pool: Pool) -> list[str]:
    """The first of the board; of everybody where it lists fewer than two."""
    listings = Listing(active_within=SPANS[default_span(store, pool)]), Listing(unsettled=True)
    listed, everybody = ([row.player for row in store.listed_board(pool.name, each, top=3).rows] for each in listings)
    return listed if len(listed) > 1 else everybody


def is_known(store: Store, pool_name: str, name: str) -> bool:
    """Whether somebody has the name and a rating."""
    try:
        store.rank(pool_name, name)
    except UnknownError:
        return False
    return True


def unknown_name(store: Store, header: PoolHeader, name: str, player: str, other: str) -> Unknown:
    """A name that nobody has, with names that are near."""
    near = [each.player for each in store.search(name, [header.name], most=5)]
    return Unknown(name, tuple((each, replaced(header, name, each, player, other)) for each in near))


def replaced(header: PoolHeader, name: str, meant: str, player: str, other: str) -> str:
    """The address of the page with a name in place of one that nobody has."""
    return pool_address(
        header.name, "compare", player=meant if player == name else player, other=meant if other == name else other
    )


def sentence_of(pair: Pair | None) -> str:
    """The answer, for whoever is shown a link to the page."""
    if pair is None:
        return ""
    if not pair.of_hundred:
        return f"{pair.first} and {pair.second}: neither is the favourite."
    return f"{pair.favourite} is ahead of {pair.outsider} in {pair.of_hundred} of 100 duels."


def pair_of(store: Store, header: PoolHeader, found: Rivalry) -> Pair:
    """Two players, as the page has them."""
    first, second = found.players
    of_first = min(99, max(1, round(100.0 * first.expected)))
    favourite, outsider = (first, second) if of_first >= EVEN else (second, first)
    certain = max(first.expected, second.expected)
    of_hundred = "" if of_first == EVEN else "more than 99" if certain > 0.99 else str(max(of_first, 100 - of_first))  # noqa: PLR2004
    shares = (f"{of_first} %", f"{100 - of_first} %")
    cards, note = ranked_cards(store, header.name, (first.player, second.player))
    then = lead_then(header, found, 1.0 if favourite is first else -1.0)
    return Pair(
        first=first.player,
        second=second.player,
        favourite=favourite.player,
        outsider=outsider.player,
        of_hundred=of_hundred,
        bar=split_bar(of_first / 100.0, f"{first.player} {shares[0]}, {second.player} {shares[1]}"),
        shares=shares,
        figures=figures(header, cards, note),
        chart=histories(store, header, (first.player, second.player)),
        meetings=tuple(
            meeting(header, met, ahead, first.player, second.player)
            for met, ahead in zip(found.newest, found.newest_ahead, strict=True)
        ),
        meeting_count=found.meetings,
        ahead=(found.ahead, found.behind, found.meetings - found.ahead - found.behind),
        leader_then=(favourite if then > 0 else outsider).player if then else "",
        lead_then=abs(then),
    )


def lead_then(header: PoolHeader, found: Rivalry, side: float) -> Decimal:
    """The favourite's mean lead in the meetings, where it was larger than now or the outsider's; else 0."""
    lead = shown(side * (found.mean_lead or 0.0), header.digits - 1)
    now = shown(side * (found.players[0].rating - found.players[1].rating), header.digits - 1)
    return lead if lead > now or lead < 0 else Decimal(0)


def ranked_cards(store: Store, pool_name: str, names: Sequence[str]) -> tuple[list[PlayerCard], str]:
    """Both players at a glance, and among whom they are ranked: as on the board, where it may list both."""
    pool = store.pool(pool_name)
    found = [ranked_card(store, pool, name) for name in names]
    spans = {span for _, span in found}
    if len(spans) == 1 and spans != {"any"}:
        return [card for card, _ in found], f"of those who played {SPAN_WORDS[spans.pop()]}"
    cards = [card if span == "any" else store.player_card(pool_name, card.player) for card, span in found]
    return cards, "of those who are settled"


def figures(header: PoolHeader, cards: Sequence[PlayerCard], ranked: str) -> tuple[Figure, ...]:
    """Both players' figures, side by side."""
    digits = header.digits - 1
    peaks = [DASH if each.peak is None else rating(each.peak.rating, digits) for each in cards]
    ranks = [DASH if each.rank is None else f"{each.rank:,}" for each in cards]
    found = [Figure("Rating", tuple(rating(each.rating, digits) for each in cards))]
    if all(each.deviation is not None for each in cards):
        reach = [f"±{shown(SIGMAS * (each.deviation or 0.0), digits)}" for each in cards]
        found.append(Figure("How sure", tuple(reach), note="19 times in 20"))
    found.append(Figure("Rank", tuple(ranks), note=ranked))
    found.append(Figure("Peak", tuple(peaks)))
    found.append(Figure("Last ten events", tuple(change(each.last_ten_shown, header.digits) for each in cards)))
    found.append(Figure("Events", tuple(f"{each.events:,}" for each in cards)))
    return tuple(found)


def histories(store: Store, header: PoolHeader, names: tuple[str, str]) -> Markup:
    """Both histories in one chart."""
    curves = [store.rating_curve(header.name, each, most=MOST_POINTS) for each in names]
    lines = [
        HistoryLine(name, [HistoryPoint(point.started_at, point.rating) for point in curve])
        for name, curve in zip(names, curves, strict=True)
    ]
    ends = [f"{name} {rating(curve[-1].rating, header.digits - 1)}" for name, curve in zip(names, curves, strict=True)]
    return history_chart(lines, f"Ratings over time; now {ends[0]}, {ends[1]}", digits=header.digits, height=216)


def meeting(header: PoolHeader, met: CommonEvent, ahead: int, first: str, second: str) -> Meeting:
    """A meeting as a line of the table."""
    reasons = [pool_address(header.name, "events", met.event_id, name) for name in (first, second)]
    return Meeting(
        met.title or met.event_id,
        pool_address(header.name, "events", met.event_id),
        met.started_at,
        met.rank,
        shown(met.shown, header.digits),
        met.other_rank,
        shown(met.other_shown, header.digits),
        ahead,
        *reasons,
    )
