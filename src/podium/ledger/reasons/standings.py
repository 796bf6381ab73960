"""The finishing order of an event and the reason for it: the submitted scores, times and gaps."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.inputs import rank_at
from podium.engine.tables.encoding import Events
from podium.engine.tables.selection import UNRATED_STATUS
from podium.ledger.reasons.shares import RatingUpdate, reranked
from podium.results.derived_heats import OVERALL, Overall, overall_results, overall_rows
from podium.support.immutable import immutable

MAX_NAMED = 8  # largest field in which a sentence names everyone; in larger fields, the first three and the player
FIRST_NAMED = 3
SCHEMA = {
    "heat": pl.String,
    "player": pl.String,
    "team": pl.String,
    "place": pl.Int64,
    "status": pl.String,
    "score": pl.Float64,
    "time_s": pl.Float64,
    "gap_s": pl.Float64,
}
WORDS = {"quit": "quit", "dnf": "did not finish", "disqualified": "disqualified", "did_not_start": "did not start"}
STATUS_WORDS = WORDS | {"disqualified": "was disqualified"}  # words that follow a name


@immutable
class Line:
    """A player's result in one heat, or in the overall result."""

    heat: str | None
    player: str
    team: str | None
    place: int | None  # ties share the best of their places; None if not ranked
    status: str
    score: float | None
    time_s: float | None
    position: float | None = None  # as submitted
    team_score: float | None = None
    contested_by_teams: bool = False


@immutable
class Standings:
    """The results of an event, and the heat that decided it."""

    lines: tuple[Line, ...]
    heats: int  # number of heats, without the overall result
    deciding: tuple[Line, ...]  # the overall result, or the only heat; empty if nothing decides between heats
    derived: bool  # the overall result was derived from the heats

    def frame(self) -> pl.DataFrame:
        """Return one row per result: `heat, player, team, place, status, score, time_s`, and `gap_s` to the winner."""
        best: dict[str | None, float] = {}
        for line in self.lines:
            if line.place == 1 and line.time_s is not None:
                best[line.heat] = line.time_s
        rows = []
        for line in self.lines:
            behind = None if line.time_s is None or line.heat not in best else gap(line.time_s, best[line.heat])
            who = line.heat, line.player, line.team, line.place, line.status
            rows.append((*who, line.score, line.time_s, behind))
        return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def standings(events: Events, update: RatingUpdate, frame: pl.DataFrame, rows: Sequence[int]) -> Standings:
    number_of = {row: k for k, row in enumerate(rows)}
    sent = frame.to_dicts()
    start, stop = int(update.start[0]), int(update.stop[-1])
    players = events.player_names[events.columns.player[update.entrant]].to_list()
    of_entry = [None] * len(players) if events.entry_heat is None else events.entry_heat[start:stop].to_list()
    lines = []
    for k, row in enumerate(events.entry_row[start:stop].tolist()):
        if row in number_of:
            lines.append(entry_line(events, start + k, players[k], of_entry[k], sent[number_of[row]]))
    rated = set(events.entry_row[start:stop].tolist())
    absent = [line for row, line in zip(rows, sent, strict=True) if row not in rated]
    lines += [line_of(line, None) for line in absent if line["status"] in UNRATED_STATUS]
    names = dict.fromkeys(line.heat for line in lines if line.place is not None)
    heats = [name for name in names if name != OVERALL]
    derived = OVERALL not in names or not any(line.get("heat") == OVERALL for line in sent)
    if len(heats) > 1 and OVERALL not in names:
        counting = frame.with_row_index("row").filter(~pl.col("status").is_in(UNRATED_STATUS))
        overall = overall_results(counting)  # a system need not use it for comparisons
        rows_of_overall, ranks = overall_rows(counting, overall).to_dicts(), overall_ranks(overall).tolist()
        lines += map(line_of, rows_of_overall, ranks)
    decided = OVERALL if len(heats) > 1 or OVERALL in names else next(iter(heats), None)
    deciding = tuple(line for line in lines if line.heat == decided and line.place is not None)
    return Standings(tuple(lines), len(heats), deciding, derived and len(heats) > 1)


def entry_line(events: Events, i: int, player: str, heat: str | None, sent: dict[str, Any]) -> Line:
    """Return the result of an encoded entry. The columns alone contain the values derived from the heats."""
    columns = events.columns
    own = heat is None or (sent.get("heat") or "") == heat
    finished = bool(columns.finished[i]) if columns.finished.size else True
    status = "finished" if finished else "quit" if heat != OVERALL else "dnf"
    return Line(
        heat=heat or None,
        player=player,
        team=sent.get("team"),
        place=int(rank_at(columns, i)) or None,
        status=sent["status"] if own and sent["status"] != "finished" else status,
        score=known(columns.score, i),
        time_s=known(columns.time_s, i),
        position=sent.get("position") if own else None,
        team_score=sent.get("team_score") if own else None,
        contested_by_teams=bool(columns.side.size and columns.side[i] >= 0),
    )


def known(column: Any, i: int) -> float | None:
    return float(column[i]) if column.size and not np.isnan(column[i]) else None


def line_of(sent: dict[str, Any], place: int | None) -> Line:
    """Return the result from a row of a results table, or from an overall result derived from the heats."""
    return Line(
        heat=sent.get("heat"),
        player=sent["player"],
        team=sent.get("team"),
        place=place,
        status=sent["status"],
        score=sent.get("score"),
        time_s=sent.get("time_s"),
        position=sent.get("position"),
        team_score=sent.get("team_score"),
    )


class EventRanks(NamedTuple):
    """Ranks in events, with one element per row of the history."""

    rank: Any  # int64: rank in the overall result, or the only heat; ties share the best; 0 for no rank
    field: Any  # int64: number of rated entrants in the event


