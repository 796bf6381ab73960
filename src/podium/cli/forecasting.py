"""Commands that look ahead or back from a results file: predict, stakes, hindsight, strength."""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer import Option

from podium.cli.rating import rated_file
from podium.cli.results.reading import PRINTED, Input, input_option
from podium.cli.terminal import options, show
from podium.cli.terminal.app import Made, examples, find_settings, flag, option
from podium.cli.terminal.options import SYSTEM
from podium.cli.terminal.show import Format
from podium.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    from podium.engine.system import System
    from podium.ledger.forecast import Forecast, Member

Seen = TypeVar("Seen")


def field_named(
    entrants: list[str] | None = option(
        "Entrants. Put quotes around a name that contains a comma. Can be repeated.", "--entrants", metavar="A,B,..."
    ),
    entrant: list[str] | None = option(
        "One entrant. Commas and quotes are part of the name. Can be repeated.", "--entrant", metavar="NAME"
    ),
    side: list[str] | None = option(
        "Members of one team. Put quotes around a name that contains a comma. Can be repeated.",
        "--side",
        metavar="A,B,...",
    ),
    having: list[str] | None = option(
        "An entrant's car, club or side: Ana,car=Ferrari or Ana,side=white. Entrants not named elsewhere are"
        " added. Can be repeated.",
        "--with",
        metavar="NAME,KIND=NAME,...",
    ),
    new: list[str] | None = option(
        "Name of a newcomer, if it is similar to a known name. Can be repeated.", "--new", metavar="NAME"
    ),
) -> tuple[list["Member"], list[list["Member"]]]:
    """Return the members who compete individually, and the members of each side, with their equipment."""
    from podium.ledger.forecast import Member, members_in, names_in

    names = [name for row in names_in(entrants or []) for name in row]
    names += [name.strip() for name in entrant or [] if name.strip()]
    sides = names_in(side or [])
    given = members_in(having or [])
    known = {*names, *chain.from_iterable(sides)}
    names += [name for name in given if name not in known]
    if not names and not sides:
        raise ParameterError(
            "no entrants are named. Name entrants with --entrants A,B,..., --entrant NAME or --side A,B,..."
        )
    alone, *several = (
        [(given.get(name) or Member(name))._replace(new=name in (new or ())) for name in members]
        for members in (names, *sides)
    )
    return alone, several


FIELD: Any = Made(field_named)
POOL = options.pool_option("Use the ratings of this pool, if there are several.")


def names_called(sides: Sequence[Sequence["Member"]], kinds: Sequence[str]) -> list[str]:
    """Return the names of entrants and of rated equipment, such as `Ferrari (car)`."""
    from podium.engine.tables.equipment import called
    from podium.ledger.forecast import names_to_rate

    return [called(name) for name in names_to_rate(sides, kinds)]


def resolve_field(
    sides: list[list["Member"]], player: str | None, look: Callable[..., Seen]
) -> tuple[Seen, list[list["Member"]]]:
    """Make a forecast. In a terminal, ask about names that are similar to known ones.

    Args:
        sides: The members who compete individually, then the members of each side.
        player: The player whose table is to be shown, or None.
        look: Function of the individual members, the player and the sides.

    Returns:
        The result of `look`, and the sides with the final names.

    Raises:
        ParameterError: A name is similar to a known one, and there is no terminal to ask.
    """
    from podium.cli.service.storing import is_terminal
    from podium.errors import NearNameError
    from podium.ledger.forecast import Member

    if player is not None and not any(player == member.player for side in sides for member in side):
        sides = [[*sides[0], Member(player)], *sides[1:]]
    while True:
        try:
            return look(sides[0], player, sides=sides[1:]), sides
        except NearNameError as error:
            name, near = error.name, error.near
            if not is_terminal():
                remedy = f"Write that name, or add --new {shlex.quote(name)}."
                raise ParameterError(f"{name} has not played, but {near} has. {remedy}") from None
            is_near = typer.confirm(f"{name} has not played. Did you mean {near}?", default=True, err=True)
            now = Member(near) if is_near else Member(name, new=True)
            player = now.player if player == name else player
            sides = [
                [
                    member._replace(player=now.player, new=now.new) if member.player == name else member
                    for member in side
                ]
                for side in sides
            ]


def warn(
    field: Iterable["Member"], system: "System", strangers: Mapping[str, str | None], file: Input, pool: str | None
) -> None:
    """Report equipment that the system does not rate, and entrants without results, with similar names."""
    members = list(field)
    read = {*system.kinds, *(["side"] if system.rates_sides else [])}
    given = [kind for member in members for kind in (*member.shared, *(["side"] if member.side else []))]
    for kind in dict.fromkeys(given):
        if kind not in read:
            show.note(f"{system.name} does not rate {kind}; predicted without it")
    confirmed = {member.player for member in members if member.new}
    scope = file if pool is None else f"pool {pool} of {file}"
    for name, near in strangers.items():
        hint = f" (did you mean {near}?)" if near and name not in confirmed else ""
        show.note(f"{name} is not in {scope}{hint}; predicted as a newcomer")


