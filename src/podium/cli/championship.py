"""The `standings` command, which shows championship standings for a results file."""

from typing import TYPE_CHECKING

import typer
from typer import Option

from podium.cli.results.reading import PRINTED, Input, input_option
from podium.cli.terminal import options, show
from podium.cli.terminal.app import examples, option
from podium.cli.terminal.show import Format
from podium.errors import ParameterError, UnknownError
from podium.support.words import suggestion

if TYPE_CHECKING:
    import polars as pl

    from podium.ledger.championship import Championship, ChampionshipRow

SHOWN_ROWS = 50
SHOWN_ROUNDS = 4


@examples(
    "podium standings league.csv --scheme f1 --drop 2",
    "podium standings league.csv --scheme '10,8,6,5 rounds=12' --player Ana",
    "podium standings f1.csv --scheme 'f1 sprint=3,2,1 +pole=1' --season 2021",
)
def standings(
    file: Input = input_option(),
    scheme: str = Option(
        "f1",
        metavar="SCHEME",
        help=(
            "Points: a name (f1, f1-2003, f1-1991, f1-1961, motogp, mario-kart) or a list such as 10,8,6."
            " Optionally followed by points for other kinds of races by mode (sprint=3,2,1), for awards"
            " (+pole=1, or +fastest_lap=1/10 for the top ten only), and by the number of rounds in the"
            " season (rounds=12)."
        ),
    ),
    best: int | None = option("Number of rounds that count for each player.", min=1),
    drop: int | None = option("Number of each player's worst rounds to drop.", min=1),
    teams: int | None = option("Also rank teams, counting this many of their members in each round.", min=1),
    season: str | None = option("Use only this year or period, such as 2025 or 2025-09-01/2026-05-31.", metavar="SPAN"),
    player: str | None = option("Explain the lead of this player or team over the next.", "--player", "-p"),
    pool: str | None = options.pool_option("Pool to use, if there are several."),
    form: Format = PRINTED,
) -> None:
    """Show the points of players in a championship, round by round. Points in brackets do not count.

    Ties on points are broken by the number of wins, then second places, and so on. An event's `weight` multiplies its
    points.
    """
    from podium.ledger.championship import championship
    from podium.ledger.point_schemes import read_scheme
    from podium.support.answers import as_json

    given = {"best": best, "drop": drop, "teams": teams}
    settings = [f"{name}={count}" for name, count in given.items() if count is not None]
    read = read_scheme(" ".join([scheme, *settings]))
    options.prepare()
    frame = events_in(file.read().frame, pool, season)
    found = championship(frame, read)
    rows = found.players if teams is None else found.teams
    if player is not None:
        typer.echo(lead_text(found, rows, player))
    elif form is Format.json:
        typer.echo(as_json(found).decode())
    else:
        table = standings_table(found, rows, "player" if teams is None else "team", form)
        heats = " in each heat" if has_heats(frame) else ""
        if heats and form is Format.table:
            table = table.rename({"wins": "heat wins"})
        show.show(table, form, title_of(found, scheme, teams, heats), max_rows=SHOWN_ROWS)


def events_in(frame: "pl.DataFrame", pool: str | None, season: str | None) -> "pl.DataFrame":
    """Return a pool's events in a season, which is a year, or two days with a slash between them."""
    import polars as pl

    pools = frame["pool"].unique(maintain_order=True).to_list()
    if len(pools) > 1 or pool is not None:
        if pool not in pools:
            raise ParameterError(f"--pool {pool or 'is missing'}: name one of {', '.join(pools)}.")
        frame = frame.filter(pl.col("pool") == pool)
    if season is None:
        return frame
    first, _, last = season.partition("/")
    if "started_at" in frame.columns:
        day = pl.col("started_at").dt.to_string("%Y-%m-%d")
        frame = frame.filter((day >= first) & (day.str.head(len(last or first)) <= (last or first)))
    if frame.is_empty() or "started_at" not in frame.columns:
        raise ParameterError(
            f"--season {season}: no event has such a date. Write it like 2025 or 2025-09-01/2026-05-31."
        )
    return frame


def title_of(found: "Championship", scheme: str, teams: int | None, heats: str) -> str:
    """Return the rules of a championship, such as "f1 points, best 10 of 12 rounds, newest first"."""
    name, *settings = scheme.split()
    rounds = len(found.rounds) + (found.remaining or 0)
    parts = [f"{name} points{heats}", *settings]
    if teams is not None:
        parts.append(f"best {teams} of each team")
    elif found.counting < rounds:
        parts.append(f"best {found.counting} of {rounds} rounds")
    earlier = len(found.rounds) - SHOWN_ROUNDS
    note = f"\n{earlier} earlier rounds are not shown: --format csv" if earlier > 0 else ""
    return ", ".join([*parts, "newest first"]) + note


def has_heats(frame: "pl.DataFrame") -> bool:
    """Return True if an event has several heats and no overall result, so that every heat gives points."""
    import polars as pl

    from podium.results.derived_heats import OVERALL

    if "heat" not in frame.columns:
        return False
    heats = frame.group_by("event_id").agg(count=pl.col("heat").n_unique(), overall=(pl.col("heat") == OVERALL).any())
    return not heats.filter((pl.col("count") > 1) & ~pl.col("overall").fill_null(value=False)).is_empty()


def standings_table(
    found: "Championship", rows: "tuple[ChampionshipRow, ...]", kind: str, form: Format
) -> "pl.DataFrame":
    """Return one row per player or team, and one column per round: in CSV all, otherwise the newest, newest first.

    In a table, all points have a decimal place if any player's total has one.
    """
    import polars as pl

    from podium.ledger.championship import DIGITS
    from podium.ledger.reasons.standings import plain

    rounds, blank = found.rounds, None
    if form is Format.table:
        rounds, blank = found.rounds[: -SHOWN_ROUNDS - 1 : -1], "·"
    has_parts = any(points % 1 for row in rows for points in (row.points, *(each.points for each in row.rounds)))

    def text(points: float) -> str:
        return f"{points:.{int(has_parts)}f}" if form is Format.table else plain(round(points, DIGITS))

    lines = []
    for row in rows:
        line = {"rank": row.rank, kind: row.name, "points": text(row.points), "wins": row.wins, "team": row.team}
        line |= {"reachable": row.reachable, "uncatchable": row.uncatchable}
        line |= {round_.event_id: blank for round_ in rounds}
        for round_ in row.rounds:
            if round_.event_id in line:
                points = text(round_.points)
                line[round_.event_id] = f"({points})" if round_.dropped else points
        lines.append(line)
    return pl.DataFrame(lines, infer_schema_length=None)


def lead_text(found: "Championship", rows: "tuple[ChampionshipRow, ...]", name: str) -> str:
    """Return the lead of a player or team over the next one, round by round."""
    from podium.ledger.reasons.standings import plain

    row = next((row for row in rows if row.name == name), None)
    if row is None:
        raise UnknownError(f"{name!r} is not in the standings{suggestion(name, [row.name for row in rows])}.")
    if row.lead is None:
        return f"{name} is last in the standings."
    titles = {round_.event_id: round_.title or round_.event_id for round_ in found.rounds}
    lines = [
        (titles[round_.event_id], f"{'+' if round_.points > 0 else ''}{plain(round_.points)}")
        for round_ in row.lead.rounds
    ]
    return "\n".join([row.lead.sentence(name), *(show.columns(lines) if lines else [])])
