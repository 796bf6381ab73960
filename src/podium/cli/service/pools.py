"""Commands on pools: created, listed, configured, closed, deleted, carried elsewhere; and on upcoming races."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from podium.cli.service.storing import (
    ACTOR,
    CREATED_STORE,
    DATABASE,
    POOL_NAME,
    STORE,
    WOULD_MOVE,
    OrderWord,
    open_store,
    ratings_changed,
    show_moved,
)
from podium.cli.terminal import options, show
from podium.cli.terminal.app import App, Made
from podium.cli.terminal.options import SYSTEM, SystemFlags
from podium.cli.terminal.show import Format
from podium.errors import OutputError, ParameterError
from podium.support.part_files import part_file

if TYPE_CHECKING:
    from podium.engine.system import System
    from podium.log.pools import DescriptionChanges
    from podium.store import Store
    from podium.store.writing.fixtures import Fixture

pool = App(help="Create, list, close and move pools.")
reason = App(help="Blank the reasons of corrections.")
NAME = Argument(help="Name of the pool.")


def description(
    title: str | None = Option(None, help="What pages call it, instead of its name."),
    contact: str | None = Option(
        None, metavar="ADDRESS", help="Who corrects results: a mail address, or that of a page."
    ),
    player_word: str | None = Option(None, metavar="WORD", help="What one player is called, like rider."),
    public: bool | None = Option(
        None, "--public/--private", help="Whether its pages and reads need no key; private at first."
    ),
) -> "DescriptionChanges":
    return {"title": title, "contact": contact, "player_word": player_word, "public": public}


DESCRIPTION: Any = Made(description)


@pool.command("create", "podium pool create karts --system stk")
def create_pool(
    name: str = NAME,
    system: "System" = SYSTEM,
    order: OrderWord | None = Option(
        None, help="Order of its events: by their dates, or by numbers if they have none. The first event's by default."
    ),
    changes: "DescriptionChanges" = DESCRIPTION,
    store: "Store" = CREATED_STORE,
) -> None:
    """Create a pool that is rated with a system."""
    store.create_pool(name, system, order=None if order is None else order.value, **changes)
    typer.echo(f"pool {name} is rated with {system.name}")


@pool.command(
    "set",
    'podium pool set karts --title "Kart League" --player-word racer --public',
    short_help="Change what a pool says of itself.",
)
def set_description(
    name: str = NAME, changes: "DescriptionChanges" = DESCRIPTION, actor: str = ACTOR, url: str = DATABASE
) -> None:
    """Change what a pool says of itself, and whether everybody may read it; an empty text removes what there was."""
    if all(value is None for value in changes.values()):
        raise ParameterError("nothing is to be set: give --title, --contact, --player-word, --public or --private")
    now = open_store(url).describe_pool(name, actor=actor, **changes)
    typer.echo(f"pool {name} is {'public' if now.public else 'private'}")
    for field, text in now.body().items():
        if text and field != "public":
            typer.echo(f"{field.replace('_', ' ')}: {text}")


@pool.command("list", "podium pool list")
def list_pools(store: "Store" = STORE, form: Format = options.FORM) -> None:
    """List the pools, and what each says of itself."""
    rows = [
        {"pool": pool.name, "system": pool.system.name, "state": "closed" if pool.closed else "open"}
        | pool.description.body()
        for pool in store.pools()
    ]
    texts = ("pool", "system", "state", "title", "contact", "player_word")
    show.show_records(rows, dict.fromkeys(texts, str) | {"public": bool}, form)


@pool.command(
    "configure",
    "podium pool configure karts --system elo --set k=20",
    short_help="Rate a pool with another system, or other parameters.",
)
def configure_pool(
    name: str = NAME,
    named: SystemFlags = options.SYSTEM_FLAGS,
    actor: str = ACTOR,
    dry_run: bool = WOULD_MOVE,
    url: str = DATABASE,
    form: Format = options.FORM,
) -> None:
    """Rate a pool with another system, or other parameters, from its first event on."""
    if not named.names_one:
        raise ParameterError("name the system that is to rate the pool from now on, with --system or --system-file")
    rating_system = named.choose()
    if dry_run:
        from podium.store.reading import previews

        act, sentence = previews.configure(rating_system), f"pool {name} would be rated with {rating_system.name}"
        show_moved(open_store(url), name, act, sentence, form)
        return
    with show.progress("rating again"):
        changed = open_store(url).configure(name, rating_system, actor=actor)
    typer.echo(f"pool {name} is rated with {rating_system.name}; {ratings_changed(changed)}")


@pool.command(
    "order",
    "podium pool order karts dated --started-at 2026-01-31 --every 1w --dry-run",
    short_help="Order the events of a pool by dates or by numbers.",
)
def set_order(
    name: str = NAME,
    order: OrderWord = Argument(help="dated, or sequence: events have numbers and no dates."),
    started_at: str | None = Option(
        None, metavar="DATE", help="The date of the first event [default: each one's earlier date, or that of receipt]."
    ),
    every: str = Option("", metavar="SPAN", help="With --started-at, the time from each event to the next: 7d or 1mo."),
    actor: str = ACTOR,
    dry_run: bool = WOULD_MOVE,
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """Order the events of a pool by dates or by numbers, while it has fewer than 50."""
    from podium.ledger.leaderboard import instant
    from podium.store.reading import previews

    if every and not started_at:
        raise ParameterError("--every needs the date of the first event. Add, for example, --started-at 2026-01-31")
    start = None if started_at is None else instant(started_at, whole_day=False)
    if dry_run:
        act = previews.set_order(order.value, start, every)
        show_moved(store, name, act, f"pool {name} would have the order {order.value}", form)
        return
    changed = store.set_order(name, order.value, start=start, every=every, actor=actor)
    typer.echo(f"pool {name} has the order {order.value}; {ratings_changed(changed)}")


@pool.command("log", "podium pool log karts --most 20")
def show_log(
    name: str = NAME,
    after: int = Option(0, min=0, help="Only entries above this number."),
    most: int = Option(100, min=1, help="At most so many entries."),
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """Show who did what to a pool and when, why, and what it moved."""
    texts = ("kind", "subject", "received_at", "actor", "reason")
    kinds = {"seq": int, "place": int} | dict.fromkeys(texts, str) | {"events": int, "players": int, "largest": float}
    entries = map(asdict, store.log(name, after=after, most=most))
    rows = [entry | (entry["moved"] or {}) | {"received_at": entry["received_at"].isoformat()} for entry in entries]
    show.show_records(rows, kinds, form)


@pool.command("sheets", "podium pool sheets karts")
def list_sheets(name: str = NAME, store: "Store" = STORE, form: Format = options.FORM) -> None:
    """List the sheets that were sent to a pool; as JSON with their maps."""
    import polars as pl

    kinds = {"sheet": pl.String, "map": pl.String, "events": pl.Int64}
    rows = pl.DataFrame(store.sheets(name), kinds, orient="row")
    show.show(rows.with_columns(pl.col("map").str.strip_chars()) if form is Format.json else rows.drop("map"), form)


@pool.command("close", "podium pool close karts", short_help="Close a pool: it can be read, and takes nothing more.")
def close_pool(name: str = NAME, actor: str = ACTOR, store: "Store" = STORE) -> None:
    """Close a pool: it can be read, and takes nothing more until it is opened again."""
    closed = store.close_pool(name, actor=actor)
    typer.echo(f"pool {name} is closed" if closed else f"pool {name} is closed already")


@pool.command("reopen", "podium pool reopen karts")
def reopen_pool(name: str = NAME, actor: str = ACTOR, store: "Store" = STORE) -> None:
    """Open a closed pool again."""
    opened = store.reopen_pool(name, actor=actor)
    typer.echo(f"pool {name} is open" if opened else f"pool {name} is open already")


@pool.command("delete", "podium pool delete karts --yes karts", short_help="Delete a closed pool for good.")
def delete_pool(
    name: str = NAME,
    yes: str | None = Option(None, metavar="NAME", help="The name again; prompted for if not given."),
    store: "Store" = STORE,
) -> None:
    """Delete a closed pool for good: its log, all that derives from it, and the keys to it alone."""
    repeated = typer.prompt(f"Type {name} again to delete it for good") if yes is None else yes
    if repeated != name:
        raise ParameterError(f"pool {name} is not deleted: {repeated!r} is not its name")
    store.delete_pool(name)
    typer.echo(f"pool {name} is deleted")


@pool.command("export", "podium pool export karts -o karts.jsonl", short_help="Write a pool to a file.")
def export_pool(
    name: str = NAME,
    out: Path | None = Option(None, "-o", "--out", help="The file to write; stdout if not given."),
    store: "Store" = STORE,
) -> None:
    """Write a pool's log, its chain and its names as JSON lines, for `podium pool import`."""
    lines = store.export_pool(name)
    if out is None:
        sys.stdout.writelines(lines)
        return
    with part_file(out, OutputError, private=True) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
    typer.echo(f"pool {name} is written to {out}")


