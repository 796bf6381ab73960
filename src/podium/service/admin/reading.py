"""Read files of results in any known format as rows, or find the questions that a table leaves open."""

import tomllib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import get_args

import polars as pl

import podium
from podium.errors import Fault, ParameterError, PodiumError, ResultsError
from podium.importers import times
from podium.importers.blocks import number_names
from podium.importers.collecting import shortened
from podium.importers.grid import Choice, UndecidedError, question
from podium.importers.options import FORMATS, Options
from podium.importers.tables.maps import write_map
from podium.importers.tables.open_table import left_out
from podium.importers.tables.read_sheet import answer_questions, first_rows, map_of_files, read_format
from podium.ledger.leaderboard import instant
from podium.log.pools import DATED, UNDATED, Order
from podium.results.columns import DEFAULTS
from podium.results.consistency import SEQUENCE
from podium.results.derived_heats import made_up, with_made_dates
from podium.support.immutable import immutable

MAX_UPLOAD_BYTES = 8_000_000
MAX_COMPRESSED_BYTES = 1_000_000  # such a file may expand to a hundred times its size
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK")  # gzip, Zstandard, zip and workbooks
PARQUET = b"PAR1"
MAX_ROWS = 100_000
MAX_LINES = 500_000  # maximum number of lines in a text, including blank lines and lines within games
MAX_ENTRANTS = 10_000  # maximum number of rows per event, as in the API
RESULTS = "results"  # a table read by its headings
TABLES = "csv"  # the importer's name for tables with a map
SAFE_MARKS = "._-"
PASTED = "pasted.csv"


@immutable
class Upload:
    """Results for a pool, from a file."""

    rows: pl.DataFrame
    names: Mapping[str, str]  # names of players, by the IDs in the results
    notes: tuple[str, ...]  # notes about how the file was read
    made_up: str = ""  # note for the log if dates were filled in
    map: str = ""  # map of its columns in TOML; empty if the headings are enough
    made: Mapping[str, str] = field(default_factory=dict)  # event IDs that Podium made, as in `Results`
    order: Order | None = None  # the sender's answer, for a pool without events
    details: tuple[Mapping[str, str], ...] = ()  # as in `Results`


@immutable
class Interview:
    """The open questions about a table, with its first rows."""

    questions: tuple[tuple[Fault, str], ...]  # each question with the chosen answer, as in the form
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    faults: tuple[Fault, ...] = ()  # the errors with these answers, if there are no more questions
    answers: tuple[str, ...] = ()  # answers to earlier questions


def formats() -> dict[str, str]:
    """Return the titles of file formats, by name."""
    known = {name: form.title for name, form in FORMATS.items() if name != TABLES}
    return {RESULTS: "a table of results, as CSV, a workbook, Parquet or JSON", **known}


def read_file(
    path: Path,
    name: str,
    form: str,
    pool: str,
    *,
    by_name: bool = False,
    strict: bool = False,
    title: str = "",
    start: str = "",
    today: str = "",
    every: str = "",
    asks_order: bool = False,
    kept: str = "",
    answers: Collection[str] | None = None,
) -> Upload | Interview:
    """Read the results in a file.

    Args:
        title: Title for events without one.
        start: Date for events without one. With `every`, it is the date of the first event, and `every` is the time
            between consecutive events. If `asks_order`, the default is `today`.
        today: The date to offer as `start` in the form.
        asks_order: True to ask whether events without dates should be dated or numbered.
        kept: The map that the pool has stored for this file. It is used if it still fits and there are no answers.
        answers: Answers to open questions. If None, a table with open questions is rejected.
    """
    if form not in formats():
        raise ParameterError(f"{form!r} is not a format. Choose one of {', '.join(formats())}")
    refuse_large(path)
    if name == PASTED:
        path.write_text(number_names(path.read_text("utf-8")), "utf-8")
    understood, order = "", next((arg for arg in get_args(Order) if f"order={arg}" in (answers or ())), None)
    answers = None if answers is None else [answer for answer in answers if not answer.startswith("order=")]
    try:
        if form == RESULTS:
            read = read_table(str(path), kept, answers, strict=strict)
            if isinstance(read, Interview):
                return replace(read, faults=tuple(called_by_sender(fault, path, name) for fault in read.faults))
            results, understood = read
            frame, notes, made, details = results.frame, results.notes, results.made, results.details
            names: Mapping[str, str] = {}
        else:
            imported = read_format(form, [str(path)], Options(player="name" if by_name else "id", most_rows=MAX_ROWS))
            frame, note = of_pool(podium.read_results(imported.table, name=name).frame, pool)
            dropped = tuple(f"left out: {count:,} {reason}" for reason, count in imported.dropped.items())
            names = {player: called for player, (called, _) in imported.names.items()}
            notes, made, details = (*imported.notes, *dropped, *note), imported.made, imported.details
    except ResultsError as error:
        faults = [called_by_sender(fault, path, name) for fault in error.faults]
        raise type(error)(of_sender(error.source, path, name), faults) from None
    upload = Upload(frame, names, notes, map=understood, made=made, order=order, details=details)
    start = start or (today if asks_order else "")
    uploaded = with_dates(
        frame, upload, title, start, every, asks=asks_order, typed=start != today, is_pasted=name == PASTED
    )
    if isinstance(uploaded, Interview):
        return replace(uploaded, answers=tuple(answers or ()))
    return with_dates_as_ids(uploaded) if name == PASTED else uploaded


