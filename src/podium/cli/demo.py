"""The command that shows what Podium does, on the example season."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli import show
from podium.cli.reasons import explanation_text
from podium.errors import PodiumError

if TYPE_CHECKING:
    from podium.rated import Rated

POOL_OF_GAME = {"SuperTuxKart": "karts", "Trials Fusion": "bikes", "Stunts": "stunts", "Xonotic": "dm"}
SHOWN_RANKS = 5


def season_path() -> Path:
    """The example season: beside the package in a checkout, inside it once installed."""
    import podium

    inside = Path(podium.__file__).with_name("season.csv")
    beside = Path(podium.__file__).parents[2] / "examples" / "season.csv"
    return inside if inside.exists() else beside


def demo(
    out: Annotated[Path, typer.Option(help="Where to draw the rating history: .html, .png or .svg.")] = Path(
        "podium-demo.html"
    ),
) -> None:
    """Rate the example season with every published system, explain one surprise, draw a picture."""
    import polars as pl

    import podium
    from podium.reporting import charts
    from podium.systems import find, names

    pools = {name: POOL_OF_GAME[find(name).game] for name in names() if find(name).game}
    season = podium.read_results(season_path())
    histories = []
    with show.progress(*(f"rating with {name}" for name in pools)) as steps:
        rated = {}
        for name, pool in pools.items():
            rows = podium.Results(season.frame.filter(pl.col("pool") == pool), season.source)
            rated[name] = podium.rate(rows, name)
            steps.next()
    for name, each in rated.items():
        board = each.leaderboard()
        events = each.history["event_id"].n_unique()
        show.show(board.head(SHOWN_RANKS), show.Format.table, f"{name}: {pools[name]}, {events} events")
        leaders = board["player"].head(SHOWN_RANKS).to_list()
        histories.append(charts.rating_histories(each.history, leaders, f"{name}: {pools[name]}"))
    explain_surprise(rated)
    charts.save(charts.altair().vconcat(*histories).resolve_scale(color="independent"), out)
    typer.echo(f"The rating histories are in {out}")


def explain_surprise(rated: dict[str, "Rated"]) -> None:
    """Explain the costliest match that its winner lost points by."""
    explanation = max((surprise(each) for each in rated.values()), key=lambda win: -win.delta if win else -1e9)
    if explanation is None:
        raise PodiumError("the season has no winner who lost points")
    typer.echo(f"Why did the winner lose points? {explanation.player} in {explanation.event_id}:\n")
    typer.echo(explanation_text(explanation) + "\n")


def surprise(rated: "Rated") -> Any:
    """The explanation of a system's costliest win, or None."""
    falls = rated.history.sort("delta").head(200)
    for event_id, player, delta in falls.select("event_id", "player", "delta").iter_rows():
        explanation = rated.explain(event_id, player)
        if delta < 0 and explanation.outcome == "won":
            return explanation
    return None
