"""Import match reports that Xonotic servers send to XonStat, either one per file or from XonStat's log of requests.

Source: the reports are written by `qcsrc/common/playerstats.qc` in Xonotic, and read by XonStat and xonstat-go.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, refuse_file

BEGIN, END = b"----- BEGIN REQUEST BODY -----", b"----- END REQUEST BODY -----"
GAME_TYPES = {"freezetag": "ft", "keepaway": "ka", "nexball": "nb"}  # former names
TEAM_NAMES = {"5": "red", "14": "blue", "13": "yellow", "10": "pink"}
TEAM_SCORES = {  # columns that decide team games; the first one in a report counts
    "ctf": ("caps",), "ca": ("rounds",), "ft": ("rounds",), "nb": ("goals",), "as": ("objectives",),
    "ons": ("generators",), "dom": ("caps", "ticks", "score"),
}  # fmt: skip
OWNED_KEYS = ("i", "n", "t", "r", "e")  # keys that belong to a player or a team
STARTS = (b"V ", b"G ", b"I ", b"P ", b"\xef\xbb")  # starts of lines, at least one of which is in every report
REQUIRED = ("V", "G", "M", "I", "S")
NUMBER = re.compile(r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?$")
MATCH_ID = re.compile(r"^(?!.*[:;'\"\\$])[!-~]{1,64}$")
EPOCH_ID = re.compile(r"^[0-9]+\.([0-9]{1,12})\.[0-9]{1,6}$")
TEAM_KEY = re.compile(r"^team#([0-9]+)$")
COLOUR = re.compile(r"\^(\^|[0-9]|x[0-9a-fA-F]{3})")
FIRED = re.compile(r"^acc-.*-cnt-fired$")
# The game's font has its 256 signs from U+E000 on. Signs 32 to 126 and 160 to 254 are ASCII. The other tables replace
# the first 32 signs, and those from 128 to 159.
FONT_LOW, FONT_HIGH = " ####.###  #  ..[]0123456789.<=>", "<=>##.#### # >..[]0123456789.<=>"
ASCII = "".join(map(chr, range(32, 127))) + "<"
FONT = {0xE000 + number: sign for number, sign in enumerate(FONT_LOW + ASCII + FONT_HIGH + ASCII)}


@dataclass(slots=True)
class Player:
    id: str
    line: int
    name: str | None = None
    team: str | None = None
    ranked: bool = True
    numbers: dict[str, Decimal] = field(default_factory=dict)

    def number(self, name: str) -> float:
        """Return a number, or 0 if the number was not sent."""
        return float(self.numbers.get(name, 0))

    @property
    def is_bot(self) -> bool:
        return self.id.startswith("bot#")

    @property
    def plays(self) -> bool:
        return bool(self.number("joins") or self.number("alivetime"))


@dataclass(slots=True)
class Report:
    event: Event
    top: dict[str, tuple[str, int]] = field(default_factory=dict)
    teams: dict[str, Player] = field(default_factory=dict)
    players: dict[str, Player] = field(default_factory=dict)

    def value(self, key: str) -> str:
        return self.top[key][0] if key in self.top else ""

    def refuse(self, key: str, remedy: str) -> None:
        """Report the value of a key."""
        value, line = self.top[key]
        self.event.refuse(value, remedy, key, f"line {line}")

    @property
    def game_type(self) -> str:
        game_type = self.value("G").lower()
        return GAME_TYPES.get(game_type, game_type)


def read(files: Sequence[Source], collector: Collector) -> None:
    for source in files:
        found = False
        for report in reports(source):
            found = True
            take(report, collector)
        if not found:
            refuse_file(source.name, "is neither a report nor a log of reports. A report begins with a version (V 9).")


def reports(source: Source) -> Iterator[Report]:
    """Yield the reports in a file: the single report, or the reports in a log, in order."""
    body: list[tuple[int, bytes]] | None = None
    before: list[tuple[int, bytes]] = []  # lines that precede the first report of a log
    begun = 0
    with source.open() as file:
        for number, raw in enumerate(file, start=1):
            line = raw.rstrip(b"\r\n")
            if line == BEGIN:
                if body is not None:
                    yield cut_off(source, begun)
                body, begun, before = [], number, []
            elif line == END and body is not None:
                yield parse(body, source.name, begun + 1)
                body = None
            elif body is not None:
                body.append((number, line))
            elif not begun:
                before.append((number, line))
    if body is not None:
        yield cut_off(source, begun)
    elif any(line[:2] in STARTS for _, line in before):
        yield parse(before, source.name)


def cut_off(source: Source, begun: int) -> Report:
    event = Event(source.name, f"line {begun}")
    event.refuse(None, "a report starts here, but its end is missing. The log is incomplete.")
    return Report(event)


def parse(lines: Sequence[tuple[int, bytes]], file: str, first: int = 1) -> Report:
    report = Report(Event(file, f"line {lines[0][0] if lines else first}"))
    owner: Player | None = None
    begun = False
    for number, raw in lines:
        line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        line = line.rstrip(b"\r")
        if b"\0" in line:
            report.event.refuse("\0", "is a NUL character, which is not text", place=f"line {number}")
        key_bytes, space, value_bytes = line.partition(b" ")
        if not space or line.startswith(b"#"):
            continue
        key, value = key_bytes.decode("utf-8", "replace"), value_bytes.decode("utf-8", "replace")
        if key not in ("S", "n") and value.encode() != value_bytes:
            report.event.refuse(value, "is not UTF-8 text", key, f"line {number}")
        if key == "IDFP":
            report.top[key] = value.strip(), number
            continue
        if not begun and key != "V":
            report.event.refuse(None, "the first line must be the version (V 9)", place=f"line {number}")
        begun = True
        owner = read_line(report, owner, key, value, number)
    check(report)
    return report


def read_line(report: Report, owner: Player | None, key: str, value: str, number: int) -> Player | None:
    """Read a line. Return the player or team to which the next lines belong."""
    place, event = f"line {number}", report.event
    if key == "P":
        if value in report.players:
            event.refuse(value, "appears twice in one report", "P", place)
        if not value:
            event.refuse(value, "must be the ID of a player", "P", place)
        report.players[value] = Player(value, number)
        return report.players[value]
    if key == "Q":
        team = TEAM_KEY.match(value)
        if team is None:
            event.refuse(value, "must be a team such as team#5", "Q", place)
        name = team[1] if team else value
        report.teams[name] = Player(name, number)
        return report.teams[name]
    if key not in OWNED_KEYS:
        report.top[key] = value, number
    elif owner is None:
        event.refuse(value, f"comes before any player or team (key {key})", place=place)
    else:
        read_owned(event, owner, key, value, place)
    return owner


def read_owned(event: Event, owner: Player, key: str, value: str, place: str) -> None:
    if key == "n":
        owner.name = value
        return
    name, _, written = value.partition(" ") if key == "e" else (key, "", value)
    if not is_finite(written):
        event.refuse(written, "must be a finite number", name, place)
    elif key == "e":
        owner.numbers[name] = Decimal(written)
    elif key == "t":
        owner.team = f"{float(value):g}"
    elif key == "r":
        owner.ranked = float(value) != 0.0


def is_finite(written: str) -> bool:
    return NUMBER.match(written) is not None and math.isfinite(float(written))


def check(report: Report) -> None:
    for key in REQUIRED:
        if not report.value(key).strip() and not (key == "S" and report.value("IDFP")):
            report.event.refuse(None, f"the report has no {key}")
    version, match_id, duration = (report.value(key) for key in "VID")
    if not re.fullmatch(r"\s*[0-9]*\s*", version):
        report.refuse("V", "must be a whole number")
    if match_id.strip() and not MATCH_ID.match(match_id):
        report.refuse("I", "must be up to 64 ASCII characters, without : ; ' \" \\ $")
    if "D" in report.top and not (is_finite(duration) and float(duration) >= 0.0):
        report.refuse("D", "must be a number of seconds, 0 or more")


def take(report: Report, collector: Collector, server: str | None = None, received_us: int | None = None) -> None:
    """Make an event from a report, or count the reason why it contains no event.

    `received_us` is the time for matches whose ID contains no time.
    """
    event = report.event
    if event.faults:
        collector.refuse(event.faults)
        return
    people = [player for player in report.players.values() if not player.is_bot]
    playing = [player for player in people if player.plays]
    reason = no_match(report, playing)
    if reason:
        collector.drop(reason)
        return
    server = server or report.value("IDFP") or without_colours(report.value("S"))
    if not server:
        report.refuse("S", "is not the name of a server")
    event.event_id = f"{server}/{report.value('I')}"
    duration = float(report.value("D")) if "D" in report.top else None
    lasted = max((player.number("alivetime") for player in playing), default=0.0) if duration is None else duration
    epoch = EPOCH_ID.match(report.value("I"))
    if epoch:
        event.started_at = times.within_years(int(epoch[1]) * 1_000_000)
    elif received_us is not None:
        event.started_at = received_us - round(lasted * 1_000_000)
    event.shared = {"pool": report.game_type, "mode": report.value("O").strip() or None}
    event.shared["duration_s"] = lasted if duration is not None or lasted else None
    collector.drop("bot", sum(player.is_bot for player in report.players.values()))
    collector.drop("watcher", len(people) - len(playing))
    known = [player for player in playing if not player.id.startswith("player#")]
    collector.drop("anonymous", len(playing) - len(known))
    in_teams = any(player.team is not None for player in playing)
    scores = team_scores(report) if in_teams else {}
    for player in known:
        values = row(report, player, in_teams=in_teams)
        if scores and player.team is not None:
            values["team_score"] = scores.get(player.team, 0.0)
        values["played_s"] = min(player.number("alivetime"), math.inf if duration is None else duration)
        name = without_colours(player.name or "")
        event.add(player.id, values, name=name or None, place=f"line {player.line}")
    collector.take(event)


def tells_start(report: Report) -> bool:
    return EPOCH_ID.match(report.value("I")) is not None


def no_match(report: Report, playing: list[Player]) -> str:
    """Return the reason why a match does not count under XonStat's rules, or an empty string if it counts."""
    if report.game_type == "cts":
        return "" if any(fastest(player) for player in playing) else "blank"
    if not any(player.number("matches") for player in report.players.values()):
        return "not finished"
    scored = any(player.number("scoreboard-score") for player in playing)
    fired = any(FIRED.match(name) for player in playing for name in player.numbers)
    return "" if scored and (fired or report.game_type == "nb") else "blank"


