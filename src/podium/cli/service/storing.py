"""Commands on a store's results and players: ingest, amend, void, restore, merge, unmerge, rename, snapshot, verify."""

import atexit
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from podium.cli.results.reading import Input, reads_named_results
from podium.cli.terminal import show, system_choice
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import Shape, read_table
from podium.cli.terminal.settings import database_of_settings, pool_of_settings
from podium.cli.terminal.show import Format
from podium.errors import ParameterError, PodiumError, needs_extra

if TYPE_CHECKING:
    from podium.store import Store
    from podium.store.writing.receipts import Receipt


Database = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="URL",
        envvar="PODIUM_DB",
        help="An SQLite file, or a URL of a database.",
        callback=database_of_settings,
    ),
]
DEFAULT = "podium.db"
PoolName = Annotated[
    str,
    typer.Option(
        "--pool",
        metavar="NAME",
        help="The ladder; if not given, the pool in podium.toml.",
        default_factory=pool_of_settings,
        show_default=False,
    ),
]
Event = Annotated[str, typer.Option("--event", help="The event's id.")]
Player = Annotated[str, typer.Option("--player", help="The player's name.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Store nothing; show the largest changes that would follow.")]
Actor = Annotated[str, typer.Option(help="Who does this, for the log.")]
Reason = Annotated[str, typer.Option(help="Why, for the log; it can be blanked later.")]


class NotVerifiedError(PodiumError):
    """Stored ratings differ from what the log gives."""

    exit_status: ClassVar[int] = 1


def open_store(url: str, *, create: bool = False) -> "Store":
    """The store at a URL, which is closed when the command ends.

    Raises:
        MissingExtraError: the extra `service` is not installed.
    """
    store = store_type()(url, must_exist=not create)
    atexit.register(store.close)
    return store


def store_type() -> "type[Store]":
    """The class `Store`; nothing is opened.

    Raises:
        MissingExtraError: the extra `service` is not installed.
    """
    system_choice.prepare()
    with needs_extra("service", "a store"):
        from podium.store import Store
    return Store


def ratings_changed(count: int) -> str:
    """How many ratings changed, in words."""
    return f"{count} {'rating' if count == 1 else 'ratings'} changed"


def show_receipts(receipts: list["Receipt"], form: Format) -> None:
    """Print what became of events; of a dry run, the largest changes that would follow. Warnings go to stderr."""
    import polars as pl

    for each in receipts:
        for warning in each.warnings:
            typer.echo(f"podium: event {each.event_id}: {warning}", err=True)

    effects = [asdict(each) for receipt in receipts[:1] for each in receipt.effects]
    for each in receipts[:1]:
        if each.next is not None:
            totals = asdict(each.totals) if each.totals else {}
            counts = ", ".join(f"{number:,} {name}" for name, number in totals.items() if name != "largest")
            typer.echo(f"podium: {counts} would move; the {len(effects):,} largest changes are shown", err=True)
    if effects:
        kinds = {"event_id": pl.String, "player": pl.String, "rating_was": pl.Float64, "rating": pl.Float64}
        show.show(pl.DataFrame(effects, schema=kinds), form, max_rows=50)
        return
    rows = [
        {"event_id": each.event_id, "status": each.status, "reason": each.reason, "duplicate": each.duplicate,
         "players": len(each.changes), "rerated": each.rerated}
        for each in receipts
    ]  # fmt: skip
    show.show(pl.DataFrame(rows), form, max_rows=50)


