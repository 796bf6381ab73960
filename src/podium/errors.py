"""What can go wrong, each with the words that mend it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

SHOWN_FAULTS = 20
MORE_ON_COLUMNS = "the columns are described in docs/results.md and by: podium columns"


class PodiumError(Exception):
    """Anything a user of Podium can put right. Its text is shown as it stands."""

    exit_status: ClassVar[int] = 2  # of a command that ends with it

    def __reduce__(self) -> tuple[Any, ...]:
        """How it travels between processes: as it is, since subclasses are made of other arguments than the text."""
        return as_it_was, (type(self), self.args, self.__dict__)


def as_it_was(kind: type[PodiumError], args: tuple[Any, ...], values: dict[str, Any]) -> PodiumError:
    """The error that `PodiumError.__reduce__` took apart."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(values)
    return error


class ParameterError(PodiumError, ValueError):
    """A system's name, or the value of a parameter, does not exist or does not fit."""


class RuleError(PodiumError, TypeError):
    """A rating system's own code is at fault: a rule or a type is missing, cannot run or cannot be compiled."""


class MissingExtraError(PodiumError, ImportError):
    """A library is not installed that Podium needs for only a part of what it does."""

    def __init__(self, subject: str, extra: str) -> None:
        super().__init__(f"{subject} needs the extra {extra!r}: pip install 'podium-ratings[{extra}]'")


@contextmanager
def needs_extra(extra: str, subject: str) -> Iterator[None]:
    """Import the libraries of an extra in this context.

    Args:
        extra: its name, as in `pip install 'podium-ratings[extra]'`.
        subject: what needs it, to begin a sentence.

    Raises:
        MissingExtraError: an import in the context fails.
    """
    try:
        yield
    except ImportError:
        raise MissingExtraError(subject, extra) from None


class NearNameError(ParameterError):
    """An unknown player whose name is nearly a known one."""

    def __init__(self, name: str, near: str) -> None:
        self.name, self.near = name, near
        self.what = f"{name!r} has not played, but {near!r} has"
        insist = f"{{'player': {name!r}, 'new': True}}"
        super().__init__(f"{self.what}. Write that name, or {insist} for a newcomer.")


class UnknownError(PodiumError, LookupError):
    """The results have no event, player or pool of that name."""


class OutputError(PodiumError, OSError):
    """A file could not be written."""


class ExecutorError(PodiumError, RuntimeError):
    """Workers were lost, or cannot do their tasks."""


class NotFiniteError(PodiumError, ArithmeticError):
    """An event would leave a player with a number that is infinite or none; nothing comes of it.

    `event_id` and `player` are None where only their positions in the columns are known: `settlement` and `entrant`.
    """

    def __init__(
        self, system: str, settlement: int, entrant: int, event_id: str | None = None, player: str | None = None
    ) -> None:
        self.system, self.settlement, self.entrant = system, settlement, entrant
        self.event_id, self.player = event_id, player
        event = f"settlement {settlement}" if event_id is None else f"event {event_id!r}"
        subject = f"entrant {entrant}" if player is None else repr(player)
        super().__init__(
            f"{system}: {event} would leave {subject} with a rating or chance that is not a finite number; check the "
            "weight, scores and times of the event, and the parameters of the system"
        )


class Fault(NamedTuple):
    """One thing wrong in a results table.

    `row` counts from 1 below the header; `row` or `column` is None where the fault has none. In the file of a foreign
    format `place` says where in its stead (`line 12`, `$.entrants[3]`, `byte 88`), and `file` in which file.
    """

    row: int | None
    column: str | None
    value: object
    remedy: str
    place: str = ""
    file: str = ""

    @property
    def is_group(self) -> bool:
        """Whether it is about several rows, which its place lists in brackets."""
        return self.place.endswith(")")

    @property
    def is_placed(self) -> bool:
        """Whether it says where; what stands beside such faults and does not is a remark, not a fault."""
        return bool(self.place) or self.row is not None or self.column is not None

    def __str__(self) -> str:
        place = self.place or (f"row {self.row}" if self.row is not None else "")
        column = f"column {self.column}" if self.column is not None else ""
        parts = (column, place) if self.is_group else (place, column)
        where = ", ".join(part for part in parts if part)
        sentence = f"{self.value!r} {self.remedy}" if self.value is not None else self.remedy
        return f"{where}: {sentence}" if where else sentence


class ResultsError(PodiumError, ValueError):
    """A results table is refused whole. `faults` holds the first 20 of what is wrong.

    Its text has a line for each of them, and ends with where the columns are described.
    """

    more: ClassVar[str] = MORE_ON_COLUMNS

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        remaining = iter(faults)
        self.source = source
        self.faults = tuple(islice(remaining, SHOWN_FAULTS))
        lines = [
            f"{fault.file or source}{'' if fault.row or (fault.place and not fault.is_group) else ':'} {fault}"
            for fault in self.faults
        ]
        if next(remaining, None) is not None:
            lines.append(f"{source}: more faults follow; these are the first {SHOWN_FAULTS}")
        super().__init__("\n".join([*lines, self.more]).rstrip())

    @classmethod
    def whole(cls, source: str, remedy: str, place: str = "") -> Self:
        """What is wrong with a table or file as a whole, or at a place of it that is no row."""
        return cls(source, [Fault(None, None, None, remedy, place)])


class MeetingError(ResultsError):
    """Two accounts would be one player who took part in an event twice."""

    more: ClassVar[str] = ""

    def __init__(self, player: str, event_id: str, remedy: str) -> None:
        super().__init__("merge", [Fault(None, None, player, f"took part in {event_id} as both{remedy}")])


class FormatError(ResultsError):
    """A file of a foreign format is refused whole: it is no such file, or breaks the format's rules."""

    more: ClassVar[str] = "the formats are described in docs/importers.md and by: podium import --help"
