"""Commands on a store itself: db, pool, season."""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from podium.cli import show
from podium.cli.files import OutputError, part_of
from podium.cli.options import Settings, Shape, SystemFile, SystemName, chosen_system
from podium.cli.show import Format
from podium.cli.storing import DEFAULT, Actor, Database, PoolName, open_store, ratings_changed, store_type, verify
from podium.errors import ParameterError, PodiumError

db = typer.Typer(help="Create, upgrade, copy and restore a database.", no_args_is_help=True, rich_markup_mode=None)
pool = typer.Typer(help="Open and list ladders.", no_args_is_help=True, rich_markup_mode=None)
season = typer.Typer(help="Begin seasons, and show how they ended.", no_args_is_help=True, rich_markup_mode=None)


class NotUpgradedError(PodiumError):
    """Some pools could not be upgraded."""

    exit_status: ClassVar[int] = 1


@db.command("init")
def init(url: Database = DEFAULT) -> None:
    """Create the database, or bring its schema up to date."""
    open_store(url).close()
    typer.echo(f"{url} is ready")


@db.command("upgrade")
def upgrade(url: Database = DEFAULT) -> None:
    """Bring the schema up to date, and rate again the pools that an earlier version's arithmetic rated.

    An SQLite database is copied first, if there is anything to do; of PostgreSQL take a pg_dump before you begin.
    """
    store_class = store_type()
    from podium.store.write.upgrade import upgrade_pools

    copy_before_upgrade(url)
    store = store_class(url)
    failures = []
    for each in upgrade_pools(store.engine, "podium db upgrade"):
        if each.error:
            failures.append(str(each))
        else:
            typer.echo(str(each))
    store.close()
    if failures:
        raise NotUpgradedError("\n".join(failures))
    typer.echo(f"{url} is up to date")


def copy_before_upgrade(url: str) -> None:
    """Copy an SQLite file beside itself if an upgrade would change it; of another database say that none is taken.

    Raises:
        OutputError: the copy cannot be written.
        StoreError: the database cannot be open_store.
    """
    from podium.store.sql.database import engine_for, explain_failure
    from podium.store.write.upgrade import is_due

    with explain_failure(url):
        engine = engine_for(url)
        has_file = engine.dialect.name == "sqlite"
        source = Path(engine.url.database or "")
        due = (source.is_file() or not has_file) and is_due(engine)  # a file that is missing would be created
        engine.dispose()
    if not due:
        return
    if not has_file:
        typer.echo("a PostgreSQL database is not copied: keep a pg_dump from before the upgrade")
        return
    out = source.with_name(f"{source.stem}-before-upgrade-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}{source.suffix}")
    write_copy(source, out)
    typer.echo(f"{url} is copied to {out}")


@db.command("backup")
def backup(out: Annotated[Path, typer.Argument(help="The copy to write.")], url: Database = DEFAULT) -> None:
    """Copy an SQLite database while it is in use; PostgreSQL has pg_dump."""
    write_copy(sqlite_path(url), out)
    typer.echo(f"{url} is copied to {out}")


def write_copy(source: Path, out: Path) -> None:
    """Copy an SQLite file while it is in use; the copy appears whole or not at all.

    Raises:
        ParameterError: there is a file of the copy's name.
        OutputError: the copy cannot be written.
    """
    if out.exists():
        raise ParameterError(f"{out} exists already")
    with part_of(out) as part:
        try:
            with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(part)) as copy:
                live.backup(copy)
        except sqlite3.Error as error:
            raise OutputError(f"{out}: cannot be written ({error})") from error


@db.command("restore")
def restore_database(
    source: Annotated[Path, typer.Argument(help="A copy that `podium db backup` wrote.")], url: Database = DEFAULT
) -> None:
    """Put a copy in the place of a missing database, and verify it."""
    target = sqlite_path(url, must_exist=False)
    if target.exists():
        raise ParameterError(f"{target} exists; move it away first")
    if not source.exists():
        raise ParameterError(f"{source}: no such file")
    shutil.copyfile(source, target)
    verify(url)


def sqlite_path(url: str, *, must_exist: bool = True) -> Path:
    """The file of an SQLite database.

    Raises:
        ParameterError: it is another database, or does not exist.
    """
    if "://" in url and not url.startswith("sqlite:///"):
        raise ParameterError("this is for SQLite files; PostgreSQL has pg_dump and pg_restore")
    path = Path(url.removeprefix("sqlite:///"))
    if must_exist and not path.exists():
        raise ParameterError(f"{path}: no such file")
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
    rating_system = chosen_system(system, settings, system_file)
    open_store(url).create_pool(name, rating_system)
    typer.echo(f"pool {name} is rated with {rating_system.name}")


@pool.command("list")
def list_pools(url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the ladders."""
    import polars as pl

    rows = [(each.name, each.system.name) for each in open_store(url).pools()]
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
    rating_system = chosen_system(system, settings, system_file)
    with show.progress("rating again"):
        changed = open_store(url).configure(name, rating_system, actor=actor)
    typer.echo(f"pool {name} is rated with {rating_system.name}; {ratings_changed(changed)}")


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
    """Draw every rating towards a newcomer's; the leaderboard as it stood before can still be read."""
    from podium.ledger.leaderboard import instant

    changed = open_store(url).begin_season(pool, name, instant(starts, whole_day=False), keep=keep, actor=actor)
    typer.echo(f"season {name} begins; {ratings_changed(changed)}")


@season.command("list")
def list_seasons(pool: PoolName, url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the seasons of a ladder."""
    import polars as pl

    rows = [(each["name"], each["starts_at"], each["keep"]) for each in open_store(url).seasons(pool)]
    kinds = pl.Schema({"name": pl.String(), "starts_at": pl.Datetime("us", "UTC"), "keep": pl.Float64()})
    show.show(pl.DataFrame(rows, schema=kinds, orient="row"), form)


@season.command("board")
def season_board(
    name: Annotated[str, typer.Argument(help="The season's name.")],
    pool: PoolName,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Show the leaderboard at the end of a season, or as it stands now if the season is not over."""
    show.show(open_store(url).season_board(pool, name), form)