def fastest(player: Player) -> Decimal | None:
    """Return the fastest lap or run in hundredths of a second, from the final scoreboard, or else from all records."""
    return player.numbers.get("scoreboard-fastest") or player.numbers.get("total-fastest") or None


def team_scores(report: Report) -> dict[str, float]:
    names = [f"scoreboard-{name}" for name in TEAM_SCORES.get(report.game_type, ("score",))]
    sent = {name for team in report.teams.values() for name in team.numbers}
    name = next((name for name in names if name in sent), names[-1])
    return {number: team.number(name) for number, team in report.teams.items()}


def row(report: Report, player: Player, *, in_teams: bool) -> dict[str, Any]:
    values: dict[str, Any] = {"ranked": player.ranked}
    if in_teams and player.team is not None:
        values["team"] = TEAM_NAMES.get(player.team, player.team)
    if report.game_type == "cts":
        best = fastest(player)
        ran = best is not None and bool(player.number("joins"))
        return values | {"status": "finished" if ran else "dnf", "time_s": float(best / 100) if best and ran else None}
    if not (player.number("matches") and player.number("scoreboardvalid")):
        return values | {"status": "quit"}
    values |= {"status": "finished", "score": player.number("scoreboard-score")}
    if not in_teams and "scoreboardpos" in player.numbers:
        values["position"] = player.number("scoreboardpos")
    return values


def without_colours(name: str) -> str:
    """Return a name as displayed in the game, without colour codes, and with the symbols of its font as ASCII."""
    plain = COLOUR.sub(lambda code: "^" if code[1] == "^" else "", name)
    return plain.translate(FONT).strip()
