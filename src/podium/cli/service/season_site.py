"""The example season as a live service: a pool for each game, public, in a database that is removed at the end."""

import contextlib
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from podium.errors import PodiumError, needs_extra

if TYPE_CHECKING:
    from podium.store import Store

HOST = "127.0.0.1"
PORT = 8000  # another that is free, where this one is taken and none was named
SHOWN = (  # addresses to open, and what they show
    ("", "all pools, and a search"),
    ("/bikes", "a leaderboard"),
    ("/bikes/players/Dragana", "a player"),
    ("/bikes/events/bikes-058/Dragana", "why she won, and lost points"),
    ("/bikes/system", "how its ratings work"),
)


class SeasonPool(NamedTuple):
    """How a pool of the season is rated and called."""

    system: str
    title: str
    player_word: str


SEASON_POOLS = {
    "bikes": SeasonPool("trials", "Bikes", "rider"),
    "karts": SeasonPool("stk", "Karts", "driver"),
    "stunts": SeasonPool("folyami", "Stunts", "driver"),
    "dm": SeasonPool("xonstat", "Deathmatch", "player"),
}


def fill_season(store: "Store", season: Path) -> None:
    """Open the season's pools in a store, send their events, and keep the ranks of its last day.

    Args:
        store: a new one.
        season: the results.
    """
    import polars as pl

    from podium.results.reading import read_results
    from podium.systems import find

    results = read_results(season).frame
    for pool, (system, title, player_word) in SEASON_POOLS.items():
        store.create_pool(pool, find(system)(), title=title, player_word=player_word, public=True)
        rows = results.filter(pl.col("pool") == pool)
        store.submit(pool, rows, actor="race server 1")
        store.snapshot(pool, rows.select(pl.col("started_at").max().dt.epoch("d")).item())


@contextlib.contextmanager
def season_store(season: Path) -> Iterator["Store"]:
    """A store with the season, whose files are removed at the end."""
    from podium.store import Store

    with tempfile.TemporaryDirectory(prefix="podium-demo-") as folder:
        store = Store(f"{folder}/podium.db")
        try:
            fill_season(store, season)
            yield store
        finally:
            store.close()


def listening_socket(port: int | None) -> socket.socket:
    """A socket that listens on this machine only.

    Args:
        port: the only one that will do; the usual one or any that is free where None.

    Raises:
        PodiumError: the port is taken.
    """
    for each in (PORT, 0) if port is None else (port,):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, each))
            listener.listen()  # whoever comes before all is loaded waits a moment
        except OSError as error:
            listener.close()
            if each == port:
                raise PodiumError(f"port {port} of {HOST} cannot be used ({error.strerror}): name another") from None
        else:
            return listener
    raise PodiumError(f"no port of {HOST} can be used")


def serve_season(season: Path, port: int | None) -> None:
    """Serve the season until Ctrl-C.

    Args:
        season: the results.
        port: as for `listening_socket`.

    Raises:
        MissingExtraError: the extra `service` is not installed.
        PodiumError: the port is taken.
    """
    with needs_extra("service", "podium demo --serve"):
        from podium.service import create_app
        from podium.service.server import run_on
        from podium.store.keys import create_key
    listener = listening_socket(port)
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: with its files removed
    with contextlib.suppress(KeyboardInterrupt), listener, season_store(season) as store:
        typer.echo("The example season is live. Open, for instance:\n")
        width = len(address) + max(len(path) for path, _ in SHOWN)
        for path, words in SHOWN:
            typer.echo(f"  {address + (path or '/'):{width}}  {words}")
        typer.echo(f"\nTo correct results, sign in at {address}/sign-in with the key")
        typer.echo(f"  {create_key(store.engine, 'demo', 'admin')}\n\nCtrl-C ends it and removes its database.")
        run_on(create_app(store), listener)
    typer.echo("The demo has ended; its database is removed.")
