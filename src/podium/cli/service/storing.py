"""Commands for results and players in a database: ingest, amend, void, unvoid, merge, unmerge, rename, anonymize."""

import atexit
import shlex
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer
from typer import Option

from podium.cli.results.reading import PRINTED, Input, input_option
from podium.cli.terminal import options, show
from podium.cli.terminal.app import Made, database_of_settings, examples, flag, option, pool_of_settings
from podium.cli.terminal.options import read_table
from podium.cli.terminal.show import Format
from podium.errors import ParameterError, needs_extra
from podium.support.addresses import is_https
from podium.support.words import counted

if TYPE_CHECKING:
    from podium.store import Store
    from podium.store.writing.proposals import Act, Sheet
    from podium.store.writing.receipts import Receipt
    from podium.store.writing.sheet_corrections import SheetChanges


DATABASE = Option(
    "podium.db",
    "--db",
    metavar="URL",
    envvar="PODIUM_DB",
    help="SQLite file, or URL of a database.",
    callback=database_of_settings,
)
POOL_NAME = Option(
    ...,
    "--pool",
    metavar="NAME",
    help="Pool [default: the pool in podium.toml].",
    default_factory=pool_of_settings,
    show_default=False,
)
EVENT = Option(..., "--event", help="ID of the event.")
PLAYER = Option(..., "--player", help="Name of the player.")
KIND = Option("", help="Kind of equipment, such as car, if the name belongs to equipment rather than a player.")
DRY_RUN = flag("--dry-run", "Save nothing, and show the largest changes.")
ACTOR = Option("", help="Your name, for the log.")
REASON = Option("", help="Reason to record in the log. It can be deleted later.")


class OrderWord(StrEnum):
    """Order of the events in a pool."""

    dated = "dated"
    sequence = "sequence"


def open_store(url: str = DATABASE) -> "Store":
    """Open the store at a URL, and close it when the command ends."""
    store = store_type()(url, must_exist=True)
    atexit.register(store.close)
    return store


def create_store(url: str = DATABASE) -> "Store":
    """Open the store at a URL, or create it if it is missing. Close it when the command ends."""
    store = store_type()(url)
    atexit.register(store.close)
    return store


STORE: Any = Made(open_store)
CREATED_STORE: Any = Made(create_store)


def store_type() -> "type[Store]":
    """Return the `Store` class. Nothing is opened."""
    options.prepare()
    with needs_extra("service", "a store"):
        from podium.store import Store
    return Store


WOULD_MOVE = flag("--dry-run", "Save nothing, and show the ratings that would change.")


@dataclass(frozen=True)
class Rerating:
    """The database for a command that may change many ratings, and the options for this change."""

    actor: str = ACTOR
    reason: str = REASON
    dry_run: bool = WOULD_MOVE
    url: str = DATABASE
    form: Format = options.FORM

    @cached_property
    def store(self) -> "Store":
        return open_store(self.url)

    def make(self, pool: str, act: "Act", done: str, planned: str) -> None:
        """Make a change and print `done`. For a dry run, print `planned` and the largest rating changes."""
        if self.dry_run:
            moved = self.store.preview(pool, act).ratings
            show.note(f"{planned}; {counted(len(moved), 'rating')} would change")
            show.show_records(moved, {"player": str, "before": float, "after": float}, self.form, max_rows=50)
            return
        with show.progress("rating again"):
            changed = self.store.run(pool, act, actor=self.actor, reason=self.reason)
        typer.echo(f"{done}; {changed} {'rating' if changed == 1 else 'ratings'} changed")


def rerating_without_reason(
    actor: str = ACTOR, dry_run: bool = WOULD_MOVE, url: str = DATABASE, form: Format = options.FORM
) -> Rerating:
    return Rerating(actor, "", dry_run, url, form)


RERATING: Any = Made(rerating_without_reason)
RERATING_WITH_REASON: Any = Made(Rerating)


def show_receipts(receipts: list["Receipt"], form: Format) -> None:
    """Print the status of events, or the largest changes in a dry run. Warnings go to stderr."""
    for notice in dict.fromkeys(receipt.notice for receipt in receipts if receipt.notice):
        show.note(f"{notice}")
    warned: dict[str, str] = {}  # each warning with its first event
    for receipt in receipts:
        for warning in receipt.warnings:
            warned.setdefault(warning, receipt.event_id)
    for warning, event_id in warned.items():
        show.note(f"event {event_id}: {warning}")
    effects = receipts[0].effects if receipts else ()
    if receipts and receipts[0].next is not None:
        totals = asdict(receipts[0].totals) if receipts[0].totals else {}
        counts = ", ".join(f"{number:,} {name}" for name, number in totals.items() if name != "largest")
        show.note(f"{counts} would change; the {len(effects):,} largest changes are shown")
    if effects:
        kinds = {"event_id": str, "player": str, "rating_was": float, "rating": float}
        show.show_records(effects, kinds, form, max_rows=50)
        return
    kinds = {"event_id": str, "status": str, "reason": str, "duplicate": bool, "players": int, "rerated": int}
    rows = [
        {name: len(receipt.changes) if name == "players" else getattr(receipt, name) for name in kinds}
        for receipt in receipts
    ]
    show.show_records(rows, kinds, form, max_rows=50)