@examples(
    "podium predict results.csv --entrants Ana,Ben,Cleo",
    'podium predict results.csv --entrant "Doe, John" --entrant "Roe, Jane"',
    "podium predict results.csv -s trueskill --side Ana,Ben --side Cleo,Dan",
    "podium predict f1.csv -s adaptive:shared=car --with Ana,car=Ferrari --with Ben",
)
def predict(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    field: tuple[list["Member"], list[list["Member"]]] = FIELD,
    top: int = Option(3, min=1, help="Show each entrant's chance of finishing in one of this many top places."),
    pool: str | None = POOL,
    period: str = options.PERIOD,
    columns: str | None = options.SHOWN_COLUMNS,
    form: Format = PRINTED,
) -> None:
    """Predict a race or match from the ratings after FILE: chances of winning, of a top place, and for each pair."""
    with show.progress("reading", "rating", "predicting") as steps:
        rated = rated_file(file, system, period, steps)

    def look(names: list["Member"], _: str | None, sides: list[list["Member"]]) -> "Forecast":
        return rated.predict(names, sides=sides, top=top, pool=pool)

    forecast, (names, *sides) = resolve_field([field[0], *field[1]], None, look)
    strangers = rated.newcomers(names_called([names, *sides], rated.system.kinds), pool=pool)
    warn(chain(names, *sides), rated.system, strangers, file, pool)
    if form is Format.json:
        show.show_tables({"entrants": forecast.entrants, "ranks": forecast.ranks, "pairs": forecast.pairs})
        return
    chances = forecast.entrants
    if form is Format.table and columns is None:
        chances = chances_in_words(chances, top)
    show.show(chances, form, system.label, columns=columns)


def chances_in_words(chances: "pl.DataFrame", top: int) -> "pl.DataFrame":
    """Return predictions with percentages, without the chance of a top place if every entrant is sure of one."""
    import polars as pl

    from podium.pages.numbers import percent

    words = {"win": percent, "top": percent, "draw": percent, "mean_rank": "{:.1f}".format}
    shown = chances.with_columns(
        pl.col(name).map_elements(words[name], return_dtype=pl.String) for name in chances.columns if name in words
    )
    return shown.drop("top") if top >= shown.height else shown.rename({"top": f"top {top}"})


@examples(
    "podium stakes results.csv --entrants Ana,Ben,Cleo --player Ana",
    "podium stakes results.csv -s trueskill --side Ana,Ben --side Cleo,Dan",
)
def stakes(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    field: tuple[list["Member"], list[list["Member"]]] = FIELD,
    player: str | None = option(
        "Show the table for this player, who is added if missing [default: everyone].", "--player", "-p"
    ),
    heats: int = Option(
        1, min=1, max=100, help="Number of heats. The player is assumed to take the same place in each."
    ),
    at: str | None = option("Start of the race [default: the start of the last event].", metavar="TIME"),
    margin: float | None = options.MARGIN,
    pool: str | None = POOL,
    period: str = options.PERIOD,
    columns: str | None = options.SHOWN_COLUMNS,
    form: Format = PRINTED,
) -> None:
    """Show what each place in an upcoming race would be worth, based on the ratings after FILE."""
    with show.progress("reading", "rating", "imagining") as steps:
        rated = rated_file(file, system, period, steps)
    look = partial(rated.stakes, pool=pool, heats=heats, at=at, margin=margin)
    found, (names, *sides) = resolve_field([field[0], *field[1]], player, look)
    equipment = names_called([names, *sides], rated.system.kinds)
    strangers = rated.newcomers(list(dict.fromkeys([*found.field["player"].to_list(), *equipment])), pool=pool)
    warn(chain(names, *sides), rated.system, strangers, file, pool)
    if form is Format.json:
        show.show_json(found.to_dict())
        return
    if form is Format.csv or columns is not None:
        show.show(found.frame, form, columns=columns)
        return
    if player is not None and found.notice is None:
        typer.echo(f"{found.frame['player'][0]}: {found.headline()} {found.outlook()}\n")
    if found.notice is None:
        table = found.in_words() if player is None else found.in_words().drop("player")
        show.show(table, form, system.label)
    show.show(found.field, form, "The field, with the last place that costs no points")
    typer.echo(found.method)


