"""Commands for pools: pool, reason."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from podium.cli.service.storing import (
    ACTOR,
    CREATED_STORE,
    DATABASE,
    POOL_NAME,
    RERATING,
    RERATING_WITH_REASON,
    STORE,
    OrderWord,
    Rerating,
    open_store,
)
from podium.cli.terminal import options, show
from podium.cli.terminal.app import App, Made, option
from podium.cli.terminal.options import SYSTEM, SystemFlags
from podium.cli.terminal.show import Format
from podium.errors import OutputError, ParameterError
from podium.support.part_files import part_file
from podium.support.words import counted

if TYPE_CHECKING:
    from podium.engine.system import System
    from podium.log.pools import DescriptionChanges
    from podium.store import Store

pool = App(help="Create, list, close and move pools.")
reason = App(help="Delete the reasons given for corrections.")
NAME = Argument(help="Name of the pool.")


@dataclass(frozen=True)
class DescriptionFlags:
    """The options that describe a pool. Those that are None change nothing."""

    title: str | None = option("Title on pages [default: the name].")
    contact: str | None = option("Email address or web page of the person who corrects results.", metavar="ADDRESS")
    player_word: str | None = option("Word for a single player, such as rider.", metavar="WORD")
    public: bool | None = option(
        "Let everyone read its pages and data, or require a key [default: private].", "--public/--private"
    )
    time_zone: str | None = option("Time zone of dates on pages, such as Europe/Berlin [default: UTC].", metavar="ZONE")
    points_scheme: str | None = option(
        "Championship points, such as 'f1 drop=2' (see podium standings).", metavar="SCHEME"
    )
    display: str | None = option(
        "How scores are shown, tiers, and IDs for readers: 'factor=100 ids=public tiers=Bronze:0,Silver:1400'.",
        metavar="TEXT",
    )
    reports: str | None = option("When results that players report count: '50% 48h'.", metavar="RULES")


DESCRIPTION: Any = Made(DescriptionFlags, then=vars)


@pool.command("create", "podium pool create karts --system stk")
def create_pool(
    name: str = NAME,
    system: "System" = SYSTEM,
    order: OrderWord | None = option(
        "Order events by date, or by number if they have no dates [default: as in the first event]."
    ),
    changes: "DescriptionChanges" = DESCRIPTION,
    store: "Store" = CREATED_STORE,
) -> None:
    """Create a pool."""
    store.create_pool(name, system, order=None if order is None else order.value, **changes)
    typer.echo(f"pool {name} is rated with {system.name}")


@pool.command(
    "set",
    'podium pool set karts --title "Kart League" --player-word racer --public',
    short_help="Change the description of a pool.",
)
def set_description(
    name: str = NAME, changes: "DescriptionChanges" = DESCRIPTION, actor: str = ACTOR, url: str = DATABASE
) -> None:
    """Change the description of a pool, or who can read it. An empty string removes the old value."""
    if all(value is None for value in changes.values()):
        raise ParameterError(
            "nothing to change. Give --title, --contact, --player-word, --time-zone, --points-scheme, --reports,"
            " --public or --private."
        )
    now = open_store(url).describe_pool(name, actor=actor, **changes)
    typer.echo(f"pool {name} is {'public' if now.public else 'private'}")
    for field, text in asdict(now).items():
        if text and field != "public":
            typer.echo(f"{field.replace('_', ' ')}: {text}")


@pool.command("list", "podium pool list")
def list_pools(store: "Store" = STORE, form: Format = options.FORM) -> None:
    """List the pools, with their descriptions."""
    rows = [
        {"pool": pool.name, "system": pool.system.name, "state": "closed" if pool.closed else "open"}
        | asdict(pool.description)
        for pool in store.pools()
    ]
    texts = ["pool", "system", "state", "title", "contact", "player_word", "time_zone"]
    texts += ["points_scheme", "display", "reports"]
    show.show_records(rows, dict.fromkeys(texts, str) | {"public": bool}, form)


@pool.command(
    "configure",
    "podium pool configure karts --system elo --set k=20",
    short_help="Rate a pool with another system or different parameters.",
)
def configure_pool(
    name: str = NAME,
    named: SystemFlags = options.SYSTEM_FLAGS,
    change: Rerating = RERATING,
) -> None:
    """Rate a pool again from its first event, with another system or different parameters."""
    from podium.store.writing import administration

    if not named.names_one:
        raise ParameterError("the new system is missing. Name it with --system or --system-file.")
    system = named.choose()
    done, planned = f"pool {name} is rated with {system.name}", f"pool {name} would be rated with {system.name}"
    change.make(name, administration.configure(system), done, planned)


@pool.command(
    "order",
    "podium pool order karts dated --started-at 2026-01-31 --every 1w --dry-run",
    short_help="Order the events of a pool by date or by number.",
)
def set_order(
    name: str = NAME,
    order: OrderWord = Argument(help="dated, or sequence if events have numbers instead of dates."),
    started_at: str | None = option(
        "The date of the first event [default: the date each event had before, or else the date it was received].",
        metavar="DATE",
    ),
    every: str = Option(
        "", metavar="SPAN", help="With --started-at, the time between consecutive events, such as 7d or 1mo."
    ),
    change: Rerating = RERATING,
) -> None:
    """Order a pool's events by date or by number. This is possible only while the pool has fewer than 50 events."""
    from podium.ledger.leaderboard import instant
    from podium.store.writing import administration

    if every and not started_at:
        raise ParameterError("--every requires the date of the first event. Add, for example, --started-at 2026-01-31")
    start = None if started_at is None else instant(started_at, whole_day=False)
    done, planned = f"pool {name} now has the order {order.value}", f"pool {name} would have the order {order.value}"
    change.make(name, administration.set_order(order.value, start, every), done, planned)


