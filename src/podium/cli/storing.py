"""Commands on a store's results and players: ingest, amend, void, restore, merge, rename, snapshot, verify."""

import atexit
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from podium.cli import show
from podium.cli.options import File, Shape
from podium.cli.show import Format
from podium.errors import ParameterError, PodiumError

if TYPE_CHECKING:
    from podium.store import Store
    from podium.store.write.submission import Receipt

Database = Annotated[
    str, typer.Option("--db", metavar="URL", envvar="PODIUM_DB", help="An SQLite file, or a URL of a database.")
]
DEFAULT = "podium.db"
PoolName = Annotated[str, typer.Option("--pool", help="The ladder.")]
Event = Annotated[str, typer.Option("--event", help="The event's id.")]
Player = Annotated[str, typer.Option("--player", help="The player's name.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell every change that would come, and store nothing.")]
Actor = Annotated[str, typer.Option(help="Who does it, for the log.")]


class NotVerifiedError(PodiumError):
    """What is kept is not what the log says."""

    exit_status: ClassVar[int] = 1


def opened(url: str, *, create: bool = False) -> "Store":
    """The store, which is closed when the command ends.

    Args:
        url: of the database.
        create: make the database where there is none.

    Raises:
        ParameterError: the extra is not installed.
        StoreError: it cannot be opened; there is none, unless it is to be created.
    """
    store = store_type()(url, must_exist=not create)
    atexit.register(store.close)
    return store


def store_type() -> "type[Store]":
    """What opens a store; nothing is opened.

    Raises:
        ParameterError: the extra is not installed.
    """
    from podium.kernels.compiled import load_without_blas

    load_without_blas()
    try:
        from podium.store import Store
    except ImportError:
        raise ParameterError("a store needs an extra: pip install 'podium-ratings[service]'") from None
    return Store


def told(receipts: list["Receipt"], form: Format) -> None:
    """Print what became of events; of a dry run, every change that would come. Warnings go to stderr."""
    import polars as pl

    for each in receipts:
        for warning in each.warnings:
            typer.echo(f"podium: event {each.event_id}: {warning}", err=True)

    effects = [each._asdict() for receipt in receipts[:1] for each in receipt.effects]  # all have the same
    if effects:
        kinds = {"event_id": pl.String, "player": pl.String, "rating_was": pl.Float64, "rating": pl.Float64}
        show.show(pl.DataFrame(effects, schema=kinds), form, most=50)
        return
    rows = [
        {"event_id": each.event_id, "status": each.status, "reason": each.reason, "duplicate": each.duplicate,
         "players": len(each.changes), "rerated": each.rerated}
        for each in receipts
    ]  # fmt: skip
    show.show(pl.DataFrame(rows), form, most=50)


def ingest(
    file: File,
    pool: PoolName,
    actor: Actor = "",
    dry_run: DryRun = False,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Submit the events of FILE to a pool, in the order of `sequence` or of FILE; what is there is left as it is."""
    with show.progress("rating"):
        receipts = opened(url).submit(pool, file, actor=actor, dry_run=dry_run)
    told(receipts, form)


def amend(
    file: File,
    pool: PoolName,
    actor: Actor = "",
    dry_run: DryRun = False,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Correct an event with the rows in FILE; every rating becomes what it would have been."""
    told([opened(url).amend(pool, file, actor=actor, dry_run=dry_run)], form)


def void(
    event: Event,
    pool: PoolName,
    actor: Actor = "",
    dry_run: DryRun = False,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Let an event count for nothing."""
    told([opened(url).void(pool, event, actor=actor, dry_run=dry_run)], form)


def restore(
    event: Event,
    pool: PoolName,
    actor: Actor = "",
    dry_run: DryRun = False,
    url: Database = DEFAULT,
    form: Shape = Format.table,
) -> None:
    """Let a voided event count again."""
    told([opened(url).restore(pool, event, actor=actor, dry_run=dry_run)], form)


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


def rename(
    player: Player,
    to: Annotated[str, typer.Option(help="What the player is called from now on.")],
    pool: PoolName,
    actor: Actor = "",
    url: Database = DEFAULT,
) -> None:
    """Call a player otherwise, everywhere; results under the old name are still theirs."""
    opened(url).rename(pool, player, to, actor=actor)
    typer.echo(f"{player} is {to}")


def pseudonymise(player: Player, pool: PoolName, actor: Actor = "", url: Database = DEFAULT) -> None:
    """Forget every name that a player had, everywhere; no rating moves."""
    typer.echo(f"the player is {opened(url).pseudonymise(pool, player, actor=actor)}")


def snapshot(
    pool: Annotated[str | None, typer.Option("--pool", help="The ladder; all if not given.")] = None,
    day: Annotated[str | None, typer.Option(metavar="DATE", help="The day; today if not given.")] = None,
    url: Database = DEFAULT,
) -> None:
    """Keep the ranks of a day's 00:00 UTC, and take again the days that a correction has changed."""
    store = opened(url)
    from podium.store.derive import snapshots

    number = None if day is None else snapshots.day_told(day)
    for name in [each.name for each in store.pools()] if pool is None else [pool]:
        taken = store.snapshot(name, number)
        for each, players in taken.items():
            typer.echo(f"{name}: the ranks of {players} players at 00:00 UTC of {snapshots.date_of(each)} are kept")
        if not taken:
            typer.echo(f"{name}: nothing to do")


def verify(url: Database = DEFAULT) -> None:
    """Rate the whole log anew, and compare everything that is kept, bit for bit."""
    with show.progress("rating anew"):
        verification = opened(url).verification()
    if verification.findings:
        raise NotVerifiedError("\n".join([*verification.findings, f"compared: {verification}"]))
    if not verification.pools:
        raise NotVerifiedError(f"{url}: there are no pools, and nothing to compare")
    typer.echo(f"{url}: everything is what the log says ({verification})")
