"""A player's opponents and the results against them, taken from explanations of the latest events.

Each explanation is calculated once.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import sqlalchemy as sa

from podium.engine.tables.encoding import encode
from podium.errors import ParameterError
from podium.ledger.forecast import expected_score
from podium.ledger.reasons.explaining import Breakdown
from podium.log.players import known_numbers, names_of
from podium.log.schema import correction
from podium.log.statements import of_pool
from podium.pool.rating import positions_of, results_of
from podium.pool.roster import as_results
from podium.probability.draws import DRAW
from podium.support.arrays import Array, Floats
from podium.views.board import PlayerStanding, standing_of
from podium.views.boards.ranks import rank
from podium.views.changes import Changes, career_of
from podium.views.events import draw_now, replays_of, system_and_states, titles_of
from podium.views.models import answer_from
from podium.views.names import name_of, number_of
from podium.views.races.chances import BestWin, CommonEvent, ComparedPlayer, Comparison, RivalRow, Rivalry, Rivals
from podium.views.reader import PoolAt

MAX_EVENTS = 100  # maximum number of events to explain, which takes about a second the first time
NO_DUELS = np.empty((0, 4))
SELECT_NEWEST_CORRECTION = sa.select(sa.func.max(correction.c.seq)).where(
    of_pool(correction), correction.c.seq <= sa.bindparam("newest")
)


class Upset(NamedTuple):
    expected: float
    opponent: int
    heat: str


class Moved(NamedTuple):
    """A player's rating change in an event."""

    uid: int
    before: float
    rating: float


class ExplainedEvent(NamedTuple):
    duels: Floats  # (duels, 4): the opponent's number, the score, the expected score, the points
    upset: Upset | None


def rivals(pool: PoolAt, name: str) -> Rivals:
    """Return the player's opponents in the latest events (up to 100). The first call is slow, and its result is cached.

    Returns:
        Every opponent, with duels and expected scores, and the player's best win.

    Raises:
        UnknownError: there is no such pool or player.
    """
    name = name_of(pool, name)
    return pool.value(("rivals", name), lambda: duels_by_opponent(pool, name))


def explained_events(pool: PoolAt, stands: PlayerStanding) -> dict[Moved, ExplainedEvent]:
    """Return a player's latest events and the duels in them, newest first.

    An event is explained again only if the player's change in it is different, or if the pool has been corrected in the
    meantime.
    """
    corrected = pool.execute(SELECT_NEWEST_CORRECTION, newest=pool.snapshot.seq).scalar()
    key, version = ("duels", pool.id, stands.number), (pool.system, corrected)
    known: dict[Moved, ExplainedEvent] = pool.answers.value(key, version, dict)
    newest = career_of(pool.snapshot, stands.number).without_seasons.at(slice(None, -MAX_EVENTS - 1, -1))
    columns = (column.tolist() for column in (newest.uids, newest.before, newest.rating))
    every = [*map(Moved._make, zip(*columns, strict=True))]
    unknown = [k for k, event in enumerate(every) if event not in known]
    found = duels_in(pool, newest.at(unknown).positions, stands.player)
    known = known | {every[k]: duels for k, duels in zip(unknown, found, strict=True)}
    events = {event: known[event] for event in every}
    pool.answers.keep(key, version, events)
    return events


def duels_in(pool: PoolAt, positions: Array, name: str) -> Iterator[ExplainedEvent]:
    """Yield a player's duels in each of the events at these positions."""
    found = []
    for replay in replays_of(pool, positions):
        event = Breakdown(pool.system, *replay, name)
        found.append(
            [
                (
                    event.account.name(duel.opponent),
                    event.name_of(duel.heat),
                    duel.result,
                    duel.expected,
                    duel.contribution,
                )
                for duel in event.duels
            ]
        )
    numbers = known_numbers(pool, [*{opponent for duels in found for opponent, *_ in duels}])
    for duels in found:
        scores = [(float(numbers[opponent]), *others) for opponent, _, *others in duels]
        upsets = [
            Upset(expected, numbers[opponent], heat)
            for opponent, heat, result, expected, _ in duels
            if result > DRAW > expected  # the underdog won
        ]
        yield ExplainedEvent(np.array(scores, np.float64).reshape(-1, 4), min(upsets, default=None))