@examples(
    "podium seed league.csv",
    "podium seed league.csv --entrants Ana,Ben,Cleo,Dan --groups 2",
    "podium seed league.csv --names",
    "podium seed league.csv --trf > open.trf",
)
def seed(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    entrants: list[str] | None = option(
        "Entrants [default: everyone in FILE]. Can be repeated.", "--entrants", metavar="A,B,..."
    ),
    groups: int | None = option("Divide the entrants into this many groups.", min=1, max=1000),
    protect: int = Option(0, max=4, min=0, help="Avoid rematches in this many opening rounds of the bracket."),
    names: bool = flag("--names", "Print only the names, one per line, as Challonge reads them."),
    trf: bool = flag("--trf", "Print a tournament report (TRF16), as pairing programs read it."),
    pool: str | None = POOL,
    period: str = options.PERIOD,
    columns: str | None = options.SHOWN_COLUMNS,
    form: Format = PRINTED,
) -> None:
    """List players as seeds of a tournament, with the best first and newcomers last.

    The bracket lines keep the best players apart for as long as possible. Pairs for the next round have similar
    strength, and avoid rematches of FILE.
    """
    import polars as pl

    from podium.ledger.forecast import Member, names_in
    from podium.ledger.seeding import Seed, meetings, tournament_report

    with show.progress("reading", "rating", "writing") as steps:
        rated = rated_file(file, system, period, steps)
    played = rated.results.frame
    met = meetings(played if pool is None else played.filter(pool=pool))
    entered = chain.from_iterable(names_in(entrants)) if entrants else rated.leaderboard(pool=pool)["player"]

    def look(members: list["Member"], _: str | None, sides: list[list["Member"]]) -> tuple[Seed, ...]:
        return rated.seeds(members, groups=groups, protect=protect, met=met, pool=pool)

    found, _ = resolve_field([[Member(name) for name in entered]], None, look)
    if names:
        typer.echo("\n".join(row.player for row in found))
        return
    if trf:
        typer.echo(tournament_report(found, pool or Path(str(file)).stem), nl=False)
        return
    table = pl.DataFrame(found, infer_schema_length=None)
    show.show(table.drop("group") if groups is None else table, form, system.label, columns=columns)


def system_with_hindsight(
    system: str | None = options.system_option(
        "PODIUM_SYSTEM or podium.toml if that system has hindsight, otherwise adaptive"
    ),
    settings: list[str] | None = options.SETTINGS,
    system_file: Path | None = options.SYSTEM_FILE,
) -> "System":
    """Return the system from the options, or `adaptive` if the default system has no hindsight."""
    from podium.ledger.hindsight import why_unavailable

    if system is None and system_file is None:
        is_named = os.environ.get(options.SYSTEM_VARIABLE, "").strip() or find_settings().get("system")
        if not is_named or why_unavailable(options.default_system()):
            system = "adaptive"
    chosen = options.chosen_system(system, settings, system_file)
    if lack := why_unavailable(chosen):
        raise ParameterError(lack)
    return chosen


WITH_HINDSIGHT: Any = Made(system_with_hindsight)


@examples("podium hindsight results.csv --at 1995-06-30", "podium hindsight results.csv -s elo --w2 50 --best")
def hindsight(
    file: Input = input_option(),
    system: "System" = WITH_HINDSIGHT,
    at: str | None = option("Show strengths on this date [default: after every event].", metavar="DATE"),
    best: bool = flag("--best", "Rank players by how far their peak was above that year's mean."),
    w2: float | None = option("Variance of a skill per day, in points squared [default: 300]. Not for adaptive."),
    pool: str | None = options.pool_option("Only this pool [default: all]."),
    form: Format = PRINTED,
) -> None:
    """Estimate how strong each player of FILE was, using later results as well.

    The systems adaptive, elo, dwz, fide and uscf can do this.
    """
    import polars as pl

    from podium.ledger.leaderboard import instant

    if best and at is not None:
        raise ParameterError("--best covers all dates. Leave out --at or --best.")
    with show.progress("reading", "rating", "looking back") as steps:
        rated = rated_file(file, system, "event", steps)
        known = rated.hindsight(w2)
    table = known.best() if best else known.frame if at is None else known.at(instant(at))
    table = table if pool is None else table.filter(pl.col("pool") == rated.pool(pool))
    show.show(table, form, system.label, max_rows=50)


@examples("podium strength results.csv --top 5", "podium strength results.csv -s folyami --chart strength.svg")
def strength(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    top: int = Option(5, min=1, help="Measure a probe's chance of finishing in one of this many top places."),
    probe: float | None = option("Rating of the probe, an imaginary entrant [default: a newcomer's]."),
    period: str = options.PERIOD,
    chart: Path | None = option("File for a chart of the strengths: .svg, .png or .html."),
    columns: str | None = options.SHOWN_COLUMNS,
    form: Format = PRINTED,
) -> None:
    """Show how strong the field of each event in FILE was, by the ratings before it."""
    from podium.reporting import plotting

    if chart is not None:
        plotting.check_path(chart)
    with show.progress("reading", "rating", "integrating") as steps:
        strengths = rated_file(file, system, period, steps).strengths(top=top, probe=probe)
        if chart is not None:
            plotting.save(plotting.race_strengths(strengths, f"{system.title}: the first {top}"), chart)
    ordered = strengths.sort("strength", descending=True) if form is Format.table else strengths
    show.show(ordered, form, system.label, max_rows=50, columns=columns)