@dataclass(frozen=True)
class SheetFlags:
    """The options for comparing a sheet with its earlier version."""

    amend: bool = flag("--amend", "Update a file that was sent before: add, correct and void events.")
    overrule: bool = flag("--overrule", "With --amend: also undo corrections made by hand in the pool.")
    again: bool = flag("--again", "Add results that look like known ones, or add FILE as a new sheet.")
    skip_known: bool = flag("--skip-known", "Leave out results that look like known ones.")
    sheet: str | None = option("Name to store FILE under in the pool [default: the file name].", metavar="NAME")
    prefix: str = Option("", metavar="TEXT", help="Prefix for the event IDs in FILE, such as 2027/.")

    @property
    def answer(self) -> str:
        return "again" if self.again else "skip_known" if self.skip_known else ""


SHEET_FLAGS: Any = Made(SheetFlags)


@examples(
    "podium ingest results.csv --pool karts",
    "podium ingest results.csv --pool karts --dry-run",
    "podium ingest league.xlsx --pool karts --amend --dry-run",
)
def ingest(
    file: Input = input_option(named=True),
    pool: str | None = option(
        "Pool [default: the pool in podium.toml]. With --as, the pool in FILE to read.", "--pool", metavar="NAME"
    ),
    own: str | None = option("Pool to add to, if FILE has a different one.", "--as", metavar="POOL"),
    actor: str = ACTOR,
    names: Path | None = option("File with the players' IDs and names, from podium import --names."),
    started_at: str | None = options.STARTED_AT,
    every: str | None = options.EVERY,
    order: OrderWord | None = option(
        "For a pool's first events: `sequence` numbers them, without dates; `dated` requires dates."
    ),
    flags: SheetFlags = SHEET_FLAGS,
    dry_run: bool = DRY_RUN,
    store: "Store" = STORE,
    form: Format = PRINTED,
) -> None:
    """Add the events of FILE to a pool, ordered by `sequence` or as in FILE. Existing events do not change."""
    called = {} if names is None else names_by_id(names)
    target = own or pool or pool_of_settings()
    file, sheet = read_as_kept(store, target, file, flags)
    events = file.events_of(target) if own is None else file.events_as(pool)
    sheet = with_answers(sheet, getattr(events, "made", {}), flags)
    if started_at is None and order is None:
        started_at, every, order = ask_when(store, target, events, every)
    chosen: Any = None if order is None else order.value
    rows, made = options.dated(events, started_at, every)

    def run(flags: SheetFlags) -> "list[Receipt] | SheetChanges":
        answered = sheet and sheet._replace(answer=flags.answer)
        with show.progress("rating"):
            if not flags.amend:
                return store.submit(
                    target, rows, actor=actor, reason=made, sheet=answered, order=chosen, dry_run=dry_run
                )
            if not answered or not answered.name:
                raise ParameterError("--amend compares FILE with its earlier version. Name the sheet with --sheet.")
            how: Any = {"overrule": flags.overrule, "order": chosen, "dry_run": dry_run}
            return store.amend_sheet(target, rows, sheet=answered, actor=actor, reason=made, **how)

    done = run_or_ask(run, flags)
    refusals = [] if dry_run else store.name_players(target, called, actor=actor)
    if details := getattr(events, "details", ()):
        noted = store.preview_details(target, details) if dry_run else store.take_details(target, details, actor=actor)
        refusals += noted
    for refusal in refusals:
        show.note(f"{refusal}")
    if not isinstance(done, list):
        show_changes(done, form, dry_run=dry_run)
        return
    known = {receipt.event_id: receipt.duplicate for receipt in done}
    if sheet and not sheet.made and (gone := store.find_gone(target, sheet, known)):
        typed = shlex.join(["podium", *(word for word in sys.argv[1:] if word != "--dry-run"), "--amend", "--dry-run"])
        are, stay = ("are", "stay") if gone[1:] else ("is", "stays")
        missing = f"{counted(len(gone), 'earlier event')} {are} missing from it, but {stay} in the pool"
        show.note(f"{sheet.name}: {missing}. If it was corrected, compare it with {typed}")
    show_receipts(done, form)


