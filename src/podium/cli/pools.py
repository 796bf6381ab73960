"""Commands on pools: created, listed, configured, closed and deleted; carried from one database to another."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from podium.cli import show
from podium.cli.files import OutputError
from podium.cli.options import Settings, Shape, SystemFile, SystemName, chosen_system
from podium.cli.show import Format
from podium.cli.storing import DEFAULT, Actor, Database, PoolName, open_store, ratings_changed
from podium.errors import ParameterError
from podium.part_files import part_file

pool = typer.Typer(help="Open, list, close and carry over ladders.", no_args_is_help=True, rich_markup_mode=None)
reason = typer.Typer(help="Blank the reasons of corrections.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="The ladder's name.")]


@pool.command("create")
def create_pool(
    name: Name,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    url: Database = DEFAULT,
) -> None:
    """Open a ladder that is rated with a system."""
    rating_system = chosen_system(system, settings, system_file)
    open_store(url, create=True).create_pool(name, rating_system)
    typer.echo(f"pool {name} is rated with {rating_system.name}")


@pool.command("list")
def list_pools(url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the ladders."""
    import polars as pl

    rows = [(each.name, each.system.name, "closed" if each.closed else "open") for each in open_store(url).pools()]
    kinds = dict.fromkeys(("pool", "system", "state"), pl.String)
    show.show(pl.DataFrame(rows, schema=kinds, orient="row"), form)


@pool.command("configure")
def configure_pool(
    name: Name,
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


@pool.command("log")
def show_log(
    name: Name,
    after: Annotated[int, typer.Option(min=0, help="Only entries above this number.")] = 0,
    most: Annotated[int, typer.Option(min=1, help="At most so many entries.")] = 100,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Show who did what to a ladder and when, why, and what it moved."""
    import polars as pl

    texts = ("kind", "subject", "received_at", "actor", "reason")
    kinds: dict[str, Any] = {"seq": pl.Int64, "place": pl.Int64} | dict.fromkeys(texts, pl.String)
    kinds |= {"events": pl.Int64, "players": pl.Int64, "largest": pl.Float64}
    entries = [asdict(each) for each in open_store(url).log(name, after=after, most=most)]
    rows = [each | (each["moved"] or {}) | {"received_at": each["received_at"].isoformat()} for each in entries]
    show.show(pl.DataFrame([{key: row.get(key) for key in kinds} for row in rows], schema=kinds), form)


@pool.command("close")
def close_pool(name: Name, actor: Actor = "", url: Database = DEFAULT) -> None:
    """Close a ladder: it can be read, and takes nothing more until it is opened again."""
    closed = open_store(url).close_pool(name, actor=actor)
    typer.echo(f"pool {name} is closed" if closed else f"pool {name} is closed already")


@pool.command("reopen")
def reopen_pool(name: Name, actor: Actor = "", url: Database = DEFAULT) -> None:
    """Open a closed ladder again."""
    opened = open_store(url).reopen_pool(name, actor=actor)
    typer.echo(f"pool {name} is open" if opened else f"pool {name} is open already")


@pool.command("delete")
def delete_pool(
    name: Name,
    yes: Annotated[str | None, typer.Option(metavar="NAME", help="The name again; prompted for if not given.")] = None,
    url: Database = DEFAULT,
) -> None:
    """Delete a closed ladder for good: its log, all that derives from it, and the keys to it alone."""
    store = open_store(url)
    repeated = typer.prompt(f"Type {name} again to delete it for good") if yes is None else yes
    if repeated != name:
        raise ParameterError(f"pool {name} is not deleted: {repeated!r} is not its name")
    store.delete_pool(name)
    typer.echo(f"pool {name} is deleted")


@pool.command("export")
def export_pool(
    name: Name,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The file to write; stdout if not given.")] = None,
    url: Database = DEFAULT,
) -> None:
    """Write a ladder's log, its chain and its names as JSON lines, for `podium pool import`."""
    lines = open_store(url).export_pool(name)
    if out is None:
        sys.stdout.writelines(lines)
        return
    if not out.resolve().parent.is_dir():
        raise OutputError(f"{out}: there is no folder {out.parent}")
    with part_file(out, OutputError) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
    typer.echo(f"pool {name} is written to {out}")


@pool.command("import")
def import_pool(
    file: Annotated[Path, typer.Argument(help="What `podium pool export` wrote.")],
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Call the ladder otherwise.")] = None,
    url: Database = DEFAULT,
) -> None:
    """Read an exported ladder: its chain is checked, it is rated and verified, or nothing is stored."""
    store = open_store(url, create=True)
    try:
        with file.open(encoding="utf-8", newline="\n") as lines, show.progress("rating"):
            imported = store.import_pool(lines, name=name, source=str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file}: cannot be read ({error})") from None
    typer.echo(f"pool {imported.pool} is stored: {imported.events} events, {imported.changes} changes of ratings")
    typer.echo(f"{imported.pool}: head {imported.head}")


@reason.command("blank")
def blank_reason(
    pool: PoolName,
    entry: Annotated[int, typer.Option(help="The number of the log entry, as `podium pool log` shows it.")],
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Forget the text of a correction's reason; the chain holds, and the log says that it was blanked."""
    open_store(url).blank_reason(pool, entry, actor=actor)
    typer.echo(f"the reason of log entry {entry} is blanked")
