"""The command that shows what Podium does, on the example season."""

from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli.service.season_site import serve_season
from podium.cli.terminal import engine, show
from podium.cli.terminal.helping import examples
from podium.cli.terminal.reasons import explanation_text
from podium.errors import MissingExtraError, PodiumError

if TYPE_CHECKING:
    from podium.rated import Rated

POOL_OF_GAME = {"SuperTuxKart": "karts", "Trials Fusion": "bikes", "Stunts": "stunts", "Xonotic": "dm"}
SHOWN_RANKS = 5
FALLS = 200  # of each system, among which a winner is sought


def season_path() -> Path:
    """The example season: beside the package in a checkout, inside it once installed."""
    import podium

    inside = Path(podium.__file__).with_name("season.csv")
    beside = Path(podium.__file__).parents[2] / "examples" / "season.csv"
    return inside if inside.exists() else beside


@examples("podium demo", "podium demo --out histories.svg", "podium demo --serve --port 8080")
def demo(
    out: Annotated[Path, typer.Option(help="Where to draw the rating history: .html, .png or .svg.")] = Path(
        "podium-demo.html"
    ),
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the season's pages on this machine instead, until Ctrl-C.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Of --serve; if not given, 8000, or one that is free."),
    ] = None,
) -> None:
    """Rate the example season with every published system, explain one surprise, draw a picture.

    The picture needs the extra `charts`; without it the demo says so and is done. --serve needs the extra `service`.
    """
    if serve:
        serve_season(season_path(), port)
        return
    rate_season(out)
    typer.echo("Its pages, live on this machine: podium demo --serve")


def rate_season(out: Path) -> None:
    """Rate the season with every published system, and show what came of it.

    Args:
        out: where the picture is drawn.
    """
    import polars as pl

    import podium
    from podium.systems import find, names

    engine.prepare()
    pools = {name: POOL_OF_GAME[find(name).game] for name in names() if find(name).game}
    season = podium.read_results(season_path())
    with show.progress(*(f"rating with {name}" for name in pools)) as steps:
        rated = {}
        for name, pool in pools.items():
            rows = podium.Results(season.frame.filter(pl.col("pool") == pool), season.source)
            rated[name] = podium.rate(rows, name)
            steps.next()
    for name, each in rated.items():
        events = each.history["event_id"].n_unique()
        show.show(each.leaderboard().head(SHOWN_RANKS), show.Format.table, f"{name}: {pools[name]}, {events} events")
    explain_surprise(rated)
    try:
        draw(rated, pools, out)
    except MissingExtraError as missing:
        typer.echo(f"No picture is drawn: {missing}")
    else:
        typer.echo(f"The rating histories are in {out}")


def draw(rated: dict[str, "Rated"], pools: dict[str, str], out: Path) -> None:
    """Draw the leaders' histories by each system.

    Raises:
        MissingExtraError: the extra `charts` is not installed.
    """
    from podium.reporting.histories import altair, rating_histories
    from podium.reporting.plotting import save

    histories = []
    for name, each in rated.items():
        leaders = each.leaderboard()["player"].head(SHOWN_RANKS).to_list()
        histories.append(rating_histories(each.history, leaders, f"{name}: {pools[name]}"))
    save(altair().vconcat(*histories).resolve_scale(color="independent"), out)


def explain_surprise(rated: dict[str, "Rated"]) -> None:
    """Explain the costliest match that its winner lost points by."""
    import polars as pl

    falls = []
    for each in rated.values():
        worst = each.history.filter(pl.col("delta") < 0).sort("delta").head(FALLS)
        falls += [(delta, *which, each) for *which, delta in worst.select("event_id", "player", "delta").iter_rows()]
    for _, event_id, player, each in sorted(falls, key=itemgetter(0)):
        explanation = each.explain(event_id, player)
        if explanation.outcome == "won":
            typer.echo(f"Why did the winner lose points? {player} in {event_id}:\n")
            typer.echo(explanation_text(explanation) + "\n")
            return
    raise PodiumError("the season has no winner who lost points")