@pool.command(
    "ledger",
    "podium pool ledger karts karts.parquet",
    short_help="Write every change of a pool's ratings to a table.",
)
def write_ledger(
    name: str = NAME,
    out: Path = Argument(help="The file to write: .parquet, .csv, .xlsx, .json or .jsonl."),
    store: "Store" = STORE,
) -> None:
    """Write a table with one row for each player of each event: rank, rating before, change, and the state after."""
    options.check_output(out)
    changes = store.ledger(name)
    options.write_table(changes, out)
    typer.echo(f"{changes.height:,} changes are written to {out}")


@pool.command(
    "import", "podium pool import karts.jsonl --as karts-2", short_help="Read an exported pool, checked and verified."
)
def import_pool(
    file: Path = Argument(help="What `podium pool export` wrote."),
    name: str | None = Option(None, "--as", metavar="NAME", help="Call the pool otherwise."),
    store: "Store" = CREATED_STORE,
) -> None:
    """Read an exported pool: its chain is checked, it is rated and verified, or nothing is stored."""
    try:
        with file.open(encoding="utf-8", newline="\n") as lines, show.progress("rating"):
            imported = store.import_pool(lines, name=name, source=str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file}: cannot be read ({error})") from None
    typer.echo(f"pool {imported.pool} is stored: {imported.events} events, {imported.changes} changes of ratings")
    if imported.notice:
        typer.echo(imported.notice)
    typer.echo(f"{imported.pool}: head {imported.head}")