def duels_by_opponent(pool: PoolAt, name: str) -> Rivals:
    events = explained_events(pool, standing_of(pool, name))
    opponent, score, expected, points = np.concatenate([NO_DUELS, *(event.duels for event in events.values())]).T
    numbers, which = np.unique(opponent, return_inverse=True)
    together = np.concatenate([opponent[:0], *(np.unique(event.duels[:, 0]) for event in events.values())])
    names = names_of(pool, numbers.astype(np.int64).tolist())
    outcomes = score >= 0.0, score > DRAW, score == DRAW, score < DRAW
    columns = (
        np.unique(together, return_counts=True)[1],
        *(np.bincount(which[chosen], minlength=numbers.size) for chosen in outcomes),
        *(np.bincount(which, weights=values, minlength=numbers.size) for values in (score, expected, points)),
    )
    rows = [
        RivalRow(names[int(number)], *cells)
        for number, *cells in zip(numbers, *(column.tolist() for column in columns), strict=True)
    ]
    upsets = [(event.upset, moved.uid) for moved, event in events.items() if event.upset is not None]
    best = min(reversed(upsets), key=lambda row: row[0].expected, default=None)  # the oldest win if several are equal
    return Rivals(
        events=len(events),
        duels=score.size,
        won=math.fsum(score.tolist()),
        expected=math.fsum(expected.tolist()),
        opponents=tuple(sorted(rows, key=lambda row: (-row.met, -abs(row.points), row.opponent))),
        best_win=None if best is None else best_win(pool, *best, names),
    )


def best_win(pool: PoolAt, upset: Upset, uid: int, names: Mapping[int, str]) -> BestWin:
    event = pool.snapshot.events.event_of(uid)
    ((title, _),) = titles_of(pool, [event.content_seq]).values()
    moment, number = pool.moment(event.started_at), pool.sequence(event.started_at)
    return BestWin(names[upset.opponent], event.event_id, title, moment, upset.heat, upset.expected, sequence=number)


MAX_MEETINGS = 1000  # maximum number of meetings between two players to list, newest first, and to read at once
MAX_ENTRANTS = 250_000  # maximum number of entrants in meetings that are read at once
MAX_UNRANKED = 100  # maximum number of meetings without ranks, newest first, for which heats are counted
Heats = tuple[int, int, int]  # heats that one player won, drew and lost against another
NO_HEATS: Heats = (0, 0, 0)


class Meetings(NamedTuple):
    """The events in which both players were rated, with the changes of both, newest first."""

    own: Changes
    theirs: Changes

    @classmethod
    def of(cls, pool: PoolAt, one: int, two: int) -> Self:
        own, theirs = (career_of(pool.snapshot, number).without_seasons for number in (one, two))
        _, mine, others = np.intersect1d(own.uids, theirs.uids, return_indices=True)
        newest = np.argsort(-mine)
        return cls(own.at(mine[newest]), theirs.at(others[newest]))

    def at(self, where: Any) -> "Meetings":
        return Meetings(self.own.at(where), self.theirs.at(where))

    @property
    def lead(self) -> Array:
        """The number of points by which `one` was rated above the other before each event."""
        lead: Array = self.own.before - self.theirs.before
        return lead


def comparison(pool: PoolAt, name: str, other: str) -> Comparison:
    """Compare two players.

    Returns:
        Both players' ranks and ratings, the first player's expected score, and the events in which both took part.

    Raises:
        UnknownError: there is no such pool or player.
        ParameterError: both names belong to the same player.
    """
    one, two = two_numbers(pool, name, other)
    meetings = Meetings.of(pool, one, two)
    fields = pool.snapshot.events.order.at("field", meetings.own.positions)
    portion = np.arange(fields.size) // MAX_MEETINGS + np.cumsum(fields) // MAX_ENTRANTS
    listed: tuple[CommonEvent, ...] = ()
    heats = np.zeros(3, np.int64)
    for number in np.unique(portion).tolist():
        some = meetings.at(portion == number)
        scores = results_against(pool, some.own.uids, one, two)
        heats += np.sum(scores, axis=0)
        listed = listed or common_events(pool, some, scores)
    wins, draws, losses = heats.tolist()
    players = compared_players(pool, name, other)
    return Comparison(players, wins, draws, losses, listed, draw_now(pool, players[0].expected))


def compared_players(pool: PoolAt, name: str, other: str) -> tuple[ComparedPlayer, ...]:
    both = (name, other)
    system, (mine, theirs) = system_and_states(pool, both)
    expected = expected_score(system, mine, theirs), expected_score(system, theirs, mine)
    return tuple(
        answer_from(ComparedPlayer, rank(pool, player), expected=score)
        for player, score in zip(both, expected, strict=True)
    )


