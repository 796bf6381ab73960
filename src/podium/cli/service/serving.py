"""Commands for the service, its database and its seasons: serve, db, season."""

import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer import Argument, Option

from podium.cli.service import storing
from podium.cli.service.verifying import NotVerifiedError
from podium.cli.terminal import options, show
from podium.cli.terminal.app import App, examples, flag, option
from podium.cli.terminal.show import Format
from podium.errors import ParameterError, PodiumError, needs_extra
from podium.support.collector import allowed_memory

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104  (as this machine names them)
ADDRESS = re.compile(r"(https?://[^\s/?#@]+)?/*")
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(%|MB|GB)", re.IGNORECASE)

if TYPE_CHECKING:
    from podium.store import Store


@examples(
    "podium serve",
    "podium serve --db karts.db --port 8080 --key-file admin.key",
    "podium serve --db postgresql+psycopg://podium@localhost/podium --workers 4",
)
def serve(
    url: str = storing.DATABASE,
    host: str = Option("127.0.0.1", help="Address to listen on."),
    port: int = Option(8000, min=1, max=65535, help="Port to listen on."),
    key_file: Path | None = option(
        "Write the first admin key to this new file, which only its owner can read.", metavar="FILE"
    ),
    trusted_proxies: list[str] | None = option(
        "Trust the X-Forwarded-For header of the proxy at this address or in this network. Can be repeated.",
        "--trusted-proxy",
        metavar="ADDRESS",
    ),
    log_requests: bool = Option(True, help="Log each request as a line of JSON."),
    private_webhooks: bool = flag("--private-webhooks", "Also send webhooks to private addresses."),
    address: str = Option(
        "",
        metavar="URL",
        help="Address at which browsers reach the service, such as https://ratings.example.org. Chat messages link"
        " to it.",
    ),
    workers: int = Option(1, min=1, max=64, help="Number of processes. More than one requires PostgreSQL."),
    memory: str = Option(
        "60%",
        metavar="SIZE",
        help="Memory that all workers can use for pools and cached responses: 500MB, 2GB, or a share of the machine's"
        " or container's memory.",
    ),
    fonts: Path | None = option(
        "Folder with additional fonts for pictures. Letters that no font has are written in Latin.",
        metavar="FOLDER",
        envvar="PODIUM_FONTS",
    ),
) -> None:
    """Run the service, with pages and the HTTP API. In a terminal, it shows a link that creates the first admin."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # for small tables, threads cost more time than they save
    with needs_extra("service", "the service"):
        import uvicorn  # noqa: F401  (reports a missing extra before everything else is loaded)

        from podium.log.database import database_file, is_database
        from podium.log.files import is_sealed
        from podium.pages.share_picture import FONTS_VARIABLE
        from podium.service.server import live_app, prepare_kernels, refuse_workers, run, run_workers
        from podium.store.upgrading import upgrade_pools
    if fonts is not None:
        if not fonts.is_dir():
            raise ParameterError(f"--fonts {fonts} is not a folder. Choose one that contains .ttf or .otf files.")
        os.environ[FONTS_VARIABLE] = str(fonts.absolute())  # workers inherit it
    origin = read_address(address)
    most_bytes = read_size(memory) // workers
    if workers > 1:
        refuse_workers(url, workers)
    path = database_file(url)
    if path is not None and is_sealed(path):  # it would not see other processes' changes
        raise PodiumError(
            f"{path}: this folder is read-only, but the service must write to it. Serve a copy made with podium db"
            " backup FILE."
        )
    if is_database(url):
        copy_before_upgrade(url)
    store = storing.create_store(url)
    for upgraded in upgrade_pools(store, "podium serve"):
        typer.echo(str(upgraded), err=bool(upgraded.error))
    if key_file is not None:
        create_first_key(store, key_file)
    typer.echo(f"Podium listens on http://{host}:{port}; http://{host}:{port}/api/docs describes the API")
    show_first_link(store, host, port)
    settings: dict[str, Any] = {
        "memory": most_bytes,
        "private_webhooks": private_webhooks,
        "address": origin,
        "log_requests": log_requests,
    }
    if workers > 1:
        prepare_kernels(store)
        store.close()
        run_workers(workers, host, port, trusted_proxies or (), url=url, **settings)
    else:
        run(live_app(store, **settings), host, port, trusted_proxies or ())


def read_address(text: str) -> str:
    """Return the scheme and host given by `--address`, or an empty string."""
    found = ADDRESS.fullmatch(text.strip())
    if found is None:
        raise ParameterError(f"--address {text!r} is not an address. Write it like https://ratings.example.org")
    return found[1] or ""


def read_size(text: str) -> int:
    """Return the number of bytes in `--memory`."""
    found = SIZE.fullmatch(text.strip())
    units = {"%": allowed_memory() // 100, "mb": 10**6, "gb": 10**9}
    size = 0 if found is None else int(float(found[1]) * units[found[2].lower()])
    if size < units["mb"]:
        raise ParameterError(f"--memory {text!r} is not a size. Write it like 500MB, 2GB or 60%.")
    return size


def show_first_link(store: "Store", host: str, port: int) -> None:
    """If there is no admin yet, print a link that creates the first one.

    Without a terminal, print the command to use instead.
    """
    from podium.service.admin.first_link import VALID_S, first_path, is_loopback
    from podium.store.keys import has_admin

    if has_admin(store.engine):
        return
    here = EVERYWHERE.get(host, f"[{host}]" if ":" in host else host)
    if sys.stdout.isatty() and is_loopback(here):
        link = f"http://{here}:{port}{first_path(store.engine)}"
        typer.echo(
            "There is no admin yet. This link makes you the admin. It works once, within"
            f" {VALID_S // 60} minutes:\n{link}"
        )
    else:
        typer.echo("There is no admin yet. Create a key with podium key create NAME --role admin and the same --db")


def create_first_key(store: "Store", key_file: Path) -> None:
    """Create an admin key in a file that only its owner can read, if there are no keys yet."""
    from podium.store.keys import create_key, list_keys

    if list_keys(store.engine):
        return
    try:
        descriptor = os.open(key_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise PodiumError(f"{key_file} already exists. Choose a new file for the first admin key.") from None
    except OSError as error:
        raise PodiumError(f"{key_file}: the first admin key cannot be written ({error.strerror})") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(create_key(store.engine, "first admin", "admin") + "\n")
    typer.echo(f"The first admin key is in {key_file}")


db = App(help="Create, upgrade, copy and restore a database.")
season = App(help="Begin seasons, and show their leaderboards.")


ROOM_RATIO = 3  # free space for an upgrade, in sizes of the file: for a copy, and for SQLite's rewriting


class NotUpgradedError(PodiumError):
    """Some pools could not be upgraded."""

    exit_status: ClassVar[int] = 1


@db.command("init", "podium db init --db karts.db")
def init(url: str = storing.DATABASE) -> None:
    """Create the database, or upgrade its schema."""
    storing.create_store(url).close()
    typer.echo(f"{url} is ready")


@db.command("upgrade", "podium db upgrade --db karts.db", short_help="Upgrade a database to this version of Podium.")
def upgrade(url: str = storing.DATABASE) -> None:
    """Upgrade the schema, and recalculate pools that an earlier version rated differently.

    An SQLite database is copied first if an upgrade is needed. For PostgreSQL, run pg_dump first.
    """
    store_class = storing.store_type()
    from podium.store.upgrading import upgrade_pools

    copy_before_upgrade(url)
    store = store_class(url, must_exist=True)
    failures = []
    for upgraded in upgrade_pools(store, "podium db upgrade"):
        if upgraded.error:
            failures.append(str(upgraded))
        else:
            typer.echo(str(upgraded))
    store.close()
    if failures:
        raise NotUpgradedError("\n".join(failures))
    typer.echo(f"{url} is up to date")


def copy_before_upgrade(url: str) -> None:
    """Copy an SQLite file before an upgrade changes it. For other databases, print that there is no copy."""
    from podium.log.database import engine_for, explain_failure, require_database
    from podium.log.files import file_of
    from podium.store.backup import back_up
    from podium.store.upgrading import is_due

    require_database(url)
    with explain_failure(url):
        engine = engine_for(url)
        source, due = file_of(engine.url), is_due(engine)
        engine.dispose()
    if not due:
        return
    if source is None:
        typer.echo("Podium does not copy PostgreSQL databases. Keep a pg_dump from before the upgrade")
        return
    size, free = source.stat().st_size, shutil.disk_usage(source.parent).free
    if free < ROOM_RATIO * size:
        raise PodiumError(
            f"{source}: an upgrade needs {ROOM_RATIO * size / 1e6:,.0f} MB on its disk for a copy and to make the file "
            f"smaller, but only {free / 1e6:,.0f} MB are free. Free some space, or move the database to another disk."
        )
    out = source.with_name(f"{source.stem}-before-upgrade-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}{source.suffix}")
    back_up(url, out)
    typer.echo(f"{url} is copied to {out}")


@db.command(
    "backup", "podium db backup karts-copy.db --db karts.db", short_help="Copy an SQLite database while it is in use."
)
def backup(out: Path = Argument(help="File for the copy."), url: str = storing.DATABASE) -> None:
    """Copy an SQLite database while it is in use. For PostgreSQL, use pg_dump."""
    storing.store_type()
    from podium.store.backup import back_up, heads_of

    back_up(url, out)
    typer.echo(f"{url} is copied to {out}")
    for note in heads_of(out):
        typer.echo(note)


@db.command(
    "restore",
    "podium db restore karts-copy.db --db karts.db",
    short_help="Restore a missing database from a verified copy.",
)
def restore_database(
    source: Path = Argument(help="Copy made with `podium db backup`."),
    unverified: bool = flag("--unverified", "Restore it even if it differs from its log."),
    url: str = storing.DATABASE,
) -> None:
    """Restore a missing database from a copy, once the copy has been verified."""
    storing.store_type()
    from podium.store.backup import restore

    with show.progress("rating again"):
        verification = restore(source, url, unverified=unverified)
    typer.echo("\n".join([f"{url} is restored from {source}: {verification}", *verification.heads]))
    if verification.findings:
        raise NotVerifiedError("\n".join(verification.findings))
    if verification.pools:
        typer.echo(f"{url}: everything stored matches the log")


@season.command(
    "begin",
    "podium season begin 2026 --pool karts --starts 2026-01-01 --keep 0.5",
    short_help="Move every rating towards a newcomer's.",
)
def begin_season(
    name: str = Argument(help="Name of the season."),
    pool: str = storing.POOL_NAME,
    starts: str = Option(
        metavar="DATE",
        help="Start. A date means 00:00 UTC. In a pool without dates, the number of the season's first event.",
    ),
    keep: float = Option(
        min=0.0, max=1.0, help="Share of each lead over a newcomer to keep. 0 makes all ratings equal."
    ),
    widen: bool = Option(
        True,
        help="Increase the uncertainty of each rating by the number of points that the season deducts from it.",
    ),
    change: storing.Rerating = storing.RERATING,
) -> None:
    """Move every rating towards a newcomer's. You can still see the leaderboard from before."""
    from podium.log.pools import read_when
    from podium.store.writing import administration

    act = administration.begin_season(name, read_when(change.store.order(pool), starts), keep, widens=widen)
    change.make(pool, act, f"season {name} begins", f"season {name} would begin")


@season.command("list", "podium season list --pool karts")
def list_seasons(pool: str = storing.POOL_NAME, store: "Store" = storing.STORE, form: Format = options.FORM) -> None:
    """List the seasons of a pool."""
    import polars as pl

    rows = [(season.name, season.when, season.keep) for season in store.seasons(pool)]
    start = ("sequence", pl.Float64()) if store.order(pool) == "sequence" else ("starts_at", pl.Datetime("us", "UTC"))
    kinds = pl.Schema([("name", pl.String()), start, ("keep", pl.Float64())])
    show.show(pl.DataFrame(rows, schema=kinds, orient="row"), form)


@season.command(
    "board", "podium season board 2025 --pool karts", short_help="Show the leaderboard at the end of a season."
)
def season_leaderboard(
    name: str = Argument(help="Name of the season."),
    pool: str = storing.POOL_NAME,
    store: "Store" = storing.STORE,
    form: Format = options.FORM,
) -> None:
    """Show the leaderboard at the end of a season, or the current one if the season is still running."""
    show.show(store.season_leaderboard(pool, name), form)