@pool.command(
    "start-ratings",
    "podium pool start-ratings karts newcomers.csv --dry-run",
    "podium pool start-ratings karts --player Ana --rating 1800 --deviation 120",
    short_help="Set the ratings with which players enter their first events.",
)
def set_starting_ratings(
    name: str = NAME,
    file: Path | None = Argument(None, help="Table with player, rating and deviation."),
    player: str | None = option("Name of a single player, instead of FILE."),
    rating: float | None = option("The player's rating."),
    deviation: float | None = option("The player's deviation [default: that of every newcomer]."),
    change: Rerating = RERATING_WITH_REASON,
) -> None:
    """Set the ratings with which players enter their first events, and recalculate all later ratings."""
    from podium.store.writing import accounts

    one = [{"player": player, "rating": rating, "deviation": deviation}]
    act = accounts.set_starting_ratings(file or one)
    change.make(name, act, "the starting ratings are set", "the starting ratings would be set")


@pool.command(
    "details",
    "podium pool details karts members.csv",
    'podium pool details karts --player ana --set "club=Kart Club" --set steam=765',
    short_help="Set or list clubs, countries and other details of players.",
)
def set_details(
    name: str = NAME,
    file: Path | None = Argument(
        None, help="Table with player and any of country, club, division, link, discord, steam and fide."
    ),
    player: str | None = option("Name of a single player, instead of FILE."),
    given: list[str] = Option([], "--set", metavar="NAME=TEXT", help="A detail. An empty text removes it."),
    actor: str = ACTOR,
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """Set details of players, or list them. Results may name a player by an ID, such as discord:123."""
    from podium.log.players import IDS
    from podium.results.reading import loaded
    from podium.views.details import DETAILS

    if file is None and player is None:
        ids = {each.player: asdict(each) for each in store.player_ids(name)}
        rows = [asdict(each) | ids.get(each.player, {}) for each in store.player_details(name)]
        show.show_records(rows, dict.fromkeys(("player", *DETAILS, *IDS), str), form)
        return
    one = {"player": player, **dict(text.partition("=")[::2] for text in given)}
    sent = [one] if file is None else loaded(file, None)[0].to_dicts()
    typer.echo(f"the details of {counted(store.set_details(name, sent, actor=actor), 'player')} are changed")


@pool.command("groups", "podium pool groups karts --by country")
def list_groups(
    name: str = NAME,
    by: str = Option(
        "club",
        metavar="DETAIL",
        help="club, country or division.",
        autocompletion=options.one_of("club", "country", "division"),
    ),
    best: int = Option(3, min=1, help="Number of players in each mean."),
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """Rank clubs, countries or divisions by the mean score of their best active players."""
    rows = [asdict(group) | {"best": ", ".join(group.best)} for group in store.group_ranks(name, by, best)]
    show.show_records(rows, {"rank": int, "name": str, "score": float, "players": int, "best": str}, form)


@pool.command("log", "podium pool log karts --most 20")
def show_log(
    name: str = NAME,
    after: int = Option(0, min=0, help="Return only entries with a higher number than this."),
    most: int = Option(100, min=1, help="Maximum number of entries."),
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """Show the log of a pool: who did what, when and why, and the effect on ratings."""
    texts = ("kind", "subject", "received_at", "actor", "reason")
    kinds = {"seq": int, "place": int} | dict.fromkeys(texts, str) | {"events": int, "players": int, "largest": float}
    entries = map(asdict, store.log(name, after=after, most=most))
    rows = [entry | (entry["moved"] or {}) | {"received_at": entry["received_at"].isoformat()} for entry in entries]
    show.show_records(rows, kinds, form)


@pool.command(
    "links",
    "podium pool links karts --act give --format csv",
)
def list_links(
    name: str = NAME,
    players: list[str] | None = Argument(None, help="Names of players [default: all players]."),
    act: str | None = option(
        "give, renew or revoke links [default: list them].",
        metavar="ACT",
        autocompletion=options.one_of("give", "renew", "revoke"),
    ),
    until: str | None = option("Last day of new links [default: no date].", metavar="DATE"),
    address: str = Option("", metavar="URL", help="Address of the service."),
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """List the personal links with which players report results."""
    from podium.ledger.leaderboard import instant

    if act is not None:
        end = None if until is None else instant(until, whole_day=True, zone=store.pool(name).description.zone)
        store.change_links(name, act, players or (), until=end)
    rows = [{"player": link.player, "link": address + link.path} for link in store.links(name)]
    show.show_records(rows, {"player": str, "link": str}, form)


@pool.command("reports", "podium pool reports karts --accept report-7fd4c6b694")
def list_reports(
    name: str = NAME,
    accept: str | None = option("ID of a report to accept.", metavar="REPORT"),
    refuse: str | None = option("ID of a report to refuse.", metavar="REPORT"),
    actor: str = ACTOR,
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """List pending reports of results, and accept or refuse them."""
    for report_id in (accept, refuse):
        if report_id is not None:
            store.answer_report(name, report_id, agrees=report_id == accept, actor=actor)
    rows = store.list_reports(name)
    show.show_records(rows, dict.fromkeys(("report_id", "status", "result", "player"), str), form)


@pool.command("sheets", "podium pool sheets karts")
def list_sheets(name: str = NAME, store: "Store" = STORE, form: Format = options.FORM) -> None:
    """List the sheets that were sent to a pool. JSON output also has their maps."""
    import polars as pl

    kinds = {"sheet": pl.String, "map": pl.String, "events": pl.Int64}
    rows = pl.DataFrame(store.sheets(name), kinds, orient="row")
    show.show(rows.with_columns(pl.col("map").str.strip_chars()) if form is Format.json else rows.drop("map"), form)


@pool.command("close", "podium pool close karts", short_help="Close a pool: it can be read but not changed.")
def close_pool(name: str = NAME, actor: str = ACTOR, store: "Store" = STORE) -> None:
    """Close a pool: it can be read, but not changed until it is reopened."""
    closed = store.close_pool(name, actor=actor)
    typer.echo(f"pool {name} is closed" if closed else f"pool {name} is already closed")


@pool.command("reopen", "podium pool reopen karts")
def reopen_pool(name: str = NAME, actor: str = ACTOR, store: "Store" = STORE) -> None:
    """Reopen a closed pool."""
    opened = store.reopen_pool(name, actor=actor)
    typer.echo(f"pool {name} is open" if opened else f"pool {name} is already open")


@pool.command("delete", "podium pool delete karts --yes karts", short_help="Delete a closed pool permanently.")
def delete_pool(
    name: str = NAME,
    yes: str | None = option("Type the name of the pool again to confirm [default: ask].", metavar="NAME"),
    store: "Store" = STORE,
) -> None:
    """Delete a closed pool permanently, with its log, everything calculated from it, and the keys only for it."""
    repeated = typer.prompt(f"Type {name} again to delete it permanently") if yes is None else yes
    if repeated != name:
        raise ParameterError(f"pool {name} was not deleted: {repeated!r} is not its name")
    store.delete_pool(name)
    typer.echo(f"pool {name} is deleted")


@pool.command("export", "podium pool export karts -o karts.jsonl", short_help="Write a pool to a file.")
def export_pool(
    name: str = NAME,
    out: Path | None = option("File to write [default: stdout].", "-o", "--out"),
    store: "Store" = STORE,
) -> None:
    """Write a pool's log, hash chain and names as JSON Lines, for `podium pool import`."""
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
    short_help="Write every rating change of a pool to a table.",
)
def write_ledger(
    name: str = NAME,
    out: Path = Argument(help="File to write: .parquet, .csv, .xlsx, .json or .jsonl."),
    store: "Store" = STORE,
) -> None:
    """Write a table with one row per player and event: rank, rating before, change, and the state afterwards."""
    options.check_output(out)
    changes = store.ledger(name)
    options.write_table(changes, out, guard=True)
    typer.echo(f"{changes.height:,} changes are written to {out}")


@pool.command(
    "import",
    "podium pool import karts.jsonl --as karts-2",
    short_help="Import an exported pool, after checking and verifying it.",
)
def import_pool(
    file: Path = Argument(help="File from `podium pool export`."),
    name: str | None = option("Name of the pool [default: its exported name].", "--as", metavar="NAME"),
    store: "Store" = CREATED_STORE,
) -> None:
    """Import an exported pool. Its hash chain is checked and its ratings are verified before anything is saved."""
    try:
        with file.open(encoding="utf-8", newline="\n") as lines, show.progress("rating"):
            imported = store.import_pool(lines, name=name, source=str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file}: cannot be read ({error})") from None
    typer.echo(f"pool {imported.pool} is saved: {imported.events} events, {imported.changes} rating changes")
    if imported.notice:
        typer.echo(imported.notice)
    typer.echo(f"{imported.pool}: head {imported.head}")


@reason.command(
    "blank",
    "podium reason blank --pool karts --entry 17",
    short_help="Delete the text of the reason given for a correction.",
)
def blank_reason(
    pool: str = POOL_NAME,
    entry: int = Option(help="Number of the log entry, from `podium pool log`."),
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Delete the text of the reason given for a correction.

    The hash chain stays valid, and the log shows the deletion.
    """
    store.blank_reason(pool, entry, actor=actor)
    typer.echo(f"the reason of log entry {entry} is deleted")
