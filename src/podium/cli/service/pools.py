"""Commands on pools: created, listed, configured, closed and deleted; carried from one database to another."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.service.storing import DEFAULT, Actor, Database, PoolName, open_store, ratings_changed
from podium.cli.terminal import show
from podium.cli.terminal.helping import App, examples
from podium.cli.terminal.options import Settings, Shape, SystemFile, SystemName
from podium.cli.terminal.show import Format
from podium.cli.terminal.system_choice import chosen_system
from podium.errors import OutputError, ParameterError
from podium.support.part_files import part_file

if TYPE_CHECKING:
    from podium.store.log.pools import DescriptionChanges


pool = App(help="Open, list, close and carry over ladders.")
reason = App(help="Blank the reasons of corrections.")
Name = Annotated[str, typer.Argument(help="The ladder's name.")]
Title = Annotated[str | None, typer.Option(help="What pages call it, instead of its name.")]
Contact = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Who corrects results: a mail address, or that of a page.")
]
PlayerWord = Annotated[str | None, typer.Option(metavar="WORD", help="What one player is called, like rider.")]
Public = Annotated[
    bool | None, typer.Option("--public/--private", help="Whether its pages and reads need no key; private at first.")
]


@pool.command("create")
@examples("podium pool create karts --system stk")
def create_pool(
    name: Name,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    title: Title = None,
    contact: Contact = None,
    player_word: PlayerWord = None,
    public: Public = None,
    url: Database = DEFAULT,
) -> None:
    """Open a ladder that is rated with a system."""
    rating_system = chosen_system(system, settings, system_file)
    store = open_store(url, create=True)
    store.create_pool(name, rating_system, title=title, contact=contact, player_word=player_word, public=public)
    typer.echo(f"pool {name} is rated with {rating_system.name}")


@pool.command("set", short_help="Change what a ladder says of itself.")
@examples('podium pool set karts --title "Kart League" --player-word racer --public')
def set_description(
    name: Name,
    title: Title = None,
    contact: Contact = None,
    player_word: PlayerWord = None,
    public: Public = None,
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Change what a ladder says of itself, and whether everybody may read it; an empty text removes what there was."""
    changes: DescriptionChanges = {"title": title, "contact": contact, "player_word": player_word, "public": public}
    if all(each is None for each in changes.values()):
        raise ParameterError("nothing is to be set: give --title, --contact, --player-word, --public or --private")
    description = open_store(url).describe_pool(name, actor=actor, **changes)
    typer.echo(f"pool {name} is {'public' if description.public else 'private'}")
    for field, text in description.body().items():
        if text and field != "public":
            typer.echo(f"{field.replace('_', ' ')}: {text}")


@pool.command("list")
@examples("podium pool list")
def list_pools(url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the ladders, and what each says of itself."""
    import polars as pl

    rows = [
        {"pool": each.name, "system": each.system.name, "state": "closed" if each.closed else "open"}
        | each.description.body()
        for each in open_store(url).pools()
    ]
    texts = ("pool", "system", "state", "title", "contact", "player_word")
    kinds = dict.fromkeys(texts, pl.String) | {"public": pl.Boolean}
    show.show(pl.DataFrame(rows, schema=kinds), form)


@pool.command("configure", short_help="Rate a ladder with another system, or other parameters.")
@examples("podium pool configure karts --system elo --set k=20")
def configure_pool(
    name: Name,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Rate a ladder with another system, or other parameters, from its first event on."""
    if system is None and system_file is None:
        raise ParameterError("name the system that is to rate the ladder from now on, with --system or --system-file")
    rating_system = chosen_system(system, settings, system_file)
    with show.progress("rating again"):
        changed = open_store(url).configure(name, rating_system, actor=actor)
    typer.echo(f"pool {name} is rated with {rating_system.name}; {ratings_changed(changed)}")


@pool.command("log")
@examples("podium pool log karts --most 20")
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


@pool.command("close", short_help="Close a ladder: it can be read, and takes nothing more.")
@examples("podium pool close karts")
def close_pool(name: Name, actor: Actor = "", url: Database = DEFAULT) -> None:
    """Close a ladder: it can be read, and takes nothing more until it is opened again."""
    closed = open_store(url).close_pool(name, actor=actor)
    typer.echo(f"pool {name} is closed" if closed else f"pool {name} is closed already")


@pool.command("reopen")
@examples("podium pool reopen karts")
def reopen_pool(name: Name, actor: Actor = "", url: Database = DEFAULT) -> None:
    """Open a closed ladder again."""
    opened = open_store(url).reopen_pool(name, actor=actor)
    typer.echo(f"pool {name} is open" if opened else f"pool {name} is open already")


@pool.command("delete", short_help="Delete a closed ladder for good.")
@examples("podium pool delete karts --yes karts")
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


@pool.command("export", short_help="Write a ladder to a file.")
@examples("podium pool export karts -o karts.jsonl")
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


@pool.command("import", short_help="Read an exported ladder, checked and verified.")
@examples("podium pool import karts.jsonl --as karts-2")
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


@reason.command("blank", short_help="Forget the text of a reason; the chain holds.")
@examples("podium reason blank --pool karts --entry 17")
def blank_reason(
    pool: PoolName,
    entry: Annotated[int, typer.Option(help="The number of the log entry, as `podium pool log` shows it.")],
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Forget the text of a correction's reason; the chain holds, and the log says that it was blanked."""
    open_store(url).blank_reason(pool, entry, actor=actor)
    typer.echo(f"the reason of log entry {entry} is blanked")
