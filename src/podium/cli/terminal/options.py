"""Options that several commands share, and the system in these options."""

import functools
import io
import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Option

from podium.cli.terminal.app import Made, find_settings, from_settings, option
from podium.cli.terminal.show import Format, note
from podium.errors import OutputError, ParameterError, needs_extra
from podium.support.part_files import part_file
from podium.support.words import as_text, without_formulas

if TYPE_CHECKING:
    import polars as pl

    from podium.engine.system import System


def complete_system(incomplete: str) -> list[str]:
    from podium.systems import names

    return [name for name in names() if name.startswith(incomplete)]


def one_of(*names: str) -> Callable[[str], list[str]]:
    """Return a function for the completion of these names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def system_option(otherwise: str) -> Any:
    """Return the `--system` option for a command, with a description of its default."""
    return option(
        f"Rating system: a name (from `podium systems`), elo:k=20, or my.py:Class [default: {otherwise}].",
        "--system",
        "-s",
        metavar="NAME",
        autocompletion=complete_system,
    )


SYSTEM_NAME = system_option("PODIUM_SYSTEM, podium.toml, or elo")
SETTINGS = option(
    "Set a parameter. To switch off a parameter that allows it, set it to none. Can be repeated.",
    "--set",
    metavar="NAME=VALUE",
)
SYSTEM_FILE = option("File with the system's name and parameters.", "--system-file", metavar="TOML")
PERIOD = Option(
    "event",
    "--period",
    metavar="SPAN",
    help="Rating period: event, 1d, 1w, 1mo, or a multiple.",
    callback=from_settings("period"),
)


def pool_option(words: str) -> Any:
    """Return the `--pool` option for a command that reads a file."""
    return option(words, "--pool", metavar="NAME", callback=from_settings("pool"))


START = option(
    "Continue from these ratings: a file from --ratings (only .parquet keeps full states), or a table with "
    "pool, player, rating and other known values.",
    "--start",
    metavar="RATINGS",
)
MARGIN = option(
    "Assumed winning margin between two sides, if margins count [default: the usual margin].", "--margin", min=0.0
)
SHOWN_COLUMNS = option(
    "Show these columns, or all [default: those that fit and have values].", "--columns", metavar="NAME,..."
)
FORM = Option(Format.table, "--format", "-f", help="Output format.")
STARTED_AT = option("Date of the events if they have none. With --every, the date of the first event.", metavar="DATE")
EVERY = option("With --started-at, the time between consecutive events, such as 7d, 2w, 1mo or 1y.", metavar="SPAN")


def dated(rows: Any, started_at: str | None, every: str | None) -> tuple[Any, str]:
    """Add dates to events without one. Return the results, and a note for the log about the added dates."""
    if started_at is None and every is None:
        return rows, ""
    if started_at is None:
        raise ParameterError("--every requires the date of the first event. Add, for example, --started-at 2026-01-31")
    from podium.ledger.leaderboard import instant
    from podium.results.derived_heats import made_up, with_made_dates
    from podium.results.reading import read_results

    first = instant(started_at, whole_day=False)
    return with_made_dates(read_results(rows).frame, first, every or ""), made_up(first, every or "")


SUFFIXES = (".csv", ".parquet", ".json", ".jsonl", ".xlsx")
MAX_SHEET_ROWS = 1_048_575  # below the header


def check_output(path: Path) -> None:
    """Check that a table can be written to a path, before the work starts."""
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
    if path.suffix.lower() == ".xlsx":
        with needs_extra("excel", "a workbook"):
            import xlsxwriter  # noqa: F401
    if not path.resolve().parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}. Create it, or choose another.")


def check_outputs(outputs: Iterable[Path | None], read: Iterable[str] = ()) -> None:
    """Check that tables can be written to all of these paths, which must differ from each other and from the input."""
    taken = {Path(file).resolve() for file in read}
    for path in outputs:
        if path is None:
            continue
        check_output(path)
        if path.resolve() in taken:
            raise OutputError(f"{path}: this command already reads or writes this file. Write to another file.")
        taken.add(path.resolve())


def write_table(
    frame: "pl.DataFrame", path: Path, metadata: dict[str, str] | None = None, *, guard: bool = False
) -> None:
    """Write a frame in the format of the path's suffix.

    Floats are written as the shortest text that reads back as the same number or, in a workbook, with 16 digits. Only
    Parquet preserves the metadata.

    Args:
        guard: True to put an apostrophe before text in CSV that would otherwise be a formula. Workbooks have a type for
            text.
    """
    suffix = path.suffix.lower()
    if suffix == ".xlsx" and frame.height > MAX_SHEET_ROWS:
        raise OutputError(f"{path}: a sheet holds at most {MAX_SHEET_ROWS:,} rows. Write .csv or .parquet instead.")
    with part_file(path, OutputError) as part:
        match suffix:
            case ".parquet":
                frame.write_parquet(part, metadata=metadata)
            case ".csv":
                shown = as_text(frame)
                (without_formulas(shown) if guard else shown).write_csv(part)
            case ".json":
                as_text(frame).write_json(part)
            case ".xlsx":
                content = io.BytesIO()
                as_text(frame).write_excel(content, autofilter=False)
                part.write_bytes(content.getvalue())
            case _:
                as_text(frame).write_ndjson(part)


def as_written(table: "pl.DataFrame") -> "pl.DataFrame":
    """Convert whole numbers in a table to integers, so that they are written without a decimal point."""
    import polars as pl

    def plain(name: str) -> pl.Expr:
        whole = (pl.col(name) == pl.col(name).round()) & (pl.col(name).abs() < EXACT)
        shortest = pl.col(name).cast(pl.String)
        return pl.when(whole).then(pl.col(name).cast(pl.Int64, strict=False).cast(pl.String)).otherwise(shortest)

    from podium.results.columns import EXACT

    return table.with_columns(plain(name).alias(name) for name, kind in table.schema.items() if kind.is_float())


def write_text(text: str, path: Path) -> None:
    with part_file(path, OutputError) as part:
        part.write_text(text, encoding="utf-8")


def unused_path(path: Path) -> Path:
    """Return the path or, if it is taken, the first of name-2, name-3 and so on that is not."""
    candidates = chain([path], (path.with_stem(f"{path.stem}-{number}") for number in count(2)))
    return next(candidate for candidate in candidates if not os.path.lexists(candidate))


def read_table(path: Path) -> "pl.DataFrame":
    """Read a table in the format of the path's suffix."""
    import polars as pl

    from podium.results.reading import PARQUET_ERRORS, first_line

    readers = {
        ".csv": lambda: pl.read_csv(path, schema_overrides=dict.fromkeys(("event_id", "player", "name"), pl.String)),
        ".parquet": lambda: pl.read_parquet(path),
        ".json": lambda: pl.DataFrame(json.loads(path.read_text(encoding="utf-8"))),
        ".jsonl": lambda: pl.read_ndjson(path),
    }
    if path.suffix.lower() not in readers:
        raise ParameterError(f"{path}: the suffix must be one of {', '.join(readers)}")
    try:
        return readers[path.suffix.lower()]()
    except (OSError, ValueError, *PARQUET_ERRORS) as error:
        raise ParameterError(f"{path}: cannot be read ({first_line(error)})") from None


