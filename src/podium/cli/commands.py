"""The commands, and how they are put together: of a command that runs alone no other is imported."""

from importlib import import_module

import typer
from typer import Option

from podium import __version__
from podium.cli.terminal.app import App

# By heading: where the command or group is, its name, and the line about it in the list.
COMMANDS = {
    "Begin": (
        ("demo:demo", "demo", "See what Podium does, on the example season."),
        ("systems:init", "init", "Write podium.toml: the file, system and pool you mean."),
        ("systems:trust", "trust", "Allow podium.toml to run the Python file it names."),
    ),
    "Results": (
        ("results.checking:check", "check", "Say what is wrong in FILE, and how to mend it."),
        ("results.importing:import_results", "import", "Turn files of other programs into a results table."),
        ("results.checking:columns", "columns", "Describe the columns of a results table."),
    ),
    "Ratings": (
        ("rating:rate", "rate", "Rate FILE and show every player's rating."),
        ("rating:leaderboard", "leaderboard", "Show who stands where."),
        ("rating:explain", "explain", "Say why a rating moved, point by point."),
        ("forecasting:predict", "predict", "Tell the chances of a field of entrants."),
        ("forecasting:stakes", "stakes", "Show the effect of each place in an upcoming race."),
        ("forecasting:hindsight", "hindsight", "Tell how strong everybody was, knowing all since."),
        ("forecasting:strength", "strength", "Show how strong the field of each event was."),
    ),
    "Systems": (
        ("systems:systems", "systems", "List the rating systems, or describe one."),
        ("judging:evaluate", "evaluate", "Find the system that predicts your results best."),
        ("judging:tune", "tune", "Fit a system's parameters to your results."),
        ("judging:audit", "audit", "Show where points come from, and odd patterns."),
        ("judging:simulate", "simulate", "Simulate a season from known skills."),
        ("judging:recovery_test", "recovery-test", "Tell how well systems find skills that are known."),
        ("judging:lab", "lab", "Try a policy before players have to."),
    ),
    "Pictures and pages": (
        ("publishing:plot", "plot", "Draw a chart of FILE, or a curve of a system."),
        ("publishing:site", "site", "Write the public pages as files for any web space."),
        ("publishing:report", "report", "Write the public pages as one file."),
    ),
    "Live service": (
        ("service.serving:serve", "serve", "Serve the HTTP API."),
        ("service.storing:ingest", "ingest", "Send the events of FILE to a pool."),
        ("service.storing:amend", "amend", "Correct an event; all ratings become what they would be."),
        ("service.storing:void", "void", "Void an event: it no longer counts."),
        ("service.storing:unvoid", "unvoid", "Let a voided event count again."),
        ("service.storing:merge", "merge", "Merge two accounts of one player."),
        ("service.storing:unmerge", "unmerge", "Undo a merge."),
        ("service.storing:rename", "rename", "Rename a player everywhere."),
        ("service.storing:anonymize", "anonymize", "Remove every name that a player had."),
        ("service.verifying:verify", "verify", "Compare all that is stored with the log."),
        ("service.pools:pool", "pool", "Open, list, close and carry over pools."),
        ("service.pools:fixture", "fixture", "Plan, change, cancel and list races to come."),
        ("service.serving:season", "season", "Begin seasons, and show how they ended."),
        ("service.keys:key", "key", "Create, list, rotate and revoke keys to the service."),
        ("service.keys:webhook", "webhook", "Create, list, resume and delete webhooks."),
        ("service.serving:db", "db", "Create, upgrade, copy and restore a database."),
        ("service.pools:reason", "reason", "Blank the reasons of corrections."),
    ),
}
# Commands that serve, or that hold a database open: Python ends them in its own way.
LONG_LIVED = {"demo", *(name for _, name, _ in COMMANDS["Live service"])}
NAMES = {name for rows in COMMANDS.values() for _, name, _ in rows}


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"podium {__version__}")
        raise typer.Exit


def podium(
    version: bool = Option(False, "--version", callback=show_version, is_eager=True, help="Print the version."),
) -> None:
    """Rate players of multiplayer races and games, and say why every rating moved."""


def build(only: str | None = None, *, listed: bool = False) -> App:
    """Return the command line with all commands or only one, or with a list of them that none can run from."""
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
