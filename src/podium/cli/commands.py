"""The commands, and the code that builds them. Only the command that runs is imported."""

from importlib import import_module

import typer
from typer import Option

from podium import __version__
from podium.cli.terminal.app import App

# By heading: the module and attribute of a command or group, its name, and its line in the list.
COMMANDS = {
    "Begin": (
        ("demo:demo", "demo", "See what Podium does, using the example season."),
        ("systems:init", "init", "Save your default file, system and pool in podium.toml."),
        ("systems:trust", "trust", "Allow podium.toml to run the Python file that it names."),
    ),
    "Results": (
        ("results.checking:check", "check", "Find errors in FILE, and show how to fix them."),
        ("results.importing:import_results", "import", "Convert files from other programs to a results table."),
        ("results.checking:columns", "columns", "Describe the columns of a results table."),
    ),
    "Ratings": (
        ("rating:rate", "rate", "Rate FILE and show every player's rating."),
        ("rating:leaderboard", "leaderboard", "Show the leaderboard."),
        ("championship:standings", "standings", "Show championship points, round by round."),
        ("rating:explain", "explain", "Show why a rating changed, point by point."),
        ("forecasting:predict", "predict", "Predict a race or match."),
        ("forecasting:stakes", "stakes", "Show what each place in an upcoming race would be worth."),
        ("forecasting:seed", "seed", "List players as seeds of a tournament, with groups and pairs."),
        ("forecasting:hindsight", "hindsight", "Estimate past strengths, using later results as well."),
        ("forecasting:strength", "strength", "Show how strong the field of each event was."),
    ),
    "Systems": (
        ("systems:systems", "systems", "List the rating systems, or describe one."),
        ("judging:evaluate", "evaluate", "Find the system that predicts your results best."),
        ("judging:tune", "tune", "Fit a system's parameters to your results."),
        ("judging:audit", "audit", "Show where points come from, and find unusual patterns."),
        ("judging:simulate", "simulate", "Simulate a season from known skills."),
        ("judging:recovery_test", "recovery-test", "Test how well systems find known skills."),
        ("judging:lab", "lab", "Try out matchmaking policies before you use them."),
    ),
    "Pictures and pages": (
        ("publishing:plot", "plot", "Draw a chart of FILE, or a curve of a system."),
        ("publishing:site", "site", "Write the public pages as files for any web host."),
        ("publishing:report", "report", "Write the public pages as one file."),
    ),
    "Live service": (
        ("service.serving:serve", "serve", "Run the service: web pages and the HTTP API."),
        ("service.storing:ingest", "ingest", "Add the events of FILE to a pool."),
        ("service.storing:amend", "amend", "Correct an event, and recalculate later ratings."),
        ("service.storing:void", "void", "Void an event: it no longer counts."),
        ("service.storing:unvoid", "unvoid", "Make a voided event count again."),
        ("service.storing:void_player", "void-player", "Void all events of a player."),
        ("service.storing:merge", "merge", "Merge two accounts of one player."),
        ("service.storing:unmerge", "unmerge", "Undo a merge."),
        ("service.storing:rename", "rename", "Rename a player everywhere."),
        ("service.storing:anonymize", "anonymize", "Remove all names of a player."),
        ("service.verifying:verify", "verify", "Compare everything in the database with the log."),
        ("service.pools:pool", "pool", "Create, list, close and move pools."),
        ("service.fixtures:fixture", "fixture", "Plan, change, cancel and list upcoming races."),
        ("service.serving:season", "season", "Begin seasons, and show their leaderboards."),
        ("service.keys:key", "key", "Create, list, rotate and revoke keys for the service."),
        ("service.keys:webhook", "webhook", "Create, list, resume and delete webhooks."),
        ("service.serving:db", "db", "Create, upgrade, copy and restore a database."),
        ("service.pools:reason", "reason", "Delete the reasons given for corrections."),
    ),
}
# Commands that serve a database or keep it open. Python ends them as usual.
LONG_LIVED = {"demo", *(name for _, name, _ in COMMANDS["Live service"])}
NAMES = {name for rows in COMMANDS.values() for _, name, _ in rows}


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"podium {__version__}")
        raise typer.Exit


def podium(
    version: bool = Option(False, "--version", callback=show_version, is_eager=True, help="Print the version."),
) -> None:
    """Rate players of multiplayer races and games, and explain every rating change."""


def build(only: str | None = None, *, listed: bool = False) -> App:
    """Return the command line: with all commands, with only one, or with a list of commands that cannot run."""
    built = App(name="podium", add_completion=True)
    for heading, rows in COMMANDS.items():
        for place, name, summary in rows:
            if listed:
                built.command(name, short_help=summary, rich_help_panel=heading)(lambda: None)
            elif only in (None, name):
                module, _, attribute = place.partition(":")
                found = getattr(import_module(f"podium.cli.{module}"), attribute)
                if isinstance(found, App):
                    built.add_typer(found, name=name, short_help=summary, rich_help_panel=heading)
                else:
                    built.command(name, short_help=summary, rich_help_panel=heading)(found)
    built.callback()(podium)
    return built
