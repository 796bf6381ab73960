"""The `demo` command: the example season, in the terminal or as a service."""

import contextlib
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Option

from podium.cli.terminal import options, show
from podium.cli.terminal.app import examples, flag, option
from podium.cli.terminal.show import explanation_text
from podium.errors import MissingExtraError, PodiumError, needs_extra

if TYPE_CHECKING:
    from podium.rated import Rated
    from podium.store import Store


HOST = "127.0.0.1"
PORT = 8000  # default; if it is taken, a free port is used
SHOWN = (  # addresses to open, with descriptions
    ("", "all pools, with a search"),
    ("/bikes", "a leaderboard"),
    ("/bikes/players/Dragana", "a player"),
    ("/bikes/events/bikes-058/Dragana", "why she won but lost points"),
    ("/bikes/system", "how its ratings work"),
    ("/bikes/matches/bikes-next", "what an upcoming race would be worth"),
    ("/bikes/matches/bikes-now", "a race in progress"),
)


SEASON_POOLS = {  # system, title and word for a player, by pool
    "bikes": ("trials", "Bikes", "rider"),
    "karts": ("stk", "Karts", "driver"),
    "stunts": ("folyami", "Stunts", "driver"),
    "dm": ("xonstat", "Deathmatch", "player"),
}


def fill_season(store: "Store", season: Path) -> None:
    """Create the season's pools in a store, and submit their events."""
    import polars as pl

    from podium.results.reading import read_results
    from podium.systems import find

    results = read_results(season).frame
    for pool, (system, title, player_word) in SEASON_POOLS.items():
        store.create_pool(pool, find(system)(), title=title, player_word=player_word, public=True)
        rows = results.filter(pl.col("pool") == pool)
        store.submit(pool, rows, actor="race server 1")


@contextlib.contextmanager
def season_store(season: Path) -> Iterator["Store"]:
    """Yield a store with the season. Its files are deleted at the end."""
    from podium.store import Store

    with tempfile.TemporaryDirectory(prefix="podium-demo-") as folder:
        store = Store(f"{folder}/podium.db")
        try:
            fill_season(store, season)
            yield store
        finally:
            store.close()


def plan_races(store: "Store") -> None:
    """Plan two races with the entrants of each pool's latest event: one now, and one tomorrow."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    for pool in store.pools():
        newest = store.event_list(pool.name, top=1).events
        field = [change.player for change in store.event(pool.name, newest[0].event_id).changes] if newest else []
        for name, title, starts in (("now", "This race", now), ("next", "The next race", now + timedelta(days=1))):
            store.plan_fixture(pool.name, f"{pool.name}-{name}", starts_at=starts, title=title, entrants=field)
        store.post_places(pool.name, f"{pool.name}-now", field[: len(field) // 2])


def listening_socket(port: int | None) -> socket.socket:
    for candidate in (PORT, 0) if port is None else (port,):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, candidate))
            listener.listen()  # early requests wait until everything is loaded
        except OSError as error:
            listener.close()
            if candidate == port:
                reason = f"port {port} of {HOST} cannot be used ({error.strerror}). Choose another with --port."
                raise PodiumError(reason) from None
        else:
            return listener
    raise PodiumError(f"{HOST} has no free port. Stop another program first.")


def serve_season(season: Path, port: int | None) -> None:
    with needs_extra("service", "podium demo --serve"):
        from podium.service import create_app
        from podium.service.server import run_on
        from podium.store.keys import create_key
    listener = listening_socket(port)
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    typer.echo("Podium is rating the example season.\n")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, and removes its files
    with contextlib.suppress(KeyboardInterrupt), listener, season_store(season) as store:
        plan_races(store)
        typer.echo("The example season is live. Open, for example:\n")
        width = len(address) + max(len(path) for path, _ in SHOWN)
        for path, words in SHOWN:
            typer.echo(f"  {address + (path or '/'):{width}}  {words}")
        typer.echo(f"\nTo correct results, sign in at {address}/sign-in with the key")
        typer.echo(f"  {create_key(store.engine, 'demo', 'admin')}\n\nPress Ctrl-C to stop it and delete its database.")
        run_on(create_app(store), listener)
    typer.echo("The demo has ended, and its database is deleted.")


POOL_OF_GAME = {"SuperTuxKart": "karts", "Trials Fusion": "bikes", "Stunts": "stunts", "Xonotic": "dm"}
SHOWN_RANKS = 5


def season_path() -> Path:
    """Return the path of the example season: in the installed package, or in a checkout's `examples` folder."""
    import podium

    inside = Path(podium.__file__).with_name("season.csv")
    beside = Path(podium.__file__).parents[2] / "examples" / "season.csv"
    return inside if inside.exists() else beside


