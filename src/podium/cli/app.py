"""The command groups, put together. Nothing heavy is imported before a command runs."""

from typing import Annotated

import typer

from podium import __version__
from podium.cli import demo, drawing, forecasting, judging, labs, rating, setup, simulating, systems
from podium.cli.results import checking, columns, datasets, importing
from podium.cli.service import databases, keys, pools, serving, storing, webhooks
from podium.cli.terminal.helping import App

COMMANDS = {  # by heading: the command, and a line about it where its own first sentence is too long for the list
    "Begin": (
        (demo.demo, "demo", "See what Podium does, on the example season."),
        (setup.init, "init", "Write podium.toml: the file, system and pool you mean."),
    ),
    "Results": (
        (checking.check, "check", "Say what is wrong in FILE, and how to mend it."),
        (importing.import_results, "import", "Turn files of other programs into a results table."),
        (columns.columns, "columns", "Describe the columns of a results table."),
    ),
    "Ratings": (
        (rating.rate, "rate", None),
        (rating.leaderboard, "leaderboard", None),
        (rating.explain, "explain", "Say why a rating moved, point by point."),
        (forecasting.predict, "predict", "Tell the chances of a field of entrants."),
        (forecasting.strength, "strength", "Show how strong the field of each event was."),
    ),
    "Systems": (
        (systems.systems, "systems", "List the rating systems, or describe one."),
        (judging.evaluate, "evaluate", "Find the system that predicts your results best."),
        (judging.tune, "tune", "Fit a system's parameters to your results."),
        (judging.audit, "audit", "Show where points come from, and odd patterns."),
        (simulating.simulate, "simulate", None),
        (simulating.recover, "recover", "Tell how well systems find skills that are known."),
    ),
    "Pictures": (
        (drawing.plot, "plot", "Draw a chart of FILE, or a curve of a system."),
        (drawing.report, "report", "Write one page about FILE that needs no network."),
    ),
    "Live service": (
        (serving.serve, "serve", "Serve the HTTP API."),
        (storing.ingest, "ingest", "Send the events of FILE to a ladder."),
        (storing.amend, "amend", "Correct an event; all ratings become what they would be."),
        (storing.void, "void", None),
        (storing.restore, "restore", None),
        (storing.merge, "merge", "Merge two accounts of one player."),
        (storing.unmerge, "unmerge", "Undo a merge."),
        (storing.rename, "rename", "Rename a player everywhere."),
        (storing.pseudonymise, "pseudonymise", "Forget every name that a player had."),
        (storing.snapshot, "snapshot", "Store the ranks of a day."),
        (storing.verify, "verify", "Compare all that is stored with the log."),
    ),
}
GROUPS = {
    "Results": ((datasets.dataset, "dataset"),),
    "Systems": ((labs.lab, "lab"),),
    "Live service": (
        (pools.pool, "pool"),
        (databases.season, "season"),
        (keys.key, "key"),
        (webhooks.webhook, "webhook"),
        (databases.db, "db"),
        (pools.reason, "reason"),
    ),
}
# Commands that serve, or that hold a database open: Python ends them in its own way.
LONG_LIVED = {"demo", *(name for part in (COMMANDS, GROUPS) for _, name, *_ in part["Live service"])}

app = App(
    name="podium",
    help="Rate players of multiplayer races and games, and say why every rating moved.",
    add_completion=True,
)
for heading, commands in COMMANDS.items():
    for command, name, summary in commands:
        app.command(name, short_help=summary, rich_help_panel=heading)(command)
for heading, groups in GROUPS.items():
    for group, name in groups:
        app.add_typer(group, name=name, rich_help_panel=heading)


def show_version(wanted: bool) -> None:  # noqa: FBT001  (typer calls it so)
    """Print the version and stop."""
    if wanted:
        typer.echo(f"podium {__version__}")
        raise typer.Exit


@app.callback()
def podium(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Rate players of multiplayer races and games, and say why every rating moved."""
