"""Pages about the distribution of ratings, about clubs and equipment, and about the best players in hindsight."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Annotated, Final

from fastapi import Query, Response

from podium.errors import UnknownError
from podium.pages.drawing import distribution_bars
from podium.pages.numbers import rating
from podium.service.web.rendering import PageRouter, chosen_player, pool_header
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.support.immutable import immutable
from podium.support.words import capitalised, counted, plural
from podium.views.boards.ranks import GROUP_BEST
from podium.views.models import RatingCount

router = PageRouter()
MAX_BARS: Final = 40
BAR_STEPS: Final = (1, 2, 5)


@immutable
class RatingRange:
    """A bar of the chart: the players with ratings from `low` to `high`."""

    low: int
    high: int
    players: int
    share: float
    is_own: bool


@router.pool_page("/distribution")
def distribution(visit: VisiblePool) -> Response:
    header, counts = visit.header, visit.store.distribution(visit.pool)
    players = sum(count.players for count in counts)
    own = rating_of(visit.store, visit.pool, chosen_player(visit.request))
    width = bar_width(counts)
    ranges = rating_ranges(counts, width, own)
    lower, median, upper = (rating_at(counts, share) for share in (0.25, 0.5, 0.75))
    label = f"{counted(players, header.word)} by rating; half of them from {rating(lower)} to {rating(upper)}"
    return visit.show(
        "distribution.html",
        "Distribution",
        description=f"The distribution of the ratings of {counted(players, header.word)} in {header.title}.",
        players=players,
        ranges=ranges,
        chart=distribution_bars([(range_.low, range_.players) for range_ in ranges], width, own, label),
        lower_quarter=lower,
        median=median,
        upper_quarter=upper,
        own_rating=own,
    )


def rating_of(store: Store, pool_name: str, name: str) -> float | None:
    """Return the rating of the player with this name, or None."""
    try:
        return store.rank(pool_name, name).rating if name else None
    except UnknownError:
        return None


def bar_width(counts: Sequence[RatingCount]) -> int:
    """Return the width of a bar in points: 1, 2 or 5 times a power of ten, so that there are not too many bars."""
    span = counts[-1].rating + 1 - counts[0].rating if counts else 1
    widths: Iterator[int] = (step * 10**power for power in range(len(str(span)) + 1) for step in BAR_STEPS)
    return next(width for width in widths if span // width + 2 <= MAX_BARS)


def rating_ranges(counts: Sequence[RatingCount], width: int, own: float | None) -> tuple[RatingRange, ...]:
    """Return the bars of the chart, lowest first, including empty bars in between."""
    if not counts:
        return ()
    first, last = counts[0].rating // width, counts[-1].rating // width
    players = [0] * (last - first + 1)
    for bin_ in counts:
        players[bin_.rating // width - first] += bin_.players
    total = sum(players)
    lows = [(first + k) * width for k in range(len(players))]
    return tuple(
        RatingRange(low, low + width, count, count / total, own is not None and low <= own < low + width)
        for low, count in zip(lows, players, strict=True)
    )


def rating_at(counts: Sequence[RatingCount], share: float) -> int:
    """Return a whole rating such that at most this share of the players is rated lower, or 0 without players."""
    reached = [*accumulate(count.players for count in counts)]
    return counts[bisect_left(reached, math.ceil(share * reached[-1]))].rating if counts else 0


@router.pool_page("/groups/{by}")
def groups(visit: VisiblePool, by: str, best: Annotated[int, Query(ge=1, le=100)] = GROUP_BEST) -> Response:
    """Show the clubs, countries or divisions, ranked by their best players."""
    found, words = visit.store.group_ranks(visit.pool, by, best), plural(by)
    return visit.show(
        "groups.html",
        capitalised(words),
        description=f"The {words} of {visit.header.title}, ranked by their best players.",
        groups=found,
        by=by,
        best=best,
    )


@router.pool_page("/equipment")
def equipment(visit: VisiblePool) -> Response:
    pool = visit.store.pool(visit.pool)
    header, found = pool_header(pool), visit.store.equipment(visit.pool)
    if not header.kinds:
        raise UnknownError(f"{header.title}: {header.system_title} rates no equipment here")
    words = ", ".join(header.kinds)
    return visit.show(
        "equipment.html",
        capitalised(words),
        description=f"The points that {words} in {header.title} add to ratings.",
        tables=tuple((plural(kind), tuple(item for item in found if item.kind == kind)) for kind in pool.system.kinds),
    )


@router.pool_page("/best")
def best_ever(visit: VisiblePool) -> Response:
    """Show the best players of all time in hindsight, from the last calculation."""
    header, board, why_none = visit.header, None, ""
    try:
        board = visit.store.best_ever(visit.pool)
    except UnknownError as error:
        if not header.has_hindsight:
            raise
        why_none = str(error)
    return visit.show(
        "best.html",
        "Best ever, in hindsight",
        description=f"The best of {header.title}, ranked by their lead over the field of their best year, with the"
        " confidence in that order.",
        board=board,
        why_none=why_none,
    )