def with_dates_as_ids(upload: Upload) -> Upload:
    """Name pasted events without a name by their dates, or "Result" if they have no dates."""
    unnamed = Path(PASTED).stem
    made = [event_id for event_id in upload.made if event_id.partition(" #")[0] == unnamed]
    date = (
        pl.col("started_at").cast(pl.String).str.head(10) if "started_at" in upload.rows.columns else pl.lit("Result")
    )
    events = upload.rows.filter(pl.col("event_id").is_in(made))
    ids = dict(events.select("event_id", name=pl.col("event_id").str.replace(unnamed, date, literal=True)).iter_rows())
    rows = upload.rows.with_columns(pl.col("event_id").replace(ids))
    return replace(
        upload, rows=rows, made={ids.get(event_id, event_id): part for event_id, part in upload.made.items()}
    )


def with_dates(
    frame: pl.DataFrame,
    upload: Upload,
    title: str,
    start: str,
    every: str,
    *,
    asks: bool,
    typed: bool,
    is_pasted: bool,
) -> Upload | Interview:
    """Add missing titles and dates to an upload.

    If the order of its events is unknown, return a question about it.
    """
    notes = upload.notes
    if title and "title" in frame.columns:
        notes = (*notes, "the results have titles, so the name that you entered is not used")
    elif title:
        frame = frame.with_columns(title=pl.lit(title))
    if not start and not every:
        return replace(upload, rows=rows_of(frame), notes=notes)
    if {"started_at", SEQUENCE} & {*frame.columns}:
        unused = "the results have dates, so the date that you entered is not used"
        return replace(upload, rows=rows_of(frame), notes=(*notes, unused) if typed or every else notes)
    ids = frame["event_id"].unique().to_list()
    named = times.recent_day(ids[0]) if len(ids) == 1 and not typed else None
    first = named or instant(start, whole_day=False)
    if asks and upload.order is None and named is None and not typed and not every:
        choices = Choice(f"by dates, from {first:%Y-%m-%d} on", "order", DATED), Choice("by numbers", "order", UNDATED)
        text = "the results have no dates. How are all events of this pool ordered?"
        return Interview(((question("", text, choices), ""),), (), ())
    if upload.order == UNDATED:
        return replace(upload, rows=rows_of(frame), notes=notes)
    made, rows = made_up(first, every), rows_of(with_made_dates(frame, first, every))
    is_stated = is_pasted and not every
    note = f"date: {first:%Y-%m-%d}" if is_stated else made
    return replace(upload, rows=rows, notes=(*notes, note), made_up="" if is_stated else made, order=None)


