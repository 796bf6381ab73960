"""Audit where points come from and where they go, and find suspicious patterns with their evidence."""

from typing import Any

import numpy as np
import polars as pl

from podium.engine import rules
from podium.engine.system import System
from podium.engine.tables.selection import EVENT
from podium.errors import ParameterError
from podium.kernels.records import read
from podium.ledger.history import states_brought, system_at
from podium.rated import Rated
from podium.rating import rate
from podium.support.arrays import Floats, Integers
from podium.support.immutable import immutable

ROUNDING = 1e-9  # rounding error of sums, relative to the points that an event moves
TOP_PLAYERS = 10
FEW_OPPONENTS, MIN_FARMED_SHARE, MIN_FARMED_POINTS = 2, 0.8, 50.0
NEW_EVENTS, STEEP_DEVIATIONS = 10, 3.0  # number of first events; robust deviations above other newcomers
MIN_QUITS, MIN_QUIT_SHARE, QUIT_FACTOR = 5, 0.3, 3.0


@immutable
class Audit:
    """The result of an audit. Any table may be empty. An entry in a table is not an accusation."""

    months: pl.DataFrame  # points by month (one row if results have no dates)
    unbalanced: pl.DataFrame  # events of a conserving system whose exchange does not sum to zero
    farming: pl.DataFrame  # players who win most of their duel points from few opponents
    isolated_groups: pl.DataFrame  # players who only meet each other
    newcomers: pl.DataFrame  # newcomers who rise far faster than others
    quitters: pl.DataFrame  # players who quit often


def audit(results: Any, system: str | System = "elo", *, period: str = EVENT) -> Audit:
    """Audit the points of rated results: where they come from, where they go, and suspicious patterns.

    Args:
        results: The result of `podium.rate`, or anything that `podium.rate` reads.
        system: Rating system, if the results are not rated yet.
        period: Rating period for that system: `event`, or a time span such as `1w`.

    Returns:
        One table per pattern, which is empty if the pattern was not found. Points are on the system's own scale.

    Raises:
        ParameterError: The results continue from saved ratings, so newcomers cannot be identified.
    """
    rated = results if isinstance(results, Rated) else rate(results, system, period=period)
    if rated.start is not None:
        raise ParameterError(
            "an audit needs the whole history. Rate all results from the beginning, without starting ratings."
        )
    changes = with_causes(rated)
    moved = pl.col("delta") - pl.col("base_points")
    nets = changes.group_by("update", maintain_order=True).agg(
        pl.col("event_id").last(), pl.col("started_at").last(), net=moved.sum(), moved=moved.abs().sum()
    )
    return Audit(
        months=month_table(*months(rated, changes, nets)),
        unbalanced=unbalanced(rated, nets),
        farming=farming(rated, changes),
        isolated_groups=isolated_groups(rated),
        newcomers=steep_newcomers(changes),
        quitters=quitters(rated),
    )


def with_causes(rated: Rated) -> pl.DataFrame:
    """Return the history, with each row's update and participation points, and with each player's first row marked."""
    rows, entrant = rated.events.ledger, rated.events.ledger.entrant.array
    update = np.searchsorted(rated.events.columns.entrants, entrant, side="right") - 1
    seat = rated.events.columns.player[entrant]
    first = np.zeros(seat.size, np.bool_)
    first[np.unique(seat, return_index=True)[1]] = True
    ends_period = np.ones(seat.size, np.bool_) if rows.ends_period is None else rows.ends_period
    base = np.where(ends_period, participation_points(rated)[entrant], 0.0)
    return rated.history.with_columns(
        update=pl.Series(update), seat=pl.Series(seat), first=pl.Series(first), base_points=pl.Series(base)
    )


