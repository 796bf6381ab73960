"""The command groups, put together. Nothing heavy is imported before a command runs."""

from typing import Annotated

import typer

from podium import __version__
from podium.cli import (
    checking,
    columns,
    databases,
    demo,
    drawing,
    forecasting,
    importing,
    judging,
    keys,
    labs,
    pools,
    rating,
    serving,
    simulating,
    storing,
    systems,
    webhooks,
)

app = typer.Typer(
    name="podium",
    help="Rate players of multiplayer races and games, and say why every rating moved.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: Rich's takes longer to load than all the rest
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("rate")(rating.rate)
app.command("leaderboard")(rating.leaderboard)
app.command("explain")(rating.explain)
app.command("check")(checking.check)
app.command("evaluate")(judging.evaluate)
app.command("tune")(judging.tune)
app.command("audit")(judging.audit)
app.command("predict")(forecasting.predict)
app.command("strength")(forecasting.strength)
app.command("simulate")(simulating.simulate)
app.command("recover")(simulating.recover)
app.add_typer(labs.lab, name="lab")
app.command("plot")(drawing.plot)
app.command("report")(drawing.report)
for command in (
    storing.ingest,
    storing.amend,
    storing.void,
    storing.restore,
    storing.merge,
    storing.unmerge,
    storing.rename,
    storing.pseudonymise,
    storing.snapshot,
    storing.verify,
):
    app.command(command.__name__)(command)
app.command("serve")(serving.serve)
app.add_typer(keys.key, name="key")
app.add_typer(webhooks.webhook, name="webhook")
app.add_typer(databases.db, name="db")
app.add_typer(pools.pool, name="pool")
app.add_typer(pools.reason, name="reason")
app.add_typer(databases.season, name="season")
app.command("import")(importing.import_results)
app.command("columns")(columns.columns)
app.command("systems")(systems.systems)
app.command("demo")(demo.demo)


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
