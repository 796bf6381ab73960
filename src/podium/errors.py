"""Podium's errors. Every message says how to fix the problem."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

SHOWN_FAULTS = 20
DOCS = "https://github.com/podium-ratings/podium/blob/main/docs"
MORE_ON_COLUMNS = "the columns are described by: podium columns"
CANNOT_BE_READ = "cannot be read"  # begins the remedy for a missing file or one without permission to read it


class PodiumError(Exception):
    """An error that a user of Podium can fix. Its text is shown to the user unchanged."""

    exit_status: ClassVar[int] = 2  # exit status of a command that ends with this error

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error as its attributes, because the constructors of subclasses differ."""
        return rebuild_error, (type(self), self.args, self.__dict__)


def rebuild_error(kind: type[PodiumError], args: tuple[Any, ...], values: dict[str, Any]) -> PodiumError:
    """Rebuild an error from `PodiumError.__reduce__`."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(values)
    return error


class ParameterError(PodiumError, ValueError):
    """A system, parameter or value does not exist, or is invalid."""


class RuleError(PodiumError, TypeError):
    """The code of a rating system is invalid: a rule or type is missing, or a rule fails or cannot be compiled."""


class MissingExtraError(PodiumError, ImportError):
    """A library that an optional part of Podium needs is not installed."""

    def __init__(self, subject: str, extra: str) -> None:
        super().__init__(f"{subject} needs the extra {extra!r}: pip install 'podium-ratings[{extra}]'")


@contextmanager
def needs_extra(extra: str, subject: str) -> Iterator[None]:
    """Import the libraries of an extra within this context.

    Args:
        extra: Name of the extra, as in `pip install 'podium-ratings[extra]'`.
        subject: The part of Podium that needs the extra, worded as the start of a sentence.

    Raises:
        MissingExtraError: An import within the context fails.
    """
    try:
        yield
    except ImportError:
        raise MissingExtraError(subject, extra) from None


class NearNameError(ParameterError):
    """An unknown player's name is similar to a known one."""

    def __init__(self, name: str, near: str) -> None:
        self.name, self.near = name, near
        self.what = f"{name!r} has not played, but {near!r} has"
        insist = f"{{'player': {name!r}, 'new': True}}"
        super().__init__(f"{self.what}. Write that name, or {insist} for a newcomer.")


class UnknownError(PodiumError, LookupError):
    """The results do not contain this event, player or pool."""


class OutputError(PodiumError, OSError):
    """A file could not be written."""


class ExecutorError(PodiumError, RuntimeError):
    """Worker processes were lost or cannot run their tasks."""


class NotFiniteError(PodiumError, ArithmeticError):
    """An event would give a player a rating that is infinite or NaN. The event is not rated.

    `event_id` and `player` are None if only their positions in the columns, `update` and `entrant`, are known.
    """

    def __init__(
        self, system: str, update: int, entrant: int, event_id: str | None = None, player: str | None = None
    ) -> None:
        self.system, self.update, self.entrant = system, update, entrant
        self.event_id, self.player = event_id, player
        event = f"rating update {update}" if event_id is None else f"event {event_id!r}"
        subject = f"entrant {entrant}" if player is None else repr(player)
        super().__init__(
            f"{system}: {event} would leave {subject} with a rating or probability that is not a finite number. "
            "Check the weight, scores and times of the event, and the parameters of the system."
        )


class Fault(NamedTuple):
    """One error in a results table.

    `row` counts from 1 below the header. `row` and `column` are None if they do not apply. For files in other formats,
    `place` contains the position instead (such as `line 12`, `$.entrants[3]` or `byte 88`), and `file` the file's name.
    `command` is the command to type in a terminal. `choices` are the possible answers to a question in the terminal.
    Web pages and programs display the fix in their own way.
    """

    row: int | None
    column: str | None
    value: object
    remedy: str
    place: str = ""
    file: str = ""
    command: str = ""
    choices: tuple[Any, ...] = ()

    @property
    def is_group(self) -> bool:
        """True if the error concerns several rows, which `place` lists in brackets."""
        return self.place.endswith(")")

    @property
    def is_named(self) -> bool:
        """True if the place begins with a name, such as the name of a sheet or a key."""
        return bool(self.place) and not self.is_group and not self.place.startswith(("row ", "line "))

    @property
    def is_placed(self) -> bool:
        """True if the error has a position. If other errors have positions, an error without one is only a remark."""
        return bool(self.place) or self.row is not None or self.column is not None

    def __str__(self) -> str:
        place = self.place or (f"row {self.row}" if self.row is not None else "")
        column = f"column {self.column}" if self.column is not None else ""
        parts = (column, place) if self.is_group else (place, column)
        where = ", ".join(part for part in parts if part)
        sentence = f"{self.value!r} {self.remedy}" if self.value is not None else self.remedy
        return f"{where}: {sentence}" if where else sentence

    @property
    def with_command(self) -> str:
        """The sentence about the error, followed by the sentence that says what to type."""
        end = "" if self.remedy.endswith(("?", ".")) else "."
        return f"{self}{end} {self.command}" if self.command else str(self)


class ResultsError(PodiumError, ValueError):
    """A results table is invalid. `faults` holds the first 20 errors.

    The message has one line per error. Its end says where to find descriptions of the columns,
    unless no file could be read.
    """

    more: ClassVar[str] = MORE_ON_COLUMNS

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        remaining = iter(faults)
        self.source = source
        self.faults = tuple(islice(remaining, SHOWN_FAULTS))
        marks = ("" if fault.row or (fault.place and not fault.is_group) else ":" for fault in self.faults)
        lines = [
            f"{fault.file or source}{mark} {fault.with_command}" for fault, mark in zip(self.faults, marks, strict=True)
        ]
        if next(remaining, None) is not None:
            lines.append(f"{source}: these are the first {SHOWN_FAULTS} errors; there are more")
        if not all(fault.remedy.startswith(CANNOT_BE_READ) for fault in self.faults):
            lines.append(self.more)
        super().__init__("\n".join(lines).rstrip())

    @classmethod
    def whole(cls, source: str, remedy: str, place: str = "", command: str = "") -> Self:
        """Return an error about a whole table or file, or about a place that is not a row."""
        return cls(source, [Fault(None, None, None, remedy, place, command=command)])


class MeetingError(ResultsError):
    """The two accounts to merge took part in the same event."""

    more: ClassVar[str] = ""

    def __init__(self, player: str, event_id: str, remedy: str) -> None:
        super().__init__("merge", [Fault(None, None, player, f"took part in {event_id} as both{remedy}")])


class FormatError(ResultsError):
    """A file in another format is invalid: its format is a different one, or it breaks the format's rules."""

    more: ClassVar[str] = "the formats are described by: podium import --help"
