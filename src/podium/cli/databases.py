"""Commands on a store itself: db, pool, season."""

import shutil
import sqlite3
from pathlib import Path
from typing import Annotated

import typer

from podium.cli import show
from podium.cli.options import Settings, Shape, SystemFile, SystemName, chosen_system
from podium.cli.show import Format
from podium.cli.storing import DEFAULT, Actor, Database, PoolName, opened, verify
from podium.errors import ParameterError

db = typer.Typer(help="Make, move and keep a database.", no_args_is_help=True, rich_markup_mode=None)
pool = typer.Typer(help="Open and list ladders.", no_args_is_help=True, rich_markup_mode=None)
season = typer.Typer(help="Begin seasons, and read how they ended.", no_args_is_help=True, rich_markup_mode=None)


@db.command("init")
def init(url: Database = DEFAULT) -> None:
    """Make the database, or bring its schema up to date."""
    opened(url).close()
    typer.echo(f"{url} is ready")


@db.command("upgrade")
def upgrade(url: Database = DEFAULT) -> None:
    """Bring the schema up to date."""
    init(url)


@db.command("backup")
def backup(out: Annotated[Path, typer.Argument(help="The copy to write.")], url: Database = DEFAULT) -> None:
    """Copy an SQLite database while it is in use; PostgreSQL has pg_dump."""
    source = sqlite_path(url)
    if out.exists():
        raise ParameterError(f"{out} is there already")
    part = out.with_name(f".{out.name}.part")
    try:
        with sqlite3.connect(source) as live, sqlite3.connect(part) as copy:
            live.backup(copy)
        live.close()
        copy.close()
        part.replace(out)
    except (sqlite3.Error, OSError) as error:
        part.unlink(missing_ok=True)
        raise ParameterError(f"{out}: cannot be written ({error})") from error
    typer.echo(f"{url} is copied to {out}")


@db.command("restore")
def restore_database(
    source: Annotated[Path, typer.Argument(help="A copy that backup made.")], url: Database = DEFAULT
) -> None:
    """Put a copy in the place of a database that is not there any more, and verify it."""
    target = sqlite_path(url, must_exist=False)
    if target.exists():
        raise ParameterError(f"{target} is there; move it away first")
    if not source.exists():
        raise ParameterError(f"{source}: there is no such file")
    shutil.copyfile(source, target)
    verify(url)


def sqlite_path(url: str, *, must_exist: bool = True) -> Path:
    """The file of an SQLite database.

    Raises:
        ParameterError: it is another database, or not there.
    """
    if "://" in url and not url.startswith("sqlite:///"):
        raise ParameterError("this is for SQLite files; PostgreSQL has pg_dump and pg_restore")
    path = Path(url.removeprefix("sqlite:///"))
    if must_exist and not path.exists():
        raise ParameterError(f"{path}: there is no such file")
    return path


@pool.command("create")
def create_pool(
    name: Annotated[str, typer.Argument(help="The ladder's name.")],
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    url: Database = DEFAULT,
) -> None:
    """Open a ladder that is rated with a system."""
    made = chosen_system(system, settings, system_file)
    opened(url).create_pool(name, made)
    typer.echo(f"pool {name} is rated with {made.name}")


@pool.command("list")
def list_pools(url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the ladders."""
    import polars as pl

    rows = [(each.name, each.system.name) for each in opened(url).pools()]
    show.show(pl.DataFrame(rows, schema={"pool": pl.String, "system": pl.String}, orient="row"), form)


@pool.command("configure")
def configure_pool(
    name: Annotated[str, typer.Argument(help="The ladder's name.")],
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Rate a ladder with another system, or other parameters, from its first event on."""
    made = chosen_system(system, settings, system_file)
    with show.progress("rating anew"):
        changed = opened(url).configure(name, made, actor=actor)
    typer.echo(f"pool {name} is rated with {made.name}; {changed} changes of ratings are new")


@season.command("begin")
def begin_season(
    name: Annotated[str, typer.Argument(help="The season's name.")],
    pool: PoolName,
    starts: Annotated[str, typer.Option(metavar="DATE", help="When it begins; a plain date is its 00:00 UTC.")],
    keep: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of each lead over a newcomer that stays: 0 levels all.")
    ],
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Draw every rating towards a newcomer's; the board as it stood before stays to be read."""
    from podium.leaderboard import instant

    changed = opened(url).begin_season(pool, name, instant(starts, whole_day=False), keep=keep, actor=actor)
    typer.echo(f"season {name} begins; {changed} changes of ratings are new")


@season.command("list")
def list_seasons(pool: PoolName, url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the seasons of a ladder."""
    import polars as pl

    rows = [(each["name"], each["starts_at"], each["keep"]) for each in opened(url).seasons(pool)]
    kinds = pl.Schema({"name": pl.String(), "starts_at": pl.Datetime("us", "UTC"), "keep": pl.Float64()})
    show.show(pl.DataFrame(rows, schema=kinds, orient="row"), form)


@season.command("board")
def season_board(
    name: Annotated[str, typer.Argument(help="The season's name.")],
    pool: PoolName,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Show how the board stood when a season ended, or as it stands where it is not over."""
    show.show(opened(url).season_board(pool, name), form)
