"""Find out how to read each column of a sheet: the rules for results columns, and the words in place of values."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from podium.importers import times
from podium.importers.grid import SHEET, Choice, SourceRule
from podium.importers.sources import stem
from podium.importers.tables.applying import status_words
from podium.importers.tables.cells import PLAYED, TINY, Table, build
from podium.importers.tables.columns import Columns, codes
from podium.importers.tables.maps import LAPS, Rule, build_map
from podium.importers.tables.sheet import COMMA, Document, Sheet, are_ranks, mates_rule
from podium.results import headings as heads
from podium.results.columns import GAP, TIMES
from podium.results.headings import fold

MINUTES = [r"^([+-]?\d{1,3})\.([0-5]\d)$", "$1:$2"]
BESIDE_STATUSES = [r"\s*[^\p{L}\s]*\d[^\p{L}\s]*", ""]  # remove the numbers of played parts from joined cells


def read_columns(sheet: Sheet, columns: Columns) -> Columns:
    """Return the columns, each with a rule."""
    for name, heading in columns.chosen.items():
        columns = columns if name in columns.rules else read_column(sheet, columns, name, heading)
    columns = read_title_dates(sheet, columns)
    columns = read_started(sheet, read_statuses(sheet, read_laps(sheet, columns)))
    rules = {name: rule for name, rule in columns.rules.items() if rule is not None} | sheet.given
    for name in sheet.refined.keys() & rules.keys() - {"started_at", "status"}:
        rules[name] = as_table(rules[name]) | sheet.refined[name]
    return columns._replace(rules=rules | order_of_sides(rules))


def as_table(rule: Any) -> Document:
    return rule if isinstance(rule, dict) else {"from": rule}


def read_column(sheet: Sheet, columns: Columns, name: str, heading: str) -> Columns:
    """Return the columns, with the rule for one more column."""
    texts = sheet.cells(heading)
    rule: Any = heading
    notes: Sequence[str] = ()
    if name == "score" and "position" in columns.chosen and name not in sheet.named:
        table = Table(sheet.frame, SourceRule(decimal=".,"))
        if texts.len() and not build(table, name, Rule(columns=(heading,))).column.count():
            return columns.leave(name, "no numbers; the places decide")
    if name == "position":
        rule, notes = place_rule(sheet, columns, heading, texts)
    elif name in TIMES:
        return read_times(sheet, columns, name, heading)
    elif name == "started_at":
        rule, notes = date_rule(sheet, heading, texts.unique(maintain_order=True))
    elif name in ("score", "team_score") and columns.points and columns.points.keys() >= {*texts.unique()}:
        rule = {"from": heading, "map": columns.points}
    elif name == "player" and (way := mates_rule(sheet, heading)):
        rule = {"from": heading, **way}
    elif name == "status":
        words = codes(sheet, heading) or status_words(texts.unique(maintain_order=True).to_list())
        changed = {word: status for word, status in words.items() if word != status}
        others = {word: status for word, status in changed.items() if word.lower() != status}
        rule = {"from": heading, "map": changed} if changed else heading
        notes = [describe_words(others)]
    return columns.make({name: rule}, *notes)


def describe_words(words: Mapping[str, str]) -> str:
    return ", ".join(f"{word} as {status}" for word, status in words.items())


def place_rule(sheet: Sheet, columns: Columns, heading: str, texts: pl.Series) -> tuple[Any, list[str]]:
    """Return the rule for places.

    If lower is better according to an answer, the numbers are shifted above 0 and used as places.
    """
    numbers = texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).drop_nulls()
    least = float(numbers.min() or 0.0)  # type: ignore[arg-type]
    if "position" in sheet.named and numbers.len() and (least < 1 or (numbers % 1 != 0).any()):
        return {"from": heading, "as": "number"} | ({"offset": 1 - least} if least < 1 else {}), []
    if not texts.str.contains(r"^[0-9]+$").all():
        return {"from": heading, "as": "place"}, []
    is_full = (texts == "0").any() and texts.len() == sheet.frame.height
    if not is_full or not are_ranks(sheet, heading, columns.headings("event_id"), 0):
        return heading, []
    return {"from": heading, "as": "number", "offset": 1}, ["places from 0"]


def date_rule(sheet: Sheet, origin: str, distinct: pl.Series) -> tuple[Any, list[str]]:
    """Return the rule for dates. If they may start with the day or with the month, ask."""
    if "started_at" in sheet.refined:
        return {"from": origin, **sheet.refined["started_at"]}, []
    ways, rest = times.matching_formats(distinct), dict[str, Any]()
    for odd in times.ODD_DATES if not ways else ():
        found = times.matching_formats(distinct.str.replace(*odd))
        ways, rest = (found, {"regex": list(odd)}) if found and not ways else (ways, rest)
    if len(ways) > 1:
        ask_day_or_month(sheet, distinct, [way["format"] for way in ways], None if "{" in origin else origin)
    way = ways[0] if ways else {}
    shown = way.get("format") or (distinct[0] if distinct.str.contains(r"^\d{8}$").any() else "")
    notes = [f"dates as {shown}"] if ways and shown else []
    notes += ["dates as Excel day numbers"] * (way.get("epoch") == "excel")
    return {"from": origin, **rest, **way} if way else origin, notes


def ask_day_or_month(sheet: Sheet, dates: pl.Series, forms: Sequence[str], column: str | None) -> None:
    """Ask for the format of dates. Each choice shows the meaning of the first date in that format."""
    days = [dates.head(1).str.to_datetime(form, strict=False)[0] for form in forms]
    meanings = [f"{day.day} {day:%B %Y}" if day else form for day, form in zip(days, forms, strict=True)]
    choices = [
        Choice(meaning, "columns.started_at.format", form) for meaning, form in zip(meanings, forms, strict=True)
    ]
    sheet.ask(f"{dates[0]!r} may start with the day or the month", choices, column)


def read_times(sheet: Sheet, columns: Columns, name: str, heading: str) -> Columns:
    """Return the columns, with the rule for times.

    If places decide the order, ignore gaps. Otherwise, ask about them.
    """
    texts = sheet.cells(heading)
    if heading in columns.asides:
        return columns.make({name: None})
    signed = texts.filter(texts.str.contains(r"^[+-]") & ~texts.str.contains(r"(?i)lap|rd|^\+\s*\d+\s*l$"))
    if signed.len() and name == "time_s":
        if "position" in columns.chosen and heading != "time_s":
            why = f'{signed[0]!r} is a gap; gap = "leader" in a map turns it into a time'
            return columns.make({name: None})._replace(asides={**columns.asides, heading: why})
        if "gap" not in sheet.refined.get("time_s", {}):
            whom = {"leader": "the winner", "previous": "the racer ahead"}
            choices = tuple(
                Choice(f"a gap to {reference}", "columns.time_s.gap", key) for key, reference in whom.items()
            )
            sheet.ask(GAP, choices, heading, signed[0])
    if sheet.grid.rule.format != "csv" and texts.str.contains(r"\d,\d+$").any():
        return columns.make({name: {"from": heading, "regex": COMMA, "as": "duration"}})
    if name == "time_s" and are_minutes(sheet, heading):
        return columns.make({name: {"from": heading, "regex": MINUTES, "as": "duration"}}, "42.18 as 42:18")
    if texts.str.contains(r"^[0-9.]*$").all():
        return columns.make({name: heading})
    notes = "clock times" if name == "time_s" else ""
    return columns.make({name: {"from": heading, "as": "duration"}}, notes)


def are_minutes(sheet: Sheet, heading: str) -> bool:
    """Return True if 42.18 means 42:18, because other times are like 1.02.13, or because of gaps such as +0.47."""
    texts = sheet.texts(heading)
    if not texts.str.contains(MINUTES[0]).any():
        return False
    gaps = [own for other in sheet.headings if (own := sheet.texts(other)).str.starts_with("+").any()]
    fits = []
    for way in (MINUTES, ("", "")):
        own, *others = (times.parse_column(column.str.replace(*way))["seconds"] for column in (texts, *gaps))
        fits.append(any(((own - own.min() - gap).abs() < TINY).all() for gap in others))
    return fits == [True, False] or any(map(times.POINTED.fullmatch, sheet.cells(heading)))


def read_title_dates(sheet: Sheet, columns: Columns) -> Columns:
    """Return the columns. If there are no other dates, add those above the head, or in the names of sheets or the file.

    Dates in names of sheets count only if every sheet has one.
    """
    origin, found = "{title}", sheet.title_dates
    tabs = sheet.frame.get_column(SHEET, default=found).unique(maintain_order=True).str.extract(times.A_DATE)
    if not found.len() and tabs.len() and not tabs.null_count():
        origin, found = "{sheet}", tabs
    elif not found.len() and columns.rules.get("event_id") == "{file}":
        origin, found = "{file}", pl.Series([stem(sheet.grid.name)]).str.extract(times.A_DATE).drop_nulls()
    is_known = "{title}" in sheet.grid.rule.aside or "started_at" in columns.known(sheet)
    if is_known or not found.len():
        return columns
    rule, notes = date_rule(sheet, origin, found.drop_nulls().unique(maintain_order=True))
    if found.null_count():
        text = "only some sheets or blocks have a date above the headings. Write one in each, or in none"
        sheet.ask(text, (Choice("ignore them: the order counts", "source.aside", "{title}"),))
    rule = as_table(rule)
    regex = [f"(?s)^.*?{times.in_a_line(rule.get('format'))}.*$", "$1"]
    return columns.make({"started_at": {**rule, "regex": regex}}, *notes)


def read_laps(sheet: Sheet, columns: Columns) -> Columns:
    """Return the columns, with laps before times, because a lapped racer may have a shorter time."""
    heading = sheet.first_under(heads.LAPS_WORDS)
    if heading is None or columns.rules.get("time_s") is None:
        return columns
    texts = sheet.cells(heading)
    if texts.n_unique() == 1 or not texts.str.contains(r"^[0-9]+$").all():
        return columns
    columns = columns._replace(used=columns.used | {heading})
    return columns.make({LAPS: {"from": heading, "as": "number"}}, f"{heading} before times")


def read_statuses(sheet: Sheet, columns: Columns) -> Columns:
    """Return the columns, with statuses from places, times and scores unless there is a status column."""
    if "status" in columns.known(sheet):
        return columns
    known = sheet.refined.get("status", {}).get("map", {})
    rules, headings = {**columns.rules}, list[str]()
    own = {columns.chosen[name]: name for name in ("position", "time_s", "score") if name in columns.chosen}
    for heading, name in (own | dict.fromkeys(columns_with_status(sheet, columns, list(own)), "")).items():
        if any(known.get(word) or times.status_word(word) for word in sheet.cells(heading).unique()):
            headings.append(heading)
            if known and rules.get(name):
                rules[name] = as_table(rules[name]) | {"else": "null"}
    if not headings:
        return columns
    cells = [sheet.texts(heading) for heading in headings]
    origin: Document = {"from": headings[0]}
    bare = cells[0]
    if len(headings) > 1:
        origin = {"from": headings, "regex": BESIDE_STATUSES}
        joined = pl.DataFrame(cells).select(pl.concat_str(pl.all(), separator=" ", ignore_nulls=True)).to_series()
        bare = joined.str.replace_all(*BESIDE_STATUSES).str.strip_chars()
    words: dict[str, str] = {}
    for word, *row in pl.DataFrame([bare.alias("\0word"), *cells]).unique(maintain_order=True).rows():
        found = next(filter(None, (known.get(cell) or times.status_word(cell) for cell in row if cell)), None)
        words |= {word: found} if found else {}
    if not words:
        return columns._replace(rules=rules)
    rules["status"] = origin | {"map": words, "default": "finished"}
    return columns.make(rules, describe_words(words))


def read_started(sheet: Sheet, columns: Columns) -> Columns:
    """Treat entrants with a word for "did not start" as not finished if they took part, such as WD after one round."""
    rule = columns.rules.get("status")
    if rule is None or "status" in sheet.given:
        return columns
    table = {"from": [rule]} if isinstance(rule, str) else rule
    made = build_map({"columns": {"status": table}}, sheet.grid.name).columns["status"]
    rows = build(Table(sheet.frame, sheet.grid.rule), "status", made).column == "did_not_start"
    # R1 and R2 differ only in their number
    bare = {heading: re.sub(r"\d+", "", fold(heading)) for heading in columns.open(sheet)}
    often = Counter(own for heading, own in bare.items() if own != fold(heading))
    parts = [*sheet.under(heads.LAPS_WORDS), *(heading for heading, own in bare.items() if often[own] > 1)]
    played = [part for part in dict.fromkeys(parts) if sheet.texts(part).filter(rows).str.contains(PLAYED).any()]
    if not played:
        return columns
    return columns.make({"status": {**table, "started": played}}, f"entrants with {' or '.join(played)} as started")


def columns_with_status(sheet: Sheet, columns: Columns, compared: Sequence[str]) -> list[str]:
    """Return the columns with a status for entrants without a result, and nothing or a number for all others.

    In a column of gaps, such as +1.402, a status also counts for entrants with a place.
    """
    cells = (pl.col(heading).is_null() for heading in compared)
    without = sheet.frame.select(pl.all_horizontal(pl.lit(bool(compared)), *cells)).to_series()
    found = []
    for heading in (*columns.open(sheet), *columns.asides):
        texts = sheet.texts(heading)
        lacking = without | texts.str.starts_with("+").any()
        distinct = texts.filter(lacking).drop_nulls().unique()
        words = [word for word in distinct if times.status_word(word)]
        others = pl.concat([texts.filter(~lacking).drop_nulls(), distinct.filter(~distinct.is_in(words))])
        if words and others.str.contains(r"\d").all():
            found.append(heading)
    return found


def order_of_sides(rules: Mapping[str, Any]) -> Document:
    """Use the times of sides as their places if nothing else compares them, because times compare only players."""
    time, player = rules.get("time_s"), rules.get("player")
    if time is None or "split" not in (player or {}) or not {"position", "team_score"}.isdisjoint(rules):
        return {}
    return {"position": time if isinstance(time, dict) else {"from": time, "as": "number"}}