@examples("podium ingest results.csv --pool karts", "podium ingest results.csv --pool karts --dry-run")
@reads_named_results
def ingest(
    file: Input,
    pool: PoolName,
    actor: Actor = "",
    names: Annotated[
        Path | None,
        typer.Option(help="Call players by the names in this file, which podium import --names wrote for their ids."),
    ] = None,
    dry_run: DryRun = False,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Submit the events of FILE to a pool, in the order of `sequence` or of FILE; what is there already stays."""
    called = {} if names is None else names_by_id(names)
    store = open_store(url)
    with show.progress("rating"):
        receipts = store.submit(pool, file.events_of(pool), actor=actor, dry_run=dry_run)
    for refusal in [] if dry_run else store.name_players(pool, called, actor=actor):
        typer.echo(f"podium: {refusal}", err=True)
    show_receipts(receipts, form)


def names_by_id(path: Path) -> dict[str, str]:
    """The names in a file that `podium import --names` wrote."""
    table = read_table(path)
    if not {"player", "name"} <= set(table.columns):
        raise ParameterError(f"{path}: needs the columns player and name, as podium import --names writes them")
    rows = table.select("player", "name").drop_nulls().iter_rows()
    return {str(player): str(name) for player, name in rows}


@examples('podium amend race-17.csv --pool karts --reason "wrong lap count"')
@reads_named_results
def amend(
    file: Input,
    pool: PoolName,
    actor: Actor = "",
    reason: Reason = "",
    dry_run: DryRun = False,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Correct an event with the rows in FILE; every rating becomes what it would have been."""
    receipt = open_store(url).amend(pool, file.events_of(pool), actor=actor, reason=reason, dry_run=dry_run)
    show_receipts([receipt], form)


def status_command(act: str, summary: str, example: str) -> Callable[..., None]:
    """A command that changes whether an event counts; `act` is the method of `Store` that does it."""

    @examples(example)
    def command(
        event: Event,
        pool: PoolName,
        actor: Actor = "",
        reason: Reason = "",
        dry_run: DryRun = False,
        url: Database = DEFAULT,
        form: Shape = Format.table,
    ) -> None:
        change_status = getattr(open_store(url), act)
        show_receipts([change_status(pool, event, actor=actor, reason=reason, dry_run=dry_run)], form)

    command.__doc__ = summary
    return command


void = status_command(
    "void", "Void an event: it no longer counts.", "podium void --event race-17 --pool karts --reason cheating"
)
restore = status_command(
    "restore", "Restore a voided event: it counts again.", "podium restore --event race-17 --pool karts"
)


@examples("podium merge --player ana2 --into ana --pool karts")
def merge(
    player: Annotated[str, typer.Option(help="The account that goes.")],
    into: Annotated[str, typer.Option(help="The account that stays.")],
    pool: PoolName,
    actor: Actor = "",
    reason: Reason = "",
    url: Database = DEFAULT,
) -> None:
    """Merge an account into another: the results of both count as one player's."""
    changed = open_store(url).merge(pool, player, into, actor=actor, reason=reason)
    typer.echo(f"{player} plays on as {into}; {ratings_changed(changed)}")


@examples("podium unmerge --player ana2 --pool karts")
def unmerge(
    player: Annotated[str, typer.Option(help="The account that was merged into another.")],
    pool: PoolName,
    actor: Actor = "",
    reason: Reason = "",
    url: Database = DEFAULT,
) -> None:
    """Undo a merge: the account is a player of its own again, as if it had never been merged."""
    changed = open_store(url).unmerge(pool, player, actor=actor, reason=reason)
    typer.echo(f"{player} is a player of their own; {ratings_changed(changed)}")


@examples('podium rename --player ana --to "Ana B." --pool karts')
def rename(
    player: Player,
    to: Annotated[str, typer.Option(help="What the player is called from now on.")],
    pool: PoolName,
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Rename a player everywhere; results under the old name still count as theirs."""
    open_store(url).rename(pool, player, to, actor=actor)
    typer.echo(f"{player} is now called {to}")


@examples("podium pseudonymise --player ana --pool karts")
def pseudonymise(player: Player, pool: PoolName, actor: Actor = "", url: Database = DEFAULT) -> None:
    """Forget every name that a player had, everywhere; no rating moves."""
    typer.echo(f"the player is now called {open_store(url).pseudonymise(pool, player, actor=actor)}")


@examples("podium snapshot", "podium snapshot --pool karts --day 2025-06-30")
def snapshot(
    pool: Annotated[str | None, typer.Option("--pool", help="The ladder; all if not given.")] = None,
    day: Annotated[str | None, typer.Option(metavar="DATE", help="The day; today if not given.")] = None,
    url: Database = DEFAULT,
) -> None:
    """Store the ranks at 00:00 UTC of a day, and again those of days that a correction has changed."""
    store = open_store(url)
    from podium.store.rating import facts

    number = None if day is None else facts.parse_day(day)
    for name in [each.name for each in store.pools()] if pool is None else [pool]:
        taken = store.snapshot(name, number)
        for each, players in taken.items():
            typer.echo(f"{name}: stored the ranks of {players} players at 00:00 UTC on {facts.date_of(each)}")
        if not taken:
            typer.echo(f"{name}: nothing to do")


@examples("podium verify", "podium verify --pool karts --head receipt.json")
def verify(
    pool: Annotated[str | None, typer.Option("--pool", help="The ladder; all if not given.")] = None,
    head: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RECEIPT",
            help="A file with a receipt, or PLACE:HASH: the log must have this head or have had it. May repeat.",
        ),
    ] = None,
    url: Database = DEFAULT,
) -> None:
    """Check the log's chain, rate the whole log again, and compare everything that is stored with it, bit for bit."""
    store = open_store(url)

    from podium.cli.service.heads import read_heads

    heads = [each for text in head or [] for each in read_heads(text)]
    with show.progress("rating again"):
        verification = store.verification(pool, heads)
    if verification.findings:
        lines = [*verification.findings, f"compared: {verification}", *verification.heads]
        raise NotVerifiedError("\n".join(lines))
    if not verification.pools:
        raise NotVerifiedError(f"{url}: there are no pools, and nothing to compare")
    typer.echo(f"{url}: everything stored equals what the log gives ({verification})")
    for note in verification.heads:
        typer.echo(note)
