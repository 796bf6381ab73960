"""What the columns of a table mean, as options of a command say it."""

from dataclasses import dataclass
from typing import Any

from typer import Option

from podium.cli.terminal.app import Made
from podium.errors import ParameterError

TABLES = "csv"
PLAYER = "id"
TWO = 2  # sides of a match


def column(words: str, metavar: str = "COLUMN") -> Any:
    return Option(None, help=f"csv: {words}", metavar=metavar)


def switch(name: str, words: str) -> Any:
    return Option(False, name, help=f"csv: {words}")


@dataclass(frozen=True)
class TableFlags:
    """What the columns of a table mean, as options say it."""

    event: str | None = column("the column that names the event; several, parted by commas, do together.", "COLUMN,…")
    position: str | None = column("the column of places, as 1, 1st or T2.")
    time: str | None = column("the column of times, as 61.2, 1:01.2 or 1:33:56.736.")
    gap_to_winner: bool = switch("--gap-to-winner", "a time with a plus sign is a gap to the winner's.")
    score: str | None = column("the column of scores; higher is better.")
    team: str | None = column("the column of teams.")
    status: str | None = column("the column of statuses.")
    pool: str | None = column("the column of pools.")
    date: str | None = column("the column of dates.", "COLUMN,…")
    date_format: str | None = column("how dates are written, as %d.%m.%Y.", "FORMAT")
    winner: str | None = column(
        "the column of winners, where a row is a match; several for the members of a team.", "COLUMN,…"
    )
    loser: str | None = column("the column of losers.", "COLUMN,…")
    sides: str | None = column("the two columns of players, where a row is a match.", "COLUMN,…")
    result: str | None = column("the column of the first side's result: 1-0, 0-1, 1/2-1/2, or 1, 0, 0.5.")
    scores: str | None = column("the two columns of the sides' scores.", "COLUMN,…")
    grid: bool = switch("--grid", "a line a player, a column an event; cells are places.")
    sheet: str | None = column("the sheet of a workbook.", "NAME")
    records: str | None = column("where the rows of JSON are, as races[].results[].", "PATH")
    encoding: str | None = column("the encoding of text that is not UTF-8, as cp1252.", "NAME")
    delimiter: str | None = column("what parts cells.", "MARK")
    decimal: str | None = column("the decimal mark.", "MARK")
    thousands: str | None = column("what parts the thousands of numbers.", "MARK")

    def are_given(self) -> bool:
        return any(each not in (None, False) for each in vars(self).values())

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
            values = [{"position": {"from": [self.result], "as": "result", "side": side}} for side in (1, TWO)]
        sides = [{"player": {"from": [each]}, **value} for each, value in zip(players, values, strict=True)]
        from podium.importers.tables.open_table import match_id

        columns = {"event_id": match_id(players[:1], players[1:], columns)} | columns
        return {"layout": {"kind": "wide", "sides": sides}, "columns": columns}


TABLE_FLAGS: Any = Made(TableFlags)


def split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def joined(names: str) -> Any:
    """A column, or the template of several."""
    several = split(names)
    return {"from": several} if len(several) == 1 else "-".join(f"{{{name}}}" for name in several)
