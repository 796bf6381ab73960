"""Options that name the columns of a table: the map of a csv for the commonest cases."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from podium.errors import ParameterError

RESULTS = {"1-0": 1, "0-1": 2, "1/2-1/2": 1, "½-½": 1, "0.5-0.5": 1, "1": 1, "0": 2, "0.5": 1, "½": 1}
MIRRORED = {"1-0": 2, "0-1": 1, "1/2-1/2": 1, "½-½": 1, "0.5-0.5": 1, "1": 2, "0": 1, "0.5": 1, "½": 1}
TWO = 2  # sides of a match


@dataclass(frozen=True)
class TableFlags:
    """What the columns of a table mean, as options say it."""

    event: str | None = None
    position: str | None = None
    time: str | None = None
    gap_to_winner: bool = False
    score: str | None = None
    team: str | None = None
    status: str | None = None
    pool: str | None = None
    date: str | None = None
    date_format: str | None = None
    winner: str | None = None
    loser: str | None = None
    sides: str | None = None
    result: str | None = None
    scores: str | None = None
    grid: bool = False
    sheet: str | None = None
    records: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None

    def document(self, player: str | None) -> dict[str, Any] | None:
        """The map that the options say, as TOML has it; None where they say nothing."""
        keys = ("sheet", "records", "encoding", "delimiter", "decimal", "thousands")
        source = {key: getattr(self, key) for key in keys if getattr(self, key) is not None}
        if self.thousands == ".":
            source.setdefault("decimal", ",")
        body = self.body(player)
        if not source and not body:
            return None
        return ({"source": source} if source else {}) | (body or {"columns": {}})

    def body(self, player: str | None) -> dict[str, Any]:
        """The layout and the columns."""
        columns = self.columns()
        if self.date is not None:
            columns["started_at"] = {"from": split(self.date)} | (
                {"format": self.date_format} if self.date_format else {}
            )
        if self.winner or self.loser:
            from podium.importers.tables.open_table import matches_map

            if not (self.winner and self.loser):
                raise ParameterError("--winner and --loser belong together")
            event = split(self.event) if self.event else None
            return matches_map(split(self.winner), split(self.loser), event, None, columns)
        columns |= {"event_id": joined(self.event)} if self.event else {}
        if self.sides:
            return self.two_sides(columns)
        if self.grid:
            if player is None:
                raise ParameterError("--grid needs --player, the column with the name of each line")
            columns = {"event_id": "{column}", "position": {"from": "cell", "as": "place"}} | columns
            if self.score is not None:
                del columns["position"]
            return {"layout": {"kind": "matrix", "rows": player}, "columns": columns}
        if player is not None:
            columns["player"] = {"from": [player]}
        return {"columns": columns} if columns else {}

    def columns(self) -> dict[str, Any]:
        """The rules of columns that every layout may have."""
        rules: dict[str, Any] = {}
        for name, value in (("score", self.score), ("team", self.team), ("status", self.status), ("pool", self.pool)):
            if value is not None:
                rules[name] = {"from": [value]}
        if self.position is not None:
            rules["position"] = {"from": [self.position], "as": "place"}
        if self.time is not None:
            rules["time_s"] = {"from": [self.time], "as": "duration"} | (
                {"gap": "leader"} if self.gap_to_winner else {}
            )
        elif self.gap_to_winner:
            raise ParameterError("--gap-to-winner needs --time, the column with times and gaps")
        return rules

    def two_sides(self, columns: dict[str, Any]) -> dict[str, Any]:
        """A match a row, with the result of the first side or the scores of both."""
        players, scores = split(self.sides or ""), split(self.scores or "")
        if len(players) != TWO or bool(self.result) == bool(scores) or len(scores) not in (0, TWO):
            raise ParameterError("--sides A,B needs --result COLUMN, of the first side, or --scores A,B")
        values: list[dict[str, Any]] = [{"score": {"from": [score]}} for score in scores]
        if self.result:
            values = [{"position": {"from": [self.result], "map": words}} for words in (RESULTS, MIRRORED)]
        sides = [{"player": {"from": [each]}, **value} for each, value in zip(players, values, strict=True)]
        return {"layout": {"kind": "wide", "sides": sides}, "columns": {"event_id": "{row}"} | columns}


HELP: Mapping[str, str] = {
    "event": "the column that names the event; several, parted by commas, do together.",
    "position": "the column of places, as 1, 1st or T2.",
    "time": "the column of times, as 61.2, 1:01.2 or 1:33:56.736.",
    "gap_to_winner": "a time with a plus sign is a gap to the winner's.",
    "score": "the column of scores; higher is better.",
    "team": "the column of teams.",
    "status": "the column of statuses.",
    "pool": "the column of pools.",
    "date": "the column of dates.",
    "date_format": "how dates are written, as %d.%m.%Y.",
    "winner": "the column of winners, where a row is a match; several for the members of a team.",
    "loser": "the column of losers.",
    "sides": "the two columns of players, where a row is a match.",
    "result": "the column of the first side's result: 1-0, 0-1, 1/2-1/2, or 1, 0, 0.5.",
    "scores": "the two columns of the sides' scores.",
    "grid": "a line a player, a column an event; cells are places.",
    "sheet": "the sheet of a workbook.",
    "records": "where the rows of JSON are, as races[].results[].",
    "encoding": "the encoding of text that is not UTF-8, as cp1252.",
    "delimiter": "what parts cells.",
    "decimal": "the decimal mark.",
    "thousands": "what parts the thousands of numbers.",
}


def takes_table_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command with a parameter `flags: TableFlags` take an option for each of its fields."""
    own = inspect.signature(command).parameters

    @functools.wraps(command)
    def run(**values: Any) -> None:
        flags = TableFlags(**{each.name: values.pop(each.name) for each in fields(TableFlags)})
        command(**values, flags=flags)

    added = []
    for each in fields(TableFlags):
        kind = bool if isinstance(each.default, bool) else str | None
        several = each.name in ("event", "date", "winner", "loser", "sides", "scores")
        values = {"sheet": "NAME", "records": "PATH", "encoding": "NAME", "delimiter": "MARK", "decimal": "MARK",
                  "thousands": "MARK", "date_format": "FORMAT"}  # fmt: skip
        metavar = None if kind is bool else values.get(each.name, "COLUMN,…" if several else "COLUMN")
        words = {} if kind is bool else {"metavar": metavar}
        names = [f"--{each.name.replace('_', '-')}"]
        option = typer.Option(*names, help=f"csv: {HELP[each.name]}", **words)  # type: ignore[arg-type]
        annotation = Annotated[kind, option]  # type: ignore[valid-type]
        added.append(
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=each.default)
        )
    kept = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, each in own.items() if name != "flags"]
    run.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in [*kept, *added]}
    return run


def split(names: str) -> list[str]:
    """The names of a list with commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def joined(names: str) -> Any:
    """A column, or the template of several."""
    several = split(names)
    return {"from": several} if len(several) == 1 else "-".join(f"{{{name}}}" for name in several)