@functools.cache
def prepare() -> None:
    """Load the engine once per process, before any compilation."""
    from podium.kernels.compiled import announce_compiling, compile_without_blas

    compile_without_blas()
    announce_compiling(say_that_it_compiles)


def say_that_it_compiles(found_later: bool) -> None:
    """Explain on stderr why nothing happens for a few seconds."""
    from podium.kernels.compiled import cache_folder

    if found_later:
        when = f"once per system; later runs use the machine code in {cache_folder()}"
    else:
        when = "as in every run with your own system"
    note(f"compiling, {when}")


SYSTEM_VARIABLE = "PODIUM_SYSTEM"
DEFAULT_SYSTEM = "elo"


@dataclass(frozen=True)
class SystemFlags:
    """The system from the options."""

    system: str | None = SYSTEM_NAME
    settings: list[str] | None = SETTINGS
    system_file: Path | None = SYSTEM_FILE

    @property
    def names_one(self) -> bool:
        return self.system is not None or self.system_file is not None

    @property
    def are_given(self) -> bool:
        return self.names_one or bool(self.settings)

    def choose(self) -> "System":
        return chosen_system(self.system, self.settings, self.system_file)


def chosen_system(system: str | None, settings: list[str] | None, system_file: Path | None) -> "System":
    """Return the system from the options. `--set` overrides the file."""
    prepare()
    from podium.cli.terminal.trust import require_trust
    from podium.systems import load, name_and_value, split_settings

    own = dict(name_and_value(text) for text in settings or [])
    name_in_file, in_file = (None, {}) if system_file is None else read_system_file(system_file)
    if system is None:
        try:
            require_trust(system_file, name_in_file, f"podium trust {system_file}")
        except ParameterError as error:
            raise ParameterError(f"{system_file}: {error}") from None
    if system is not None and name_in_file is not None:
        name, _ = split_settings(system)
        if name_in_file not in (name, load(name).name):
            raise ParameterError(f"--system {system} and {system_file} ({name_in_file}) differ. Name one system.")
    text, parameters = system or name_in_file, in_file | own
    if text is not None:
        return system_of(text, parameters)
    default = default_system()
    known = {setting.name: getattr(default, setting.name) for setting in fields(default)}
    return default.from_text(known | to_spelling(type(default), parameters)) if parameters else default