@examples("podium demo", "podium demo --out histories.svg", "podium demo --serve --port 8080")
def demo(
    out: Path = Option(Path("podium-demo.html"), help="File for the rating histories: .html, .png or .svg."),
    serve: bool = flag("--serve", "Serve the season's pages on this machine instead, until Ctrl-C."),
    port: int | None = option("Port for --serve [default: 8000, or a free one].", min=1, max=65535),
) -> None:
    """Rate the example season with every published system, explain one surprise and draw a chart.

    The chart needs the extra `charts`, and --serve needs the extra `service`.
    """
    if "numba" not in sys.modules:
        os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # compiling takes 20 times as long as rating the season
    if serve:
        serve_season(season_path(), port)
        return
    rate_season(out)
    typer.echo("To see its pages in your browser: podium demo --serve")


def rate_season(out: Path) -> None:
    import polars as pl

    import podium
    from podium.systems import find, names

    options.prepare()
    pools = {name: POOL_OF_GAME[find(name).game] for name in names() if find(name).game}
    season = podium.read_results(season_path())
    with show.progress(*(f"rating with {name}" for name in pools)) as steps:
        rated = {}
        for name, pool in pools.items():
            rows = podium.Results(season.frame.filter(pl.col("pool") == pool), season.source)
            rated[name] = podium.rate(rows, name)
            steps.next()
    explain_surprise(rated)
    for name, rating in rated.items():
        events = rating.history["event_id"].n_unique()
        show.show(rating.leaderboard().head(SHOWN_RANKS), show.Format.table, f"{name}: {pools[name]}, {events} events")
    try:
        draw(rated, pools, out)
    except MissingExtraError as missing:
        typer.echo(f"No chart is drawn: {missing}")
    else:
        typer.echo(f"The rating histories are in {out}")


def draw(rated: dict[str, "Rated"], pools: dict[str, str], out: Path) -> None:
    from podium.reporting.histories import altair, rating_histories
    from podium.reporting.plotting import save

    histories = []
    for name, rating in rated.items():
        leaders = rating.leaderboard()["player"].head(SHOWN_RANKS).to_list()
        histories.append(rating_histories(rating.history, leaders, f"{name}: {pools[name]}"))
    save(altair().vconcat(*histories).resolve_scale(color="independent"), out)


def explain_surprise(rated: dict[str, "Rated"]) -> None:
    """Explain the match whose winner lost most points."""
    import polars as pl

    falls = []
    for rating in rated.values():
        totals = rating.results.frame.group_by("event_id", "player").agg(pl.col("score").sum(), pl.col("time_s").max())
        most, least = pl.col("score").max().over("event_id"), pl.col("time_s").min().over("event_id")
        # Explanations are slow, so leave out players who cannot have won.
        best = totals.filter(pl.col("score") == most, pl.col("time_s").eq_missing(least))
        worst = rating.history.filter(pl.col("delta") < 0).join(best, on=["event_id", "player"], how="semi")
        falls += [(delta, *which, rating) for *which, delta in worst.select("event_id", "player", "delta").iter_rows()]
    for _, event_id, player, rating in sorted(falls, key=itemgetter(0)):
        explanation = rating.explain(event_id, player)
        if explanation.outcome == "won":
            typer.echo(f"Why did the winner lose points? {player} in {event_id}:\n")
            typer.echo(explanation_text(explanation) + "\n")
            return
    raise PodiumError("no winner in the season lost points")
