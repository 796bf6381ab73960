"""Commands on a store: db, pool, ingest, amend, void, restore, merge, verify."""

import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from podium.cli import show
from podium.cli.options import File, Settings, Shape, SystemFile, SystemName, chosen_system
from podium.cli.show import Format
from podium.errors import ParameterError, PodiumError

if TYPE_CHECKING:
    from podium.store import Store
    from podium.store.submission import Receipt

Database = Annotated[
    str, typer.Option("--db", metavar="URL", envvar="PODIUM_DB", help="An SQLite file, or a URL of a database.")
]
DEFAULT = "podium.db"
PoolName = Annotated[str, typer.Option("--pool", help="The ladder.")]
Event = Annotated[str, typer.Option("--event", help="The event's id.")]
Actor = Annotated[str, typer.Option(help="Who does it, for the log.")]

db = typer.Typer(help="Make, move and keep a database.", no_args_is_help=True, rich_markup_mode=None)
pool = typer.Typer(help="Open and list ladders.", no_args_is_help=True, rich_markup_mode=None)


class NotVerifiedError(PodiumError):
    """What is kept is not what the log says."""

    exit_status: ClassVar[int] = 1


def opened(url: str) -> "Store":
    """The store.

    Raises:
        ParameterError: the extra is not installed.
    """
    from podium.compiled import load_without_blas

    load_without_blas()
    try:
        from podium.store import Store
    except ImportError:
        raise ParameterError("a store needs an extra: pip install 'podium-ratings[service]'") from None
    return Store(url)


def told(receipts: list["Receipt"], form: Format) -> None:
    """Print what became of events."""
    import polars as pl

    rows = [
        {"event_id": each.event_id, "status": each.status, "reason": each.reason, "duplicate": each.duplicate,
         "players": len(each.changes), "rerated": each.rerated}
        for each in receipts
    ]  # fmt: skip
    show.show(pl.DataFrame(rows), form, most=50)


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


def ingest(file: File, pool: PoolName, actor: Actor = "", url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """Submit the events of FILE to a pool; what is there already is left as it is."""
    with show.progress("rating"):
        receipts = opened(url).submit(pool, file, actor=actor)
    told(receipts, form)


def amend(file: File, pool: PoolName, actor: Actor = "", url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """Correct an event with the rows in FILE; every rating becomes what it would have been."""
    told([opened(url).amend(pool, file, actor=actor)], form)


def void(event: Event, pool: PoolName, actor: Actor = "", url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """Let an event count for nothing."""
    told([opened(url).void(pool, event, actor=actor)], form)


def restore(
    event: Event, pool: PoolName, actor: Actor = "", url: Database = DEFAULT, form: Shape = Format.table
) -> None:
    """Let a voided event count again."""
    told([opened(url).restore(pool, event, actor=actor)], form)


def merge(
    player: Annotated[str, typer.Option(help="The account that goes.")],
    into: Annotated[str, typer.Option(help="The account that stays.")],
    pool: PoolName,
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Let one player's results be another's."""
    changed = opened(url).merge(pool, player, into, actor=actor)
    typer.echo(f"{player} plays on as {into}; {changed} changes of ratings are new")


def verify(url: Database = DEFAULT) -> None:
    """Rate the whole log anew, and compare everything that is kept, bit for bit."""
    with show.progress("rating anew"):
        found = opened(url).verify()
    if found:
        raise NotVerifiedError("\n".join(found))
    typer.echo(f"{url}: everything is what the log says")