def participation_points(rated: Rated) -> Floats:
    """Return the points by which entering states exceed the previous states, such as base points."""
    columns = rated.events.columns
    gained = np.zeros(columns.player.size)
    if not rules.overrides(rules.enter, rated.system):
        return gained
    brought, newcomer = states_brought(rated.system, rated.events, rated.replayed), rated.system.newcomer()
    for update in range(columns.entrants.size - 1):
        params = system_at(rated.system, rated.events, rated.replayed, update).params()
        for entrant in range(columns.entrants[update], columns.entrants[update + 1]):
            me = read(brought, entrant, newcomer)
            gained[entrant] = rules.entering_state(params, columns, entrant, me).rating - me.rating
    return gained


def unbalanced(rated: Rated, nets: pl.DataFrame) -> pl.DataFrame:
    """Return the unbalanced events of a conserving system, if all players in them have equally many opponents."""
    totals, columns = nets.select("event_id", "net", "moved"), rated.events.columns
    if not rated.system.conserves:
        return totals.clear()
    unequal = pl.col("net").abs() > ROUNDING * (1.0 + pl.col("moved"))
    if columns.opponents.size:  # a mean over opponents does not sum to zero if several quit or teams differ in size
        entries = columns.entries if columns.entries.size else columns.entrants
        first = (entries[columns.heats] if columns.heats.size else entries)[:-1]
        alike = np.minimum.reduceat(columns.opponents, first) == np.maximum.reduceat(columns.opponents, first)
        unequal &= pl.lit(pl.Series(alike[nets["update"].to_numpy()]))
    return totals.filter(unequal)