def rivalry(pool: PoolAt, name: str, other: str, *, newest: int = 10) -> Rivalry:
    """Return a short comparison of two players.

    Args:
        newest: number of encounters to include.

    Returns:
        Both players' ranks and ratings, the number of times each finished ahead of the other, and their latest
        encounters.

    Raises:
        UnknownError: there is no such pool or player.
        ParameterError: both names belong to the same player.
    """
    one, two = two_numbers(pool, name, other)
    meetings = Meetings.of(pool, one, two)
    ranks = meetings.own.rank, meetings.theirs.rank
    unranked = np.flatnonzero((ranks[0] == 0) | (ranks[1] == 0))
    counted = np.union1d(np.arange(min(newest, len(meetings.own))), unranked[unranked >= newest][:MAX_UNRANKED])
    scores = dict(zip(counted.tolist(), results_against(pool, meetings.own.uids[counted], one, two), strict=True))
    each_rank = enumerate(zip(*(column.tolist() for column in ranks), strict=True))
    ahead = [side_ahead(own, theirs, scores.get(number, NO_HEATS)) for number, (own, theirs) in each_rank]
    first = meetings.at(slice(newest))
    players = compared_players(pool, name, other)
    return Rivalry(
        players=players,
        meetings=len(ahead),
        ahead=ahead.count(1),
        behind=ahead.count(-1),
        mean_lead=sum(meetings.lead.tolist()) / len(ahead) if ahead else None,
        newest=common_events(pool, first, [scores[number] for number in range(len(first.own))]),
        newest_ahead=tuple(ahead[:newest]),
        draw=draw_now(pool, players[0].expected),
    )


def side_ahead(own: int, theirs: int, heats: Heats) -> int:
    """Return 1 if the first player was ahead in an event, -1 if the other player was, otherwise 0.

    Ranks decide or, if there are no ranks, heats.
    """
    if not own or not theirs:
        wins, _, losses = heats
        return (wins > losses) - (wins < losses)
    return (own < theirs) - (own > theirs)


def two_numbers(pool: PoolAt, name: str, other: str) -> tuple[int, int]:
    one, two = number_of(pool, name), number_of(pool, other)
    if one == two:
        raise ParameterError(f"{name!r} does not meet {other!r}: they are the same player")
    return one, two


def common_events(pool: PoolAt, meetings: Meetings, scores: Sequence[Heats]) -> tuple[CommonEvent, ...]:
    own, theirs = meetings
    titles, shown = titles_of(pool, own.content_seqs), zip(map(float, own.shown), map(float, theirs.shown), strict=True)
    columns = own.started_at, own.gain, theirs.gain, own.rank, theirs.rank, meetings.lead
    rows = zip(own.event_ids, own.content_seqs, scores, shown, *(column.tolist() for column in columns), strict=True)
    return tuple(
        CommonEvent(
            event_id or "", pool.moment(time), wins, draws, losses, gain, other_gain, titles[seq].title,
            rank or None, other_rank or None, lead, points, other_points, sequence=pool.sequence(time),
        )
        for event_id, seq, (wins, draws, losses), (points, other_points), time, gain, other_gain, rank, other_rank, lead
        in rows
    )  # fmt: skip


def results_against(pool: PoolAt, uids: Array, one: int, two: int) -> list[Heats]:
    """Return the numbers of heats that `one` won, drew and lost against `two` in each event (all 0 for team mates)."""
    if not uids.size:
        return []
    table = results_of(pool.snapshot, uids)
    events = encode(as_results(pool, table), pool.system)
    columns = events.columns
    heats = columns.entries if columns.entries.size else columns.entrants
    heat = np.repeat(np.arange(heats.size - 1), np.diff(heats))
    side = columns.side if columns.side.size else np.full(heat.size, -1)
    rows = events.entry_row.array
    players = table["player"][rows]
    first, second = (np.flatnonzero(players == str(number)) for number in (one, two))
    _, mine, theirs = np.intersect1d(heat[first], heat[second], return_indices=True)
    first, second = first[mine], second[theirs]
    apart = (side[first] < 0) | (side[first] != side[second])
    behind = np.sign(columns.place[first] - columns.place[second])[apart].astype(np.int64)  # -1 for a win, and so on
    scores = np.zeros((uids.size, 3), np.int64)
    np.add.at(scores, (positions_of(table["uid"].to_numpy()[rows[first[apart]]], uids), behind + 1), 1)
    return [(won, drawn, lost) for won, drawn, lost in scores.tolist()]
