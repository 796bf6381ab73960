"""Commands about datasets: results on disk, a folder a pool."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.results.reading import Input, reads_named_results
from podium.cli.terminal import show
from podium.cli.terminal.helping import App, examples

if TYPE_CHECKING:
    from podium.dataset import Dataset

dataset = App(help="Write results as a dataset, for many pools or more than memory holds, and check it.")


@dataset.callback()
def datasets() -> None:
    """Write results as a dataset, for many pools or more than memory holds, and check it."""


@dataset.command("write", short_help="Write FILE as a dataset.")
@examples("podium dataset write results.csv league", "podium dataset write exported/ s3://bucket/league")
@reads_named_results
def write(
    file: Input,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A new folder, or an address such as s3://bucket/league.")
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the dataset that is there.")] = False,
) -> None:
    """Write FILE, or a folder of Parquet files, as a dataset: a folder a pool, sorted, checked, with its digests."""
    from podium.dataset import write

    with show.progress("reading", "writing") as steps:
        source: Any = file.path if streams(file) else file.read()
        steps.next()
        written = write(source, folder, overwrite=overwrite)
    tell(written, "written")


def streams(file: Input) -> bool:
    """Whether a file is read part by part rather than whole."""
    from podium.dataset import is_dataset

    plain = file.format is None and file.map is None
    return plain and (is_dataset(file.path) or Path(file.path).is_dir() or file.path.lower().endswith(".parquet"))


@dataset.command("check", short_help="Check that a dataset is as it was written.")
@examples("podium dataset check league")
def check(folder: Annotated[str, typer.Argument(metavar="DIR", help="A dataset.")]) -> None:
    """Check that every file of a dataset is there and as it was written: digests, rows, events."""
    from podium.dataset import check

    with show.progress("checking"):
        checked = check(folder)
    tell(checked, "all good")


def tell(written: "Dataset", verdict: str) -> None:
    """Say how large a dataset is."""
    from podium.support.notebook import counted

    sizes = counted(written.rows, "row"), counted(written.events, "event"), counted(len(written.pools), "pool")
    typer.echo(f"{written.uri}: {', '.join(sizes)}, digest {written.digest}: {verdict}")