@reason.command(
    "blank", "podium reason blank --pool karts --entry 17", short_help="Forget the text of a reason; the chain holds."
)
def blank_reason(
    pool: str = POOL_NAME,
    entry: int = Option(help="The number of the log entry, as `podium pool log` shows it."),
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Forget the text of a correction's reason; the chain holds, and the log says that it was blanked."""
    store.blank_reason(pool, entry, actor=actor)
    typer.echo(f"the reason of log entry {entry} is blanked")


fixture = App(help="Plan, change, cancel and list upcoming races.")
FIXTURE = Argument(help="The race's id; its result is the event of this id.")


def fixture_as_given(
    starts: str | None = Option(
        None, "--starts", metavar="TIME", help="When it starts, like 2026-06-08T19:00Z; UTC without a zone."
    ),
    title: str | None = Option(None, "--title", help="What people call it; an empty one is removed."),
    entrants: list[str] | None = Option(
        None, "--entrants", metavar="A,B,...", help="All who start; quote a name with a comma in it. May repeat."
    ),
) -> dict[str, Any]:
    from podium.ledger.forecast import names_in
    from podium.ledger.leaderboard import instant

    starts_at = None if starts is None else instant(starts, whole_day=False)
    names = None if entrants is None else [name for row in names_in(entrants) for name in row]
    return {"starts_at": starts_at, "title": title, "entrants": names}


AS_GIVEN: Any = Made(fixture_as_given)


def print_fixture(planned: "Fixture") -> None:
    title = f", {planned.title}" if planned.title else ""
    count = "whoever comes" if planned.entrants is None else f"{len(planned.entrants)} entrants"
    typer.echo(f"{planned.fixture_id}{title}: {planned.status}, {planned.starts_at:%Y-%m-%d %H:%M} UTC, {count}")


@fixture.command("plan", "podium fixture plan race-18 --pool karts --starts 2026-06-08T19:00Z")
def plan(
    fixture_id: str = FIXTURE,
    pool: str = POOL_NAME,
    given: dict[str, Any] = AS_GIVEN,
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Plan a race; without entrants whoever comes starts."""
    if given["starts_at"] is None:
        raise ParameterError("say when it starts, with --starts 2026-06-08T19:00Z")
    print_fixture(store.plan_fixture(pool, fixture_id, **given, actor=actor))


@fixture.command("change", "podium fixture change race-18 --pool karts --starts 2026-06-08T20:00Z")
def change(
    fixture_id: str = FIXTURE,
    pool: str = POOL_NAME,
    given: dict[str, Any] = AS_GIVEN,
    anybody: bool = Option(False, "--anybody", help="It has no entrants any more: whoever comes starts."),
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Move a race, name it, or let others start; one that was cancelled takes place again."""
    store.fixture(pool, fixture_id)
    print_fixture(store.plan_fixture(pool, fixture_id, **given, anybody=anybody, actor=actor))


@fixture.command("cancel", "podium fixture cancel race-18 --pool karts")
def cancel(fixture_id: str = FIXTURE, pool: str = POOL_NAME, actor: str = ACTOR, store: "Store" = STORE) -> None:
    """Say that a race will not take place."""
    print_fixture(store.cancel_fixture(pool, fixture_id, actor=actor))


@fixture.command("list", "podium fixture list --pool karts --ahead")
def list_fixtures(
    pool: str = POOL_NAME,
    ahead: bool = Option(False, "--ahead", help="Only those that may still take place."),
    most: int = Option(100, min=1, help="At most so many."),
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """List upcoming races and earlier planned ones, by start."""
    rows = [
        asdict(race) | {"id": race.fixture_id, "entrants": None if race.entrants is None else len(race.entrants)}
        for race in store.fixtures(pool, ahead=ahead, most=most)
    ]
    kinds = {"id": str, "starts_at": None, "title": str, "entrants": int, "status": str}
    show.show_records(rows, kinds, form)