def read_table(
    path: str, kept: str, answers: Collection[str] | None, *, strict: bool
) -> tuple[podium.Results, str] | Interview:
    """Return the results in a table, with notes and their map, or the open questions."""
    document = tomllib.loads(kept) if kept and not answers else {}
    if document and "join" not in document:  # joins would read other files
        with suppress(PodiumError):
            mapped = by_map(path, Options(map=document))
            return replace(mapped, notes=("read with the map that the pool saved for it", *mapped.notes)), kept
    if not answers:
        try:
            results = podium.read_results(path, lenient=not strict)
        except UndecidedError:
            if answers is None:
                raise
        else:
            return results, ""
    posed, document_of_answers = answer_questions(path, answers or ())
    options = Options(map=document_of_answers, guess=True)
    faults: tuple[Fault, ...] = ()
    if all(choice for _, choice in posed):
        try:
            return by_map(path, options), write_map(map_of_files([path], options).document)
        except ResultsError as error:
            if not posed:
                raise
            faults = error.faults
    elif not all(question.choices for question, _ in posed):
        by_map(path, options)  # raises an error
    shown = first_rows([path], options)
    rows = tuple(tuple("" if cell is None else f"{shortened(cell)}" for cell in row) for row in shown.iter_rows())
    questions = tuple((question, choice.answer if choice else "") for question, choice in posed)
    return Interview(questions, tuple(shown.columns), rows, faults)


def by_map(path: str, options: Options) -> podium.Results:
    """Return the results in a table, read with a map, and notes about them."""
    imported = read_format(TABLES, [path], options)
    notes = (*imported.notes, *left_out(imported.dropped))
    return replace(podium.read_results(imported.table), notes=notes, made=imported.made, details=imported.details)


def refuse_large(path: Path) -> None:
    """Reject compressed files that could become too large, and Parquet files with too many rows."""
    with path.open("rb") as file:
        head = file.read(len(PARQUET))
    if head.startswith(COMPRESSED) and path.stat().st_size > MAX_COMPRESSED_BYTES:
        raise ParameterError(
            f"a compressed file can have up to {MAX_COMPRESSED_BYTES // 1_000_000} MB. Send it unpacked"
        )
    if not head.startswith((*COMPRESSED, PARQUET)) and path.read_bytes().count(b"\n") > MAX_LINES:
        raise ParameterError(f"the file has more than {MAX_LINES:,} lines. Send it in parts")
    if head == PARQUET:
        with suppress(pl.exceptions.PolarsError):  # its reader will report it
            refuse_many(pl.scan_parquet(path).select(pl.len()).collect().item())


def refuse_many(rows: int) -> None:
    """Reject results with more rows than an upload may have."""
    if rows > MAX_ROWS:
        raise ParameterError(f"the file has {rows:,} rows. An upload may have up to {MAX_ROWS:,}. Send it in parts")


def called_by_sender(fault: Fault, path: Path, name: str) -> Fault:
    return fault._replace(file=of_sender(fault.file, path, name), value=shortened(fault.value), command="")


def of_sender(text: str, path: Path, name: str) -> str:
    return name if text in (str(path), path.name) else text.removeprefix(f"{path.parent}/")


def safe_name(name: str) -> str:
    """Return a file's name without characters that could lead to another folder.

    The ending stays, because it shows the format.
    """
    letters = "".join(
        character if character.isalnum() or character in SAFE_MARKS else "_" for character in Path(name).name
    )
    return letters.lstrip(".")[-100:] or PASTED


def sheet_name(name: str) -> str:
    """Return the name under which a pool stores a file."""
    return "".join(character for character in Path(name).name if character.isprintable())[-200:] or PASTED


def of_pool(frame: pl.DataFrame, pool: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return a table's rows for a pool, and a note about the remaining rows.

    A table without pools is returned unchanged.
    """
    if (frame["pool"] == DEFAULTS["pool"]).all():
        return frame, ()
    own = frame.filter(pl.col("pool") == pool)
    others = frame.filter(pl.col("pool") != pool)["pool"].unique(maintain_order=True).to_list()
    if own.is_empty():
        raise ParameterError(f"the file has no events of pool {pool}, only of {', '.join(others)}")
    return own, (f"ignored: the events of {', '.join(others)}",) if others else ()


def rows_of(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a checked table's rows, up to the limit, for a single pool."""
    refuse_many(frame.height)
    fields = frame.group_by("event_id").agg(pl.col("player").n_unique()).sort("player", descending=True)
    for event_id, entrants in fields.head(1).iter_rows():
        if entrants > MAX_ENTRANTS:
            raise ParameterError(
                f"event {event_id} has {entrants:,} entrants. An event may have up to "
                f"{MAX_ENTRANTS:,} here. Ask the person who runs the server to add it"
            )
    return frame.drop("pool")