def event_ranks(events: Events) -> EventRanks:
    """Return the rank of each entrant in each event, as in `standings`, and the number of entrants."""
    columns, entrant = events.columns, events.ledger.entrant.array
    sizes = np.diff(columns.entrants)
    players = sizes
    if columns.kind.size:
        players = np.add.reduceat(1 - np.sign(columns.kind), columns.entrants[:-1]).astype(np.int64)
    field = np.repeat(players, sizes)[entrant]
    entry_rank = (columns.rank if columns.rank.size else columns.place).astype(np.int64)
    if events.entry_heat is None and not columns.kind.size:
        return EventRanks(entry_rank[entrant], field)
    last = columns.heats[1:] - 1
    heat = events.entry_heat
    overall = np.zeros(last.size, np.bool_) if heat is None else heat[columns.entries[last]].to_numpy() == OVERALL
    decided = overall | (columns.heats[:-1] == last)
    start, stop = columns.entries[last[decided]], columns.entries[last[decided] + 1]
    lengths = stop - start
    entry = np.arange(lengths.sum()) + np.repeat(start - np.cumsum(lengths) + lengths, lengths)
    rank = np.zeros(columns.player.size, np.int64)
    rank[np.repeat(columns.entrants[:-1][decided], lengths) + columns.entrant[entry]] = entry_rank[entry]
    rows = np.flatnonzero(np.repeat(~decided, sizes)[entrant])
    ranks = rank[entrant]
    if rows.size:
        ranks[rows] = derived_ranks(events.results.frame, events.ledger.row[rows])
    return EventRanks(ranks, field)


def derived_ranks(frame: pl.DataFrame, rows: Any) -> Any:
    """Return each entrant's rank, derived from the heats, or 0 if it cannot be derived."""
    status, counts = frame["status"], np.ones(frame.height, np.bool_)
    for word in UNRATED_STATUS:
        counts &= (status != word).to_numpy()
    overall = overall_results(frame if counts.all() else frame.filter(pl.Series(counts)))
    ranks = np.append(overall_ranks(overall), 0)  # the last element is for entrants without a rank
    return ranks[overall.entrant[np.cumsum(counts)[rows] - 1]]


def overall_ranks(overall: Overall) -> Any:
    """Return each entrant's rank in an overall result derived from the heats. Entrants who did not finish are last."""
    result = np.where(np.isnan(overall.score), overall.time_s, -overall.score)
    return reranked(np.where(overall.finished, result, np.finfo(np.float64).max), overall.event)[0].astype(np.int64)


def ranked_by(table: Standings, player: str) -> str:
    """Return the reason for the order as a sentence: "Ranked by the sum of the heats' scores: Ana 171, Ben 138."."""
    lines = sorted(table.deciding, key=lambda line: (line.place or 0, line.status != "finished"))
    finishers = [line for line in lines if line.status == "finished"]
    if not finishers:
        return "" if lines or table.heats < 2 else "No overall result was submitted."  # noqa: PLR2004  (heats)
    if any(line.contested_by_teams for line in lines):
        return f"{teams_ranked_by(finishers)}."
    sums = "the sum of the heats' " if table.derived else ""
    sent_places = all(line.position is not None for line in finishers)
    if all(line.score is not None for line in finishers) and not sent_places:
        basis, marks = f"by {sums}{'scores' if sums else 'score'}", [plain(line.score) for line in finishers]
    elif all(line.time_s is not None for line in finishers):
        first = finishers[0].time_s or 0.0
        marks = [f"{plain(first)} s", *(f"+{plain(gap(line.time_s or 0.0, first))}" for line in finishers[1:])]
        basis = "as submitted" if sent_places else f"by {sums}{'times' if sums else 'time'}"
    elif all(line.score is not None for line in finishers):
        basis, marks = "as submitted", [plain(line.score) for line in finishers]
    else:
        return "Ranked as submitted."
    words = [(line.player, f"{line.player} {mark}") for line, mark in zip(finishers, marks, strict=True)]
    others = [line for line in lines if line.status != "finished"]
    words += [(line.player, f"{line.player} {STATUS_WORDS[line.status]}") for line in others]
    if len(words) > MAX_NAMED:
        words = words[:FIRST_NAMED] + [word for word in words[FIRST_NAMED:] if word[0] == player]
    return f"Ranked {basis}: {', '.join(text for _, text in words)}."


def teams_ranked_by(finishers: Iterable[Line]) -> str:
    """Return the reason for the order of the teams as a sentence."""
    sides: dict[str, list[Line]] = {}
    for line in finishers:
        sides.setdefault(line.team or line.player, []).append(line)
    if all(line.team_score is not None for side in sides.values() for line in side):
        basis, marks = "scores", {name: plain(side[0].team_score) for name, side in sides.items()}
    elif all(line.position is not None for side in sides.values() for line in side):
        return "Ranked as submitted"
    else:
        sums = {name: sum(Decimal(str(line.score or 0.0)) for line in side) for name, side in sides.items()}
        basis, marks = "sums of scores", {name: plain(float(total)) for name, total in sums.items()}
    return f"Ranked by the teams' {basis}: {', '.join(f'{name} {mark}' for name, mark in marks.items())}"


def gap(time_s: float, first_s: float) -> float:
    """Return the seconds between two times, with as many digits as were submitted."""
    return float(Decimal(str(time_s)) - Decimal(str(first_s)))


def plain(number: float | None) -> str:
    """Return a number as submitted, for example 171 instead of 171.0."""
    return "" if number is None else f"{int(number)}" if number.is_integer() else f"{number}"
