"""`podium.toml`: what commands take where neither an option nor the environment says otherwise.

The file is that of the working folder, or of the nearest folder above it. Paths in it are relative to its own folder.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from podium.cli.terminal.show import did_you_mean
from podium.errors import ParameterError
from podium.importers.registry import FORMATS

FILE_NAME = "podium.toml"
MEANINGS = {
    "system": "the rating system: a name, elo:k=20, or my.py:Class",
    "file": "the results that commands read",
    "format": "what file is, if it is no results table",
    "map": "what the columns of file mean",
    "period": "when ratings settle",
    "pool": "the pool that commands ask about",
    "db": "the database of the service",
    "parameters": "a table of the system's parameters",
    "leaderboard": "a table of who is listed: min_events, max_deviation, active_within, top",
}
LEADERBOARD = {"min_events": (int,), "max_deviation": (int, float), "active_within": (str,), "top": (int,)}
LEAST = {"min_events": 0, "max_deviation": 0, "top": 1}
TABLES = ("parameters", "leaderboard")


@dataclass(frozen=True)
class SettingsFile:
    """What a file says; empty where there is none."""

    path: Path | None = None
    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """A value, or of `leaderboard.top` the value in that table; None where the file does not say."""
        table, _, key = name.rpartition(".")
        values = self.values.get(table, {}) if table else self.values
        return values.get(key)

    def path_of(self, name: str) -> Path | None:
        """A value that is a path, from the working folder."""
        value = self.get(name)
        return None if value is None or self.path is None else Path(os.path.relpath(self.path.parent / value))

    def fault(self, name: str, message: str) -> ParameterError:
        """The error of a value, with the line where it stands."""
        return ParameterError(f"{self.path}, line {self.line(name)}: {message}")

    def line(self, name: str) -> int:
        """The line of a value, or of the first word that could be its name."""
        table, _, key = name.rpartition(".")
        header = ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            begins_table = re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line)
            if begins_table is not None:
                header = begins_table[1].strip("\"'")
                if header == name:
                    return number
            if re.match(rf"\s*[\"']?(?:{re.escape(table)}\.)?{re.escape(key)}[\"']?\s*[.=]", line) and header in (
                table,
                "",
            ):
                return number
        return 1


def find_settings() -> SettingsFile:
    """The settings that hold in the working folder."""
    working = Path.cwd()
    paths = [folder / FILE_NAME for folder in (working, *working.parents)]
    path = next((each for each in paths if each.is_file()), None)
    return SettingsFile() if path is None else read_settings(path)


def read_settings(path: Path) -> SettingsFile:
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: is not TOML: {error}") from None
    settings = SettingsFile(path, text, values)
    refuse_unknown(settings, "", values, MEANINGS)
    for name, value in values.items():
        if name in TABLES and not isinstance(value, dict):
            raise settings.fault(name, f"{name} is {value!r}; it must be {MEANINGS[name]}")
        if name not in TABLES and not (isinstance(value, str) and value):
            raise settings.fault(name, f"{name} is {value!r}; it must be a text: {MEANINGS[name]}")
    check_leaderboard(settings)
    if settings.get("format") not in (None, *FORMATS):
        known = f"is not a format{did_you_mean(settings.get('format'), list(FORMATS))} ({', '.join(FORMATS)})"
        raise settings.fault("format", f"{settings.get('format')!r} {known}")
    if "period" in values:
        from podium.engine.tables.selection import check_period

        check(settings, "period", check_period)
    return settings


def check_leaderboard(settings: SettingsFile) -> None:
    rules = settings.get("leaderboard") or {}
    refuse_unknown(settings, "leaderboard.", rules, LEADERBOARD)
    for name, value in rules.items():
        is_text = LEADERBOARD[name] == (str,)
        fits = isinstance(value, LEADERBOARD[name]) and not isinstance(value, bool)
        if not fits:
            kind = "a text like 90d" if is_text else "a number"
            raise settings.fault(f"leaderboard.{name}", f"{name} is {value!r}; it must be {kind}")
        if not is_text and value < LEAST[name]:
            raise settings.fault(f"leaderboard.{name}", f"{name} is {value}; it must be {LEAST[name]} or more")
    if "active_within" in rules:
        from podium.ledger.leaderboard import span

        check(settings, "leaderboard.active_within", span)


def check(settings: SettingsFile, name: str, parse: Callable[[str], Any]) -> None:
    """Check a value by what will read it."""
    try:
        parse(settings.get(name))
    except ParameterError as error:
        raise settings.fault(name, str(error)) from None


def refuse_unknown(settings: SettingsFile, table: str, values: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse names that no command knows."""
    for name in values:
        if name not in known:
            hint = did_you_mean(name, list(known))
            raise settings.fault(f"{table}{name}", f"{name} is not a setting{hint} (there are {', '.join(known)})")


def from_settings(name: str) -> Callable[[typer.Context, typer.CallbackParam, Any], Any]:
    """What an option does with its value: where nobody gave one, the settings' is taken."""

    def take(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
        source = context.get_parameter_source(parameter.name or "")
        if context.resilient_parsing or source is None or source.name != "DEFAULT":
            return value
        own = find_settings().get(name)
        return value if own is None else own

    return take


def database_of_settings(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
    """The URL of a database as `from_settings` takes it; the path of an SQLite file is from the working folder."""
    url = from_settings("db")(context, parameter, value)
    return url if url == value or "://" in url else str(find_settings().path_of("db"))


def pool_of_settings() -> str:
    pool = find_settings().get("pool")
    if pool is None:
        raise typer.BadParameter(f"name the ladder with --pool, or as pool in {FILE_NAME}")
    return str(pool)