SYSTEM_FLAGS: Any = Made(SystemFlags)
SYSTEM: Any = Made(SystemFlags, then=SystemFlags.choose)


def system_of(text: str, parameters: dict[str, Any]) -> "System":
    """Return the system for a text such as `elo` or `elo:k=20`. `parameters` override the parameters in the text.

    Names of Podium's systems and of parameters are not case-sensitive.
    """
    from podium.engine.rule_checks import check_rules
    from podium.systems import current_name, load, names, settings_in, split_settings

    name, settings = split_settings(text)
    if current_name(name.lower()) in names():
        name = name.lower()
    kind = load(name)
    system = kind.from_text(to_spelling(kind, settings_in(settings) | parameters))
    check_rules(system)
    return system


def to_spelling(kind: "type[System]", parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters, with names spelt as in the system."""
    spelling = {setting.name.lower(): setting.name for setting in fields(kind)}
    return {spelling.get(name.lower(), name): value for name, value in parameters.items()}


def read_system_file(file: Path) -> tuple[str | None, dict[str, Any]]:
    """Return the name and parameters in a TOML file, which has `system = "…"` and a `[parameters]` table."""
    import tomllib

    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"{file}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file}: is not TOML: {error}") from error
    unknown = set(document) - {"system", "name", "parameters"}
    if unknown:
        raise ParameterError(f'{file}: {min(unknown)!r} is not a known name. Write system = "…" and [parameters]')
    name, parameters = document.get("system", document.get("name")), document.get("parameters", {})
    if not isinstance(name, str | None) or not isinstance(parameters, dict):
        raise ParameterError(f'{file}: write system = "…" and a [parameters] table')
    return name, parameters


def default_system() -> "System":
    """Return the system to use if no option states one: from PODIUM_SYSTEM, from the settings, or plain Elo."""
    from podium.cli.terminal.trust import require_trust

    in_environment = os.environ.get(SYSTEM_VARIABLE, "").strip()
    if in_environment:
        try:
            return system_of(in_environment, {})
        except ParameterError as error:
            raise ParameterError(f"{SYSTEM_VARIABLE}: {error}") from None
    settings = find_settings()
    text, parameters = settings.get("system") or DEFAULT_SYSTEM, settings.get("parameters") or {}
    if settings.path is not None and ".py" in text:
        if os.name == "posix" and settings.path.stat().st_uid not in (os.getuid(), 0):  # possibly above this folder
            raise settings.fault(
                "system", "the file belongs to another user, so its system is not run. Name it with --system."
            )
        text = os.path.join(os.path.relpath(settings.path.parent), text)  # noqa: PTH118  (the text is not only a path)
    try:
        require_trust(settings.path, text, "podium trust")
        return system_of(text, parameters)
    except ParameterError as error:
        if settings.path is None:
            raise
        named = [name for name in parameters if re.search(rf"\b{re.escape(name)}\b", str(error))]
        raise settings.fault(f"parameters.{named[0]}" if named else "system", str(error)) from None