def months(rated: Rated, changes: pl.DataFrame, nets: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the points introduced, exchanged, created and leaked in each month, and the ratings at its end."""
    month = pl.col("started_at").dt.strftime("%Y-%m").fill_null("all").alias("month")
    flows = changes.group_by(month, maintain_order=True).agg(
        events=pl.col("event_id").n_unique(),
        newcomers=pl.col("first").sum(),
        introduced_starts=(pl.col("rating") - pl.col("delta")).filter("first").sum(),
        introduced_base_points=pl.col("base_points").sum(),
        exchanged=0.5 * (pl.col("delta") - pl.col("base_points")).abs().sum(),
    )
    balance = nets.group_by(month, maintain_order=True).agg(
        created=pl.col("net").clip(lower_bound=0.0).sum(), leaked=-pl.col("net").clip(upper_bound=0.0).sum()
    )
    latest = changes.group_by(month, "seat", maintain_order=True).agg(pl.col("rating").last())
    return flows.join(balance, on="month", maintain_order="left"), latest.select("month", "rating")


def month_table(flows: pl.DataFrame, latest: pl.DataFrame) -> pl.DataFrame:
    """Return the flows by month, the points in circulation, and the ratings of active players."""
    active = latest.group_by("month", maintain_order=True).agg(
        active=pl.len(),
        mean=pl.col("rating").mean(),
        median=pl.col("rating").median(),
        top_10=pl.col("rating").top_k(TOP_PLAYERS).mean(),
    )
    table = flows.join(active, on="month", maintain_order="left")
    gain = pl.col("introduced_starts") + pl.col("introduced_base_points") + pl.col("created") - pl.col("leaked")
    drift = (pl.col("created") - pl.col("leaked")) / pl.col("events")  # per event, as factors differ between sides
    return table.with_columns(drift=drift, circulation=gain.cum_sum())


def farming(rated: Rated, changes: pl.DataFrame) -> pl.DataFrame:
    """Return the players who won most of their duel points from one or two opponents."""
    duels = changes.filter(pl.len().over("update") == 2)  # noqa: PLR2004  (a duel has two players)
    if duels.is_empty() or rated.period != "event":
        return pl.DataFrame(schema={"player": pl.String, "opponents": pl.List(pl.String), "points": pl.Float64})
    other = pl.col("player").reverse().over("update").alias("opponent")
    won = duels.with_columns(other).group_by("pool", "player", "opponent").agg(points=pl.col("delta").sum())
    gains = won.filter(pl.col("points") > 0.0).sort("points", descending=True)
    by_player = gains.group_by("pool", "player", maintain_order=True).agg(
        opponents=pl.col("opponent").head(FEW_OPPONENTS),
        points=pl.col("points").head(FEW_OPPONENTS).sum(),
        share=pl.col("points").head(FEW_OPPONENTS).sum() / pl.col("points").sum(),
        others=(pl.len().cast(pl.Int64) - FEW_OPPONENTS).clip(0),
    )
    much = (pl.col("share") >= MIN_FARMED_SHARE) & (pl.col("points") >= MIN_FARMED_POINTS)
    return by_player.filter(much).sort("points", descending=True)


def isolated_groups(rated: Rated) -> pl.DataFrame:
    """Return groups of players who only play each other, except for the largest group of each pool.

    Their ratings are not comparable with other players' ratings.
    """
    columns, names = rated.events.columns, rated.events.player_names
    sizes = np.diff(columns.entrants)
    lead = np.repeat(columns.player[columns.entrants[:-1]], sizes)
    label = connected_groups(names.len(), lead, columns.player)
    rows = []
    for pool in rated.events.pools:
        labels = label[pool.first_player : pool.last_player]
        cliques, count = np.unique(labels, return_counts=True)
        for clique in cliques[np.argsort(-count, kind="stable")][1:]:
            members = names[pool.first_player : pool.last_player].filter(pl.Series(labels == clique)).to_list()
            rows.append({"pool": pool.name, "size": len(members), "players": members})
    return pl.DataFrame(rows, schema={"pool": pl.String, "size": pl.Int64, "players": pl.List(pl.String)})


def connected_groups(size: int, one: Integers, other: Integers) -> Integers:
    """Return the group of each node, numbered by its smallest node. Links join the nodes `one` and `other` in pairs."""
    group = np.arange(size)
    while True:
        smallest = np.minimum(group[one], group[other])
        joined = group.copy()
        np.minimum.at(joined, group[one], smallest)
        np.minimum.at(joined, group[other], smallest)
        while not np.array_equal(joined[joined], joined):
            joined = joined[joined]
        joined = joined[group]
        if np.array_equal(joined, group):
            return group
        group = joined


def steep_newcomers(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the newcomers whose ratings rise far more in their first events than other newcomers' ratings."""
    early = changes.filter(pl.int_range(pl.len()).over("seat") < NEW_EVENTS)
    risen = early.group_by("pool", "player", maintain_order=True).agg(
        first_event=pl.col("event_id").first(), events=pl.len(), rise=(pl.col("delta") - pl.col("base_points")).sum()
    )
    whole = risen.filter(pl.col("events") == NEW_EVENTS)
    middle = pl.col("rise").median().over("pool")
    spread = (pl.col("rise") - middle).abs().median().over("pool") * 1.4826  # converts to a standard deviation
    compared = whole.with_columns(deviations=(pl.col("rise") - middle) / spread)
    return compared.filter((pl.col("deviations") > STEEP_DEVIATIONS) & pl.col("deviations").is_finite()).sort(
        "rise", descending=True
    )


def quitters(rated: Rated) -> pl.DataFrame:
    """Return the players who quit much more often than their pool's average, and the effect on their ratings."""
    rows, quits = rated.events.ledger, rated.events.columns.quit
    if not quits.size:
        return pl.DataFrame(schema={"pool": pl.String, "player": pl.String, "quits": pl.Int64})
    changes = rated.history.with_columns(quit=pl.Series(rows.entrant.take(quits))).with_columns(
        usual=pl.col("quit").mean().over("pool")
    )
    by_player = changes.group_by("pool", "player", maintain_order=True).agg(
        quits=pl.col("quit").sum().cast(pl.Int64),
        events=pl.len(),
        share=pl.col("quit").mean(),
        usual=pl.col("usual").first(),
        points=pl.col("delta").filter(pl.col("quit") > 0.0).sum(),
    )
    often = (pl.col("share") >= MIN_QUIT_SHARE) & (pl.col("share") >= QUIT_FACTOR * pl.col("usual"))
    return by_player.filter((pl.col("quits") >= MIN_QUITS) & often).sort("quits", descending=True)
