"""How commands read results: a results file, or one of a foreign format or with a map."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.terminal.options import complete_format, complete_shape_or_format
from podium.cli.terminal.settings import FILE_NAME, find_settings
from podium.cli.terminal.show import Format, did_you_mean
from podium.errors import ParameterError
from podium.importers.registry import FORMATS

if TYPE_CHECKING:
    import polars as pl

    from podium.dataset import Dataset
    from podium.results.reading import Results

SHAPES = tuple(each.value for each in Format)
NAMES = ", ".join(name for name in FORMATS if name not in SHAPES)
READS = "Results as CSV, Parquet, JSON lines or a workbook, or see --format"
NamedFile = Annotated[str, typer.Argument(metavar="FILE", help=f"{READS}; - reads stdin.")]
File = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help=f"{READS}; - reads stdin. If not given, the file in podium.toml."),
]
OptionalFile = Annotated[str | None, typer.Argument(metavar="FILE", help=f"{READS}.")]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help=f"What to print: {', '.join(SHAPES)}. Or what FILE is: {NAMES}. May repeat.",
        autocompletion=complete_shape_or_format,
    ),
]
FileFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help=f"What FILE is: {', '.join(FORMATS)}.",
        autocompletion=complete_format,
    ),
]
MapFile = Annotated[
    Path | None, typer.Option("--map", metavar="TOML", help="What FILE's columns mean (see podium import).")
]

Strict = Annotated[
    bool, typer.Option("--strict", help="Take FILE only as a results table to the letter (podium columns).")
]


@dataclass(frozen=True)
class Input:
    """A file of results, and how it is to be read."""

    path: str
    format: str | None = None
    map: Path | None = None
    strict: bool = False

    def __str__(self) -> str:
        return self.path

    def source(self) -> "str | Results":
        """What a store takes: the checked results, or the path where only the store can judge its names."""
        from podium.errors import ResultsError

        try:
            return self.read()
        except ResultsError:
            if self.format is None and self.map is None and self.is_plain():
                return self.path
            raise

    def events_of(self, pool: str) -> "str | Results | pl.DataFrame":
        """What a store takes for a pool: all events, or of a format that has pools those of that one."""
        import polars as pl

        from podium.results.columns import DEFAULTS

        source = self.source()
        if self.format is None or isinstance(source, str) or (source.frame["pool"] == DEFAULTS["pool"]).all():
            return source
        own = source.frame.filter(pl.col("pool") == pool)
        events = source.frame.group_by("pool", maintain_order=True).agg(pl.col("event_id").n_unique())
        others = [f"{count} of {name}" for name, count in events.iter_rows() if name != pool]
        if own.is_empty() and others:
            raise ParameterError(f"{self.path}: has no event of pool {pool}, but {', '.join(others)}")
        if others:
            typer.echo(f"podium: {self.path}: left aside are the events of other pools: {', '.join(others)}", err=True)
        return own

    def is_folder(self) -> bool:
        """Whether it is a folder of results as Parquet files, which are rated in bounded memory."""
        return self.format is None and self.map is None and Path(self.path).is_dir()

    def is_plain(self) -> bool:
        """Whether it is a file with the headings of a results table, and no others."""
        from podium.errors import ResultsError
        from podium.results.reading import header_faults, load_path

        try:
            return Path(self.path).is_file() and not header_faults(load_path(self.path, None)[0])
        except ResultsError:
            return False

    def open(self) -> "Results | Dataset | str":
        """Open a dataset; name a folder of Parquet files; read and check other results."""
        from podium.large.dataset import is_dataset

        if self.format is None and self.map is None and is_dataset(self.path):
            from podium.large.files import open_dataset

            return open_dataset(self.path)
        return self.path if self.is_folder() else self.read()

    def read(self) -> "Results":
        """Read and check the results; what was understood of a file in another shape goes to stderr."""
        results = self._read()
        for note in results.notes:
            typer.echo(f"{results.source}: {note}", err=True)
        return results

    def _read(self) -> "Results":
        import podium

        if self.format is not None and self.format != "csv":
            from podium.importers import Options, read_format

            table = read_format(self.format, [self.path], Options(map=self.map)).table
            return podium.read_results(table, name=self.path)
        if self.map is not None:
            return podium.read_results(self.path, map=self.map)
        return podium.read_results(self.path, lenient=not self.strict)


def reads_results(command: Callable[..., None], *, must_be_named: bool = False) -> Callable[..., None]:
    """Let a command that takes an `Input` take FILE, `--format`, `--map` and `--strict` for it.

    A command that prints a table has a parameter `form`; then `--format` says what to print, too. Where FILE is not
    given and need not be named, it is the one of the settings.
    """
    own = inspect.signature(command).parameters
    source = next(
        name for name, each in own.items() if Input in getattr(each.annotation, "__args__", [each.annotation])
    )
    prints = "form" in own
    optional = own[source].default is None

    @functools.wraps(command)
    def run(**values: Any) -> None:
        path, formats, map_file, strict = (values.pop(name) for name in ("file", "formats", "map_file", "strict"))
        file_format = formats
        if prints:
            file_format, values["form"] = split_formats(formats or [])
        if path is None and optional and (file_format or map_file):
            raise ParameterError("--format and --map say how FILE is read; name it")
        given = None if path is None and optional else with_settings(path, file_format, map_file, strict=strict)
        command(**values, **{source: given})

    added = {
        "file": (NamedFile, inspect.Parameter.empty) if must_be_named else (OptionalFile if optional else File, None),
        "formats": (Formats if prints else FileFormat, None),
        "map_file": (MapFile, None),
        "strict": (Strict, False),
    }
    others = [each for name, each in own.items() if name not in (source, "form")]
    new = {
        name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, (annotation, default) in added.items()
    }
    place = list(own).index(source)
    parameters = [*others[:place], new["file"], *others[place:], *(new[name] for name in added if name != "file")]
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    )
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


reads_named_results = functools.partial(reads_results, must_be_named=True)


def with_settings(path: str | None, file_format: str | None, map_file: Path | None, *, strict: bool = False) -> Input:
    """The file that the options name, or the one of the settings.

    The settings' format and map are those of their own file; where they name none, of every file.
    """
    settings = find_settings()
    own = settings.path_of("file")
    if path is None and own is None:
        raise ParameterError(f"name the FILE of results; or name it once in {FILE_NAME}, which podium init writes")
    if file_format is None and map_file is None and (path is None or own is None):
        file_format, map_file = settings.get("format"), settings.path_of("map")
    return Input(str(own) if path is None else path, file_format, map_file, strict)


def split_formats(formats: list[str]) -> tuple[str | None, Format]:
    """What FILE is, and what to print, of the values of `--format`."""
    shapes = [Format(each) for each in formats if each in SHAPES]
    others = [each for each in formats if each not in SHAPES]
    unknown = next((each for each in others if each not in FORMATS), None)
    if unknown is not None:
        hint = did_you_mean(unknown, [*FORMATS, *SHAPES])
        raise ParameterError(
            f"--format {unknown}: is not what to print ({', '.join(SHAPES)}) nor a format ({NAMES}){hint}"
        )
    if len(others) > 1:
        raise ParameterError(f"--format {others[0]} and {others[1]}: FILE is of one format")
    return (others[0] if others else None), (shapes[-1] if shapes else Format.table)
