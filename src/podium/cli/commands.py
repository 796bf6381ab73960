"""The commands, and how they are put together: of a command that runs alone no other is imported."""

from importlib import import_module
from typing import Annotated, Any

import typer

from podium import __version__
from podium.cli.terminal.helping import App

# By heading: where the command is, its name, and a line about it where its own first sentence is too long for the list.
COMMANDS = {
    "Begin": (
        ("demo:demo", "demo", "See what Podium does, on the example season."),
        ("systems:init", "init", "Write podium.toml: the file, system and pool you mean."),
    ),
    "Results": (
        ("results.checking:check", "check", "Say what is wrong in FILE, and how to mend it."),
        ("results.importing:import_results", "import", "Turn files of other programs into a results table."),
        ("results.checking:columns", "columns", "Describe the columns of a results table."),
    ),
    "Ratings": (
        ("rating:rate", "rate", None),
        ("rating:leaderboard", "leaderboard", None),
        ("rating:explain", "explain", "Say why a rating moved, point by point."),
        ("rating:predict", "predict", "Tell the chances of a field of entrants."),
        ("rating:strength", "strength", "Show how strong the field of each event was."),
    ),
    "Systems": (
        ("systems:systems", "systems", "List the rating systems, or describe one."),
        ("judging:evaluate", "evaluate", "Find the system that predicts your results best."),
        ("judging:tune", "tune", "Fit a system's parameters to your results."),
        ("judging:audit", "audit", "Show where points come from, and odd patterns."),
        ("simulating:simulate", "simulate", None),
        ("simulating:recover", "recover", "Tell how well systems find skills that are known."),
    ),
    "Pictures": (
        ("drawing:plot", "plot", "Draw a chart of FILE, or a curve of a system."),
        ("drawing:report", "report", "Write one page about FILE that needs no network."),
    ),
    "Live service": (
        ("service.serving:serve", "serve", "Serve the HTTP API."),
        ("service.storing:ingest", "ingest", "Send the events of FILE to a ladder."),
        ("service.storing:amend", "amend", "Correct an event; all ratings become what they would be."),
        ("service.storing:void", "void", None),
        ("service.storing:restore", "restore", None),
        ("service.storing:merge", "merge", "Merge two accounts of one player."),
        ("service.storing:unmerge", "unmerge", "Undo a merge."),
        ("service.storing:rename", "rename", "Rename a player everywhere."),
        ("service.storing:pseudonymise", "pseudonymise", "Forget every name that a player had."),
        ("service.storing:snapshot", "snapshot", "Store the ranks of a day."),
        ("service.storing:verify", "verify", "Compare all that is stored with the log."),
    ),
}
GROUPS = {
    "Results": (("results.importing:dataset", "dataset"),),
    "Systems": (("simulating:lab", "lab"),),
    "Live service": (
        ("service.pools:pool", "pool"),
        ("service.serving:season", "season"),
        ("service.keys:key", "key"),
        ("service.keys:webhook", "webhook"),
        ("service.serving:db", "db"),
        ("service.pools:reason", "reason"),
    ),
}
# Commands that serve, or that hold a database open: Python ends them in its own way.
LONG_LIVED = {"demo", *(name for part in (COMMANDS, GROUPS) for _, name, *_ in part["Live service"])}
NAMES = {name for part in (COMMANDS, GROUPS) for rows in part.values() for _, name, *_ in rows}


def show_version(wanted: bool) -> None:  # noqa: FBT001  (typer calls it so)
    """Print the version and stop."""
    if wanted:
        typer.echo(f"podium {__version__}")
        raise typer.Exit


def podium(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Rate players of multiplayer races and games, and say why every rating moved."""


def build(only: str | None = None) -> App:
    """The commands, put together."""
    built = App(
        name="podium",
        help="Rate players of multiplayer races and games, and say why every rating moved.",
        add_completion=True,
    )
    for heading, commands in COMMANDS.items():
        for place, name, summary in commands:
            if only in (None, name):
                built.command(name, short_help=summary, rich_help_panel=heading)(find(place))
    for heading, groups in GROUPS.items():
        for place, name in groups:
            if only in (None, name):
                built.add_typer(find(place), name=name, rich_help_panel=heading)
    built.callback()(podium)
    return built


def find(place: str) -> Any:
    """What is at `module:name` of this package."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"podium.cli.{module}"), name)
