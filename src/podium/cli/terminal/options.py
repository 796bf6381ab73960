"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from podium.cli.terminal.completion import complete_system
from podium.cli.terminal.settings import from_settings
from podium.cli.terminal.show import Format

SystemName = Annotated[
    str | None,
    typer.Option(
        "--system",
        "-s",
        metavar="NAME",
        help="The rating system: a name (`podium systems` lists them), elo:k=20, or my.py:Class; if not given, what "
        "PODIUM_SYSTEM or podium.toml says, else elo.",
        autocompletion=complete_system,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter; none switches off what can be. May repeat."),
]
SystemFile = Annotated[
    Path | None, typer.Option("--system-file", metavar="TOML", help="Load the system's name and parameters.")
]
Period = Annotated[
    str,
    typer.Option(
        "--period",
        metavar="SPAN",
        help="When ratings settle: event, 1d, 1w, 1mo, or a multiple.",
        callback=from_settings("period"),
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="RATINGS",
        help="Continue from these ratings: what --ratings wrote (.parquet keeps every state whole), or a table with "
        "pool, player, rating and what else is known.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAME,...",
        help="Show these columns, or all; if not given, those that fit and say something.",
    ),
]
Shape = Annotated[Format, typer.Option("--format", "-f", help="What to print.")]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Who does the pools of a dataset: local, processes or dask. If not given, processes for many rows.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="The scheduler of Dask, such as tcp://10.0.0.5:8786. Without one, --engine dask starts two workers here.",
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", min=1, help="Processes, or workers of Dask here, for a dataset.")
]
