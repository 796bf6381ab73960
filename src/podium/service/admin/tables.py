"""An event as a table to be filled in: what is stored of it, or what a form sends of it."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium.ledger.reasons.standings import plain
from podium.results.columns import STATUSES
from podium.service.visits.forms import Form
from podium.store.read.models import EventDetails

OF_EVENT: tuple[str, ...] = ("started_at", "title", "url", "mode", "ranked", "weight")
OF_LINE = (
    "heat", "player", "team", "position", "time_s", "score", "team_score", "status", "played_s", "duration_s",
    "handicap",
)  # fmt: skip
ALWAYS = ("player", "status")  # columns that are shown where no line has them
COMPARED = ("position", "time_s", "score", "team_score")  # of which one is shown at least
WIDTHS = {"player": 14, "team": 8, "time_s": 7, "score": 5, "team_score": 5, "played_s": 7, "duration_s": 7}
OTHER_WIDTH = 3  # characters of the other columns
LABELS = {
    "started_at": "Start", "title": "Title", "url": "Address of a page about it", "mode": "Mode",
    "ranked": "Ranked: true or false", "weight": "Weight", "heat": "Heat", "player": "Player", "team": "Team",
    "position": "Place", "time_s": "Time, s", "score": "Score", "team_score": "Score of the team",
    "status": "How it ended",
    "played_s": "Played, s", "duration_s": "Duration, s", "handicap": "Handicap",
}  # fmt: skip
EMPTY_LINES = 3  # at the end, to be filled in
MAX_LINES = 1_000  # of a table that is filled in: a longer one is pasted


@dataclass(frozen=True, slots=True)
class EventTable:
    """An event's content as texts."""

    event_id: str
    shared: Mapping[str, str]  # what all lines have, by column
    columns: tuple[str, ...]
    lines: tuple[Mapping[str, str], ...]

    @property
    def is_long(self) -> bool:
        """Whether it has too many lines for a form with a field a cell."""
        return len(self.lines) > MAX_LINES

    @property
    def fields(self) -> tuple[tuple[str, str, str], ...]:
        """Name, label and value of what all lines have."""
        return tuple((name, LABELS[name], self.shared.get(name, "")) for name in OF_EVENT)

    @property
    def headings(self) -> tuple[tuple[str, str, int], ...]:
        """Name, label and width of each column."""
        return tuple((name, LABELS[name], WIDTHS.get(name, OTHER_WIDTH)) for name in self.columns)

    @property
    def rows(self) -> tuple[Mapping[str, str], ...]:
        """The lines, and some that are empty."""
        return (*self.lines, *({},) * EMPTY_LINES)

    @property
    def statuses(self) -> tuple[str, ...]:
        """How a line may have ended."""
        return STATUSES

    def csv(self) -> str:
        """The event as a results table."""
        shared = {name: text for name, text in self.shared.items() if text}
        columns = ["event_id", *shared, *self.columns]
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(
            [{**shared, **line, "event_id": self.event_id}.get(name, "") for name in columns] for line in self.lines
        )
        return file.getvalue()


def table_of(details: EventDetails) -> EventTable:
    """What is stored of an event."""
    first = details.entries[0]
    values = {name: getattr(details, name, None) or getattr(first, name, None) for name in OF_EVENT}
    shared = {name: cell(value) for name, value in values.items() if value is not None}
    shared["started_at"] = details.started_at.isoformat()
    lines = tuple({name: cell(getattr(each, name)) for name in OF_LINE} for each in details.entries)
    used = {name for name in OF_LINE if any(line[name] for line in lines)} | {*ALWAYS}
    if not used & {*COMPARED}:
        used.add(COMPARED[0])
    columns = tuple(name for name in OF_LINE if name in used)
    return EventTable(details.event_id, shared, columns, lines)


def table_in(form: Form, event_id: str) -> EventTable:
    """What a form sends of an event; a line without a player is left out."""
    columns = tuple(name for name in OF_LINE if name in form.fields.get("column", ()))
    count = min(int(form.text("lines") or 0), MAX_LINES + EMPTY_LINES) if form.text("lines").isdecimal() else 0
    lines = ({name: form.text(f"{name}-{k}").strip() for name in columns} for k in range(count))
    shared = {name: form.text(name).strip() for name in OF_EVENT}
    return EventTable(event_id, shared, columns, tuple(line for line in lines if line.get("player")))


def cell(value: Any) -> str:
    """A value as one writes it; empty for nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(value) if isinstance(value, float) else str(value)