def with_answers(sheet: "Sheet | None", made: Mapping[str, str], flags: SheetFlags) -> "Sheet | None":
    """Return the sheet with the event IDs that Podium made. Standard input is a sheet without a name."""
    from podium.store.writing.proposals import Sheet

    if flags.again and flags.skip_known:
        raise ParameterError("--again and --skip-known contradict each other. Use only one of them.")
    return (sheet or Sheet(""))._replace(made=made) if made else sheet


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def run_or_ask(run: Callable[[SheetFlags], Any], flags: SheetFlags) -> Any:
    """Store a sheet. In a terminal, ask the questions that only the sender can answer."""
    from podium.store.writing.sheets import SheetError

    try:
        return run(flags)
    except SheetError as error:
        if not error.answers or not is_terminal():
            raise
        answers = error.answers

        def option_of(words: str) -> str:
            if words not in answers:
                raise typer.BadParameter(f"{words!r} is not an answer. Type {' or '.join(answers)}.")
            return answers[words]

        option = typer.prompt(f"{error.question} ({', '.join(answers)})", value_proc=option_of, err=True)
        return run_or_ask(run, replace(flags, **cast("dict[str, Any]", {option: True})))


def ask_when(
    store: "Store", pool: str, events: Any, every: str | None
) -> tuple[str | None, str | None, OrderWord | None]:
    """Return the date of the first event, the time between events, and the order. In a terminal, ask for them."""
    frame, order = getattr(events, "frame", events), store.order(pool)
    is_ordered = order == OrderWord.sequence or isinstance(frame, str) or {"started_at", "sequence"} & {*frame.columns}
    if is_ordered or not is_terminal():
        return None, every, None
    typer.echo("The events have no dates.", err=True)
    none, today = "none", f"{datetime.now(UTC):%Y-%m-%d}"
    question = f"Date of the first event, or {none} to number them" if order is None else "Date of the first event"
    first = typer.prompt(
        question, None if order is None else today, value_proc=date_or(none if order is None else ""), err=True
    )
    if first == none:
        return None, None, OrderWord.sequence
    if every is None and frame["event_id"].n_unique() > 1:
        every = typer.prompt("Time between events, such as 1w; 0 for all on one day", "0", err=True)
    return first, None if every == "0" else every, None


def date_or(word: str) -> Callable[[str], str]:
    """Return a function that checks typed text, which may be a date or this word."""
    from podium.ledger.leaderboard import instant

    def check(text: str) -> str:
        try:
            return text if word and text == word else f"{instant(text, whole_day=False):%Y-%m-%dT%H:%M:%SZ}"
        except ParameterError as error:
            raise typer.BadParameter(str(error)) from None

    return check


def read_as_kept(store: "Store", pool: str, file: Input, flags: SheetFlags) -> "tuple[Input, Sheet | None]":
    """Return a file, read with the map that the pool has stored for it, and its sheet. Standard input has no sheet."""
    from podium.importers.tables.maps import load_map, write_map
    from podium.store.writing.proposals import Sheet

    own = file.path if is_https(file.path) else Path(file.path).name
    name = flags.sheet or ("" if file.path == "-" else flags.prefix + own)
    if not name:
        return file, None
    kept = next((sheet.map for sheet in store.sheets(pool) if sheet.name == name), "")
    if file.map is None and file.format is None and kept:
        document = tomllib.loads(kept)
        if "join" in document:  # the map may come from someone else's export, or from a browser
            raise ParameterError(
                f"{file.path}: the map that pool {pool} saved for {name} joins other files. Name a map with --map."
            )
        typer.echo(f"{file.path}: read with the map that pool {pool} saved for {name}", err=True)
        file = replace(file, map=document)
    elif isinstance(file.map, Path):
        kept = write_map(load_map(file.map).document)
    return file, Sheet(name, kept, flags.prefix)


def show_changes(changes: "SheetChanges", form: Format, *, dry_run: bool) -> None:
    """Print the changes from a resubmitted sheet, by event. The counts go to stderr."""
    import polars as pl

    show.note(f"{changes.sheet}: {changes}")
    if changes.is_first:
        show.note("no sheet with this name has been sent before, so no events can be missing")
    moved = f"{changes.totals.changes:,} ratings of {changes.totals.players:,} players"
    show.note(f"{moved} {'would change' if dry_run else 'changed'}")
    rows = [
        *(("new", event_id, "") for event_id in changes.new),
        *(("differs", *reason) for reason in changes.other),
        *(("gone", event_id, "") for event_id in changes.gone),
        *(("stays", *reason) for reason in changes.kept),
    ]
    show.show(pl.DataFrame(rows, dict.fromkeys(("is", "event_id", "why"), pl.String), orient="row"), form, max_rows=50)


