"""The result of an event as a table: places and scores in each heat, totals, and rating changes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Self

from podium.ledger.reasons import Explanation
from podium.ledger.reasons.duels import CAUSE
from podium.ledger.reasons.standings import WORDS, plain
from podium.ledger.reasons.wording import gap_words
from podium.pages.numbers import DASH, duration
from podium.results.derived_heats import OVERALL
from podium.support.immutable import immutable
from podium.support.words import capitalised, shown

FEW_HEATS = 4  # maximum number of heats next to the reasons; with more, the table takes the full width
# on a phone, longer tables show the first rows, the chosen row and its neighbours until the user requests all
FEW_ROWS = 12
FIRST_ROWS = 3
MAX_ROWS = 75  # maximum number on a page
SHORT_WORDS = {"quit": "quit", "dnf": "dnf", "disqualified": "dsq", "did_not_start": "dns"}


@immutable
class ResultRow:
    place: str
    player: str
    team: str
    cells: tuple[tuple[str, str], ...]  # place and note in each heat; empty if there is only one heat
    total: str  # the total that decides the event
    before: float | None
    change: Decimal | None  # rounded; None if the entrant was not rated
    is_chosen: bool
    is_extra: bool  # hidden on a phone until the user requests all rows


@immutable
class ResultTable:
    """The entrants, best first: all of them, or only those on one page and the chosen entrant."""

    heats: tuple[str, ...]
    total: str  # heading of the total that decides; empty if no total was sent
    rows: tuple[ResultRow, ...]
    caption: str
    first: int = 1  # number of the first row
    entrants: int = 0  # total number of entrants

    @property
    def last(self) -> int:
        """The number of the last row on the page."""
        return min(self.entrants, self.first + MAX_ROWS - 1)

    @property
    def pages(self) -> tuple[tuple[int, int], ...]:
        """The first and last row of each page. The list is empty if one page holds all rows."""
        firsts = range(1, self.entrants + 1, MAX_ROWS) if self.entrants > MAX_ROWS else ()
        return tuple((first, min(self.entrants, first + MAX_ROWS - 1)) for first in firsts)

    def page(self, first: int | None) -> Self:
        """Return the page that starts at a row (default: the chosen entrant's page), and the chosen entrant's row."""
        if self.entrants <= MAX_ROWS:
            return self
        if first is None:
            chosen = next((k for k, row in enumerate(self.rows) if row.is_chosen), 0)
            first = 1 + chosen - chosen % MAX_ROWS
        first = min(max(first, 1), self.entrants)
        listed = self.rows[first - 1 : first - 1 + MAX_ROWS]
        others = tuple(row for row in self.rows if row.is_chosen and row not in listed)
        return replace(self, rows=listed + others, first=first)

    @property
    def is_wide(self) -> bool:
        """True if the table needs the full width of the page."""
        return len(self.heats) > FEW_HEATS

    @property
    def is_long(self) -> bool:
        """True if some rows are hidden on a phone until the user asks for all of them."""
        return any(row.is_extra for row in self.rows)


def result_table(
    lines: Sequence[Mapping[str, Any]],
    before: Mapping[str, float],
    changes: Mapping[str, Decimal],
    chosen: str,
    basis: str,
) -> ResultTable:
    heats = list(dict.fromkeys(line["heat"] for line in lines if line["heat"] != OVERALL))
    several = len(heats) > 1
    columns = heats if several else []
    in_heat = {(line["heat"], line["player"]): line for line in lines}
    deciding = (
        OVERALL if any(line["heat"] == OVERALL for line in lines) else None if several else next(iter(heats), None)
    )
    by_player = {player: in_heat.get((deciding, player)) for player in dict.fromkeys(line["player"] for line in lines)}
    order = sorted(by_player, key=lambda player: rank_of(by_player[player]))
    extra = left_out(order, chosen)
    head = total_head([line for line in by_player.values() if line is not None], several=several)
    teams = {line["player"]: line["team"] for line in reversed(lines) if line["team"]}
    rows = []
    for player in order:
        line = by_player[player]
        rows.append(
            ResultRow(
                place=place_of(line),
                player=player,
                team=teams.get(player, ""),
                cells=tuple(cell_of(in_heat.get((heat, player))) for heat in columns),
                total=(mark_of(line) or DASH) if head else "",
                before=before.get(player),
                change=changes.get(player),
                is_chosen=player == chosen,
                is_extra=player in extra,
            )
        )
    heads = tuple(heat_head(heat) for heat in columns)
    numbered = next((head for head in heads if head[1:].isdecimal()), "")
    words = f"{numbered} is heat {numbered[1:]}: the place, with the submitted value below it." if numbered else ""
    caption = f"{basis} {words}".strip()
    return ResultTable(heads, head, tuple(rows), caption, entrants=len(rows))


def heat_head(heat: str) -> str:
    """Return the heading of a heat's column: H1 for heat 1, or else the heat's name."""
    number = heat.lower().removeprefix("heat").strip()
    return f"H{number}" if number.isdecimal() else capitalised(heat)


def rank_of(line: Mapping[str, Any] | None) -> tuple[int, bool]:
    """Return the key by which a line is sorted. Lines without a place come last."""
    if line is None or line["place"] is None:
        return 10**9, True
    return line["place"], line["status"] != "finished"


def place_of(line: Mapping[str, Any] | None) -> str:
    return DASH if line is None or line["place"] is None else str(line["place"])


def cell_of(line: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return the cell for a player in a heat, which shows the status if the player did not finish."""
    if line is None:
        return DASH, ""
    if line["status"] != "finished":
        note = plain(line["score"]) if line["score"] is not None else ""
        return SHORT_WORDS[line["status"]], note
    return place_of(line), mark_of(line)


def mark_of(line: Mapping[str, Any] | None) -> str:
    """Return a score, a time or the gap to the first player in the form in which it was sent."""
    if line is None:
        return ""
    if line["status"] != "finished" and line["score"] is None:
        return WORDS[line["status"]]
    if line["score"] is not None:
        return plain(line["score"])
    if line["time_s"] is None:
        return ""
    return f"+{duration(line['gap_s'])}" if line["gap_s"] else duration(line["time_s"])


def total_head(lines: Sequence[Mapping[str, Any]], *, several: bool) -> str:
    """Return the heading for the column with the decisive total."""
    if any(line["score"] is not None for line in lines):
        return "Total" if several else "Score"
    return "Time" if any(line["time_s"] is not None for line in lines) else ""


def left_out(order: Sequence[str], chosen: str) -> frozenset[str]:
    """Return the players in a long table who are hidden on a phone until the user asks for all of them."""
    if len(order) <= FEW_ROWS:
        return frozenset()
    middle = order.index(chosen) if chosen in order else 0
    visible = {*range(FIRST_ROWS), *range(middle - 1, middle + 2)}
    return frozenset(player for k, player in enumerate(order) if k not in visible)


MAX_HEATS = 7  # maximum number of columns for heats, including the overall result
MAX_DUELS = 60


@immutable
class DuelRow:
    """A row for an opponent, or for another cause."""

    opponent: str  # empty for another cause
    label: str  # label of the cause
    rated: str  # the opponent's rating, compared with the player's: "475 below"
    expected: float | None
    cells: tuple[Decimal | None, ...]  # one per heat; None if there was no duel
    total: Decimal


@immutable
class DuelTable:
    heats: tuple[str, ...]  # empty if there is only one heat
    rows: tuple[DuelRow, ...]
    totals: tuple[Decimal, ...]  # totals of the heats
    total: Decimal


def duel_table(explanation: Explanation) -> DuelTable | None:
    """Return the table for an explanation, or None if it is too large, or if its parts are not single heats."""
    groups, digits = explanation.groups, explanation.digits
    rows = explanation.rows.to_dicts()
    duels = [row for row in rows if row["opponent"] is not None]
    heats = list(dict.fromkeys(row["heat"] for row in duels))
    by_opponent: dict[str, list[dict[str, Any]]] = {}
    for row in duels:
        by_opponent.setdefault(row["opponent"], []).append(row)
    parts = [group for group in groups if group.kind != CAUSE]
    are_cells = all(len({row["heat"] for row in rows}) == len(rows) for rows in by_opponent.values())
    are_heats = len(heats) < 2 or len(parts) == len(heats)  # noqa: PLR2004  (heats)
    if not duels or len(heats) > MAX_HEATS or len(by_opponent) > MAX_DUELS or not are_cells or not are_heats:
        return None
    lines = [opponent_row(name, rows, heats, digits) for name, rows in by_opponent.items()]
    sign = 1 if explanation.shown_change < 0 else -1
    lines.sort(key=lambda line: sign * line.total)
    several = len(heats) > 1
    causes = [
        DuelRow("", group.label, "", None, tuple(None for _ in heats) if several else (), group.shown)
        for group in groups
        if group.kind == CAUSE
    ]
    names = tuple(map(heat_head, heats)) if several else ()
    totals = tuple(group.shown for group in parts) if several else ()
    return DuelTable(names, (*lines, *causes), totals, explanation.shown_change)


def opponent_row(name: str, rows: list[dict[str, Any]], heats: list[str], digits: int) -> DuelRow:
    in_heat = {row["heat"]: shown(row["shown"], digits) for row in rows}
    expected = sum(row["expected"] for row in rows) / len(rows)
    cells = tuple(in_heat.get(heat) for heat in heats) if len(heats) > 1 else ()
    return DuelRow(name, "", gap_words(rows[0]["gap"], digits), expected, cells, sum(in_heat.values(), Decimal(0)))
