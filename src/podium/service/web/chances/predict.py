"""Who wins, and who finishes where: the chances of a field."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar

import numpy as np
from fastapi import Query, Request, Response
from markupsafe import Markup

from podium.errors import ParameterError
from podium.ledger.forecast import Forecast, names_in
from podium.pages.careers import Trust, trust_of
from podium.pages.drawing.bars import share_bar
from podium.pages.numbers import rating
from podium.service.http.names import MAX_SENT_CHARACTERS
from podium.service.http.threads import CurrentStore
from podium.service.web.rendering import Page, PageRouter, PoolHeader, pool_address, pool_header, render
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.store.reading.boards.models import EventHeadline, Listing
from podium.support.rounding import shown_table

MOST_ENTRANTS = 64
MOST_SIDES, MAX_SENT_SIDE = 32, 4000  # sides, and characters of one
MOST_COLUMNS = 12  # places with a column of their own; beyond, those after the tenth share one
SINGLE_COLUMNS, GROUP = 10, 5
PODIUM = 3
MIN_PODIUM_FIELD = 5  # in smaller fields nearly everybody is on the podium
STEPS = 9  # of colour, beside none
HUNDRED = Decimal(100)
SHARP = 99  # per cent: beyond, nothing is certain
router = PageRouter()


@dataclass(frozen=True, slots=True)
class Cell:
    """The chance of a place."""

    words: str  # a dot where it is less than half a per cent
    css: str


@dataclass(frozen=True, slots=True)
class EntrantRow:
    """An entrant's chances."""

    player: str
    address: str  # empty of a newcomer, who has no page, and of a side
    is_new: bool
    rating: str
    win: str
    podium: str
    bar: Markup
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Newcomer:
    """An entrant who has not played, or a name that is misspelt."""

    player: str
    similar: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """The chances of a field."""

    favourites: tuple[str, ...]  # none where nobody stands out
    odds: str  # of each of them, in words
    rows: tuple[EntrantRow, ...]
    places: tuple[str, ...]  # heads of the columns
    is_wide: bool
    has_podium: bool
    newcomers: tuple[Newcomer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictPage(Page):
    """Who wins, and who finishes where; or why there is no answer."""

    template: ClassVar[str] = "predict.html"

    entrants: tuple[str, ...]
    sides: tuple[str, ...]  # as they were sent: `Ana,Ben`
    newest: EventHeadline | None  # whose entrants they are, where nobody was named
    left_out: int  # names beyond the most that are taken
    reason: str  # why there are no chances; empty where there are
    field: Field | None
    trust: Trust


@router.pool_page("/predict")
def predict(
    request: Request,
    visit: VisiblePool,
    store: CurrentStore,
    entrants: Annotated[list[Annotated[str, Query(max_length=MAX_SENT_CHARACTERS)]] | None, Query()] = None,
    side: Annotated[list[Annotated[str, Query(max_length=MAX_SENT_SIDE)]] | None, Query(max_length=MOST_SIDES)] = None,
) -> Response:
    """The chances of a field, of players or of sides `Ana,Ben`; of the newest event's where nobody is named."""
    names = dict.fromkeys(each.strip() for each in entrants or () if each.strip())
    sides = dict.fromkeys(each.strip() for each in side or () if each.strip())
    page = predict_page(store, visit.pool, tuple(names), tuple(sides))
    return render(request, page, status=422 if page.reason and (names or sides) else 200)


def predict_page(store: Store, pool_name: str, names: tuple[str, ...], sides: tuple[str, ...]) -> PredictPage:
    """What the page shows."""
    newest_entry = store.version(pool_name)
    header, newest = pool_header(store.pool(pool_name)), None
    if not names and not sides:
        newest = store.listed_board(pool_name, Listing(), top=1).newest
        names = () if newest is None else best_entrants(store, pool_name, newest.event_id)
    entrants, members, field, reason = names[:MOST_ENTRANTS], names_in(sides), None, ""
    try:
        if sum(map(len, members)) > MOST_ENTRANTS:
            reason = f"the sides have more than {MOST_ENTRANTS} players"
        elif entrants or sides:
            field = field_of(store, header, store.predict(pool_name, entrants, sides=members, top=PODIUM))
    except ParameterError as error:
        reason = str(error)
    return PredictPage(
        title="Who wins?",
        description=sentence_of(field),
        pool=header,
        tab="compare",
        newest_entry=newest_entry,
        entrants=entrants,
        sides=sides,
        newest=newest,
        left_out=len(names) - len(entrants),
        reason=reason,
        field=field,
        trust=trust_of(store.pool_facts(pool_name).reliability),
    )


def best_entrants(store: Store, pool_name: str, event_id: str) -> tuple[str, ...]:
    """The entrants of an event, the best rated first."""
    changes = store.event(pool_name, event_id).changes
    return tuple(each.player for each in sorted(changes, key=lambda each: -each.rating))


def sentence_of(field: Field | None) -> str:
    """The answer, for whoever is shown a link to the page."""
    if field is None:
        return ""
    if not field.favourites:
        return "Nobody stands out."
    return f"{' or '.join(field.favourites)}, most likely: {field.odds}."


def field_of(store: Store, header: PoolHeader, forecast: Forecast) -> Field:
    """The chances of a field, as the page has them."""
    size = forecast.entrants.height
    chances = forecast.ranks["chance"].to_numpy().reshape(size, size)
    singles = size if size <= MOST_COLUMNS else SINGLE_COLUMNS
    starts = [*range(singles), *range(singles, size, GROUP)]
    grouped = np.add.reduceat(chances, starts, axis=1)
    widths = np.diff([*starts, size])
    table = shown_table((100.0 * grouped).tolist(), [HUNDRED] * size, [HUNDRED * int(each) for each in widths], 0)
    most = max(max(row) for row in table)
    best = forecast.entrants.filter(win=forecast.entrants["win"][0])["player"].to_list()
    tied = best if len(best) * 2 < size or size == 2 else []  # noqa: PLR2004  (where half of them lead, nobody does)
    known = set(forecast.players) - set(forecast.newcomers)
    has_podium = size >= MIN_PODIUM_FIELD
    rows = []
    columns = forecast.entrants.select("player", "rating", "win", "top")
    for (player, points, win, top), cells in zip(columns.iter_rows(), table, strict=True):
        podium = sum(cells[:PODIUM], Decimal(0))
        rows.append(
            EntrantRow(
                player,
                pool_address(header.name, "players", player) if player in known else "",
                player in forecast.newcomers,
                rating(points, header.digits - 1),
                chance_words(cells[0], win),
                chance_words(podium, top),
                share_bar(float(cells[0]) / 100.0, within=float(podium) / 100.0 if has_podium else None),
                heat_cells(cells, most),
            )
        )
    return Field(
        favourites=tuple(tied if len(tied) <= 2 else ()),  # noqa: PLR2004  (a sentence of more is a list)
        odds=odds_words(float(forecast.entrants["win"][0])) + (" each" if len(tied) > 1 else ""),
        rows=tuple(rows),
        places=tuple(head(start, int(width)) for start, width in zip(starts, widths, strict=True)),
        is_wide=size > MOST_COLUMNS,
        has_podium=has_podium,
        newcomers=tuple(Newcomer(each, similar_names(store, header, each)) for each in forecast.newcomers),
    )


def head(start: int, width: int) -> str:
    """The places of a column."""
    return str(start + 1) if width == 1 else f"{start + 1}–{start + width}"  # noqa: RUF001  (a range)


def heat_cells(cells: Sequence[Decimal], most: Decimal) -> tuple[Cell, ...]:
    """The cells of a row: colours in even steps of the largest number."""
    return tuple(Cell(str(cell) if cell else "·", f"h{round(STEPS * cell / most)}") for cell in cells)


def chance_words(per_cent: Decimal, chance: float) -> str:
    """A chance that is rounded already; never 0 or 100 for what is not certain."""
    if per_cent < 1 and chance > 0.0:
        return "<1 %"
    return ">99 %" if per_cent > SHARP and chance < 1.0 else f"{per_cent} %"


def odds_words(chance: float) -> str:
    """A chance in small numbers: "1 in 5", "6 in 10"."""
    if chance > SHARP / 100:
        return "more than 99 in 100"
    if chance >= 0.95:  # noqa: PLR2004  (19 in 20)
        return f"{100 * chance:.0f} in 100"
    return f"{10 * chance:.0f} in 10" if chance >= 0.4 else f"1 in {1 / chance:.0f}"  # noqa: PLR2004  (1 in 2 says less)


def similar_names(store: Store, header: PoolHeader, name: str) -> tuple[str, ...]:
    """Names like one that nobody has."""
    return tuple(each.player for each in store.search(name, [header.name], most=3))