def names_by_id(path: Path) -> dict[str, str]:
    """Return the names in a file from `podium import --names`."""
    table = read_table(path)
    if not {"player", "name"} <= set(table.columns):
        raise ParameterError(f"{path}: needs the player and name columns. Write it with podium import --names.")
    rows = table.select("player", "name").drop_nulls().iter_rows()
    return {str(player): str(name) for player, name in rows}


@examples('podium amend race-17.csv --pool karts --reason "wrong lap count"')
def amend(
    file: Input = input_option(named=True),
    pool: str = POOL_NAME,
    actor: str = ACTOR,
    reason: str = REASON,
    dry_run: bool = DRY_RUN,
    store: "Store" = STORE,
    form: Format = PRINTED,
) -> None:
    """Correct an event with the rows of FILE, and recalculate all later ratings."""
    receipt = store.amend(pool, file.events_of(pool), actor=actor, reason=reason, dry_run=dry_run)
    show_receipts([receipt], form)


def status_command(act: str, summary: str, example: str) -> Callable[..., None]:
    """Return a command that changes whether an event counts. `act` is the matching method of `Store`."""

    @examples(example)
    def command(
        event: str = EVENT,
        pool: str = POOL_NAME,
        actor: str = ACTOR,
        reason: str = REASON,
        dry_run: bool = DRY_RUN,
        store: "Store" = STORE,
        form: Format = options.FORM,
    ) -> None:
        change_status = getattr(store, act)
        show_receipts([change_status(pool, event, actor=actor, reason=reason, dry_run=dry_run)], form)

    command.__doc__ = summary
    return command


void = status_command(
    "void", "Void an event: it no longer counts.", "podium void --event race-17 --pool karts --reason cheating"
)
unvoid = status_command("unvoid", "Make a voided event count again.", "podium unvoid --event race-17 --pool karts")


@examples("podium merge --player ana2 --into ana --pool karts")
def merge(
    player: str = Option(help="Account to merge."),
    into: str = Option(help="Account to keep."),
    kind: str = KIND,
    pool: str = POOL_NAME,
    change: Rerating = RERATING_WITH_REASON,
) -> None:
    """Merge an account into another. The results of both then count for one player."""
    from podium.store.writing import accounts

    done, planned = f"{player} is merged into {into}", f"{player} would be merged into {into}"
    change.make(pool, accounts.merge(player, into, kind), done, planned)


@examples("podium unmerge --player ana2 --pool karts")
def unmerge(
    player: str = Option(help="Account that was merged into another."),
    kind: str = KIND,
    pool: str = POOL_NAME,
    change: Rerating = RERATING_WITH_REASON,
) -> None:
    """Undo a merge. The account becomes separate again, as if it had never been merged."""
    from podium.store.writing import accounts

    act = accounts.unmerge(player, kind)
    change.make(pool, act, f"{player} is separate again", f"{player} would be separate again")


@examples("podium void-player --player ana --pool karts --reason banned")
def void_player(
    player: str = PLAYER,
    pool: str = POOL_NAME,
    change: Rerating = RERATING_WITH_REASON,
) -> None:
    """Void every rated event of a player, for example after a ban."""
    from podium.store.writing import accounts

    done, planned = f"the events of {player} do not count", f"the events of {player} would not count"
    change.make(pool, accounts.void_player(player), done, planned)


@examples('podium rename --player ana --to "Ana B." --pool karts')
def rename(
    player: str = PLAYER,
    to: str = Option(help="New name of the player."),
    kind: str = KIND,
    pool: str = POOL_NAME,
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Rename a player everywhere. Results under the old name still count."""
    store.rename(pool, player, to, kind=kind, actor=actor)
    typer.echo(f"{player} is now called {to}")


@examples("podium anonymize --player ana --pool karts")
def anonymize(
    player: str = PLAYER,
    pool: str = POOL_NAME,
    actor: str = ACTOR,
    dry_run: bool = flag("--dry-run", "List the replacements without saving anything."),
    yes: bool = flag("--yes", "Do not ask before replacing IDs that contain a name."),
    store: "Store" = STORE,
) -> None:
    """Remove every name a player has had, including from titles, IDs and reasons. Ratings do not change."""
    seen = store.anonymization(pool, player)
    for old, new in seen.ids.items():
        typer.echo(f"{old} gets the ID {new}")
    typer.echo(str(seen))
    if dry_run:
        return
    if seen.ids and not yes:
        if not sys.stdin.isatty():
            raise ParameterError(f"{player}: {len(seen.ids)} IDs contain the name. Add --yes to replace them.")
        typer.confirm("Replace these IDs and remove every name?", abort=True)
    typer.echo(f"the player is now called {store.anonymize(pool, player, actor=actor)}")
