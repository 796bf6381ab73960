"""The layout with one match per row: the two sides and the result."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers.grid import ROW_NUMBER, Choice, ignoring
from podium.importers.tables.applying import apply_map, outcome_points
from podium.importers.tables.cells import POINTS, RESULTS, WHOLE, parse_result
from podium.importers.tables.maps import build_map, toml_value
from podium.importers.tables.sheet import LISTED, UNPLAYED, Document, Sheet, all_have, pair_rule
from podium.importers.times import status_word
from podium.results import headings as heads
from podium.results.column_guide import COMPARED
from podium.results.headings import fold, is_pairing, known_column, side_of

PAIR_ALONE = re.compile(r"\s*[\d½]{1,3}\s*[-:\u2013/xX]\s*[\d½]{1,3}\s*(\(\d+\))?\s*")
VERSUS = (r"vs?\.?", "[\u2013-]")  # marks between the sides; the second applies only in known columns
MARKS = (
    " / ",
    "/",
    " & ",
    " + ",
    "&",
    "+",
    " - ",
    " \u2013 ",
    *(f" {word} " for word in heads.AND),
)  # marks between team mates
FORFEITED = heads.FORFEIT, "forfeit"
SIDE_WINS = re.compile(RESULTS["side_wins"])
LEAST_PARTS = 3  # minimum number of columns with parts of a match if another column adds them up
Parts = Mapping[str, str]  # heading for each part of a match
Compared = tuple[list[Document], list[Document]]  # rules for each side, and conditions that drop rows
MAX_SHOWN = 3  # maximum number of words in a question


def matches(sheet: Sheet) -> Document | None:
    """Return the map for one match per row, or None if there are no columns with two sides."""
    members = defaultdict[str, list[str]](list)
    for heading in sheet.headings:
        members[side_of(heading) or ""].append(heading)
    for headings in members.values():  # players come before their teams
        headings.sort(key=lambda heading: "team" in map(known_column, fold(heading).split("_")))
    parts = parts_of_match(sheet, members)
    names = next((pair for pair in (("winner", "loser"), ("first", "second")) if parts.keys() >= {*pair}), None)
    if names is None:
        found = pairings(sheet, parts) if "result" in parts else None
        parts, names = ({} if found else sides_by_cells(sheet)), ("first", "second")
        if not parts:
            return found
    one, other = (parts[name] for name in names)
    if names[0] == "winner":
        ask_about_losing_winner(sheet, parts)
        rules: list[Document] = [{"position": {"value": place}} for place in (1, 2)]
        conditions = sheet.drop([parts["result"]], *FORFEITED) if "result" in parts else []
    else:
        rules, conditions = compared(sheet, parts)
    conditions += sheet.drop((other, one), heads.BYE, "bye", "no opponent")
    conditions += sheet.drop((one, other), heads.NOBODY, "nobody")
    remarks = filter(sheet.is_unknown, sheet.others(*parts.values()))
    conditions += sheet.drop(remarks, heads.NOT_PLAYED, "forfeit")
    split = split_rule(sheet, one, other)
    players: list[Any] = [{"from": [heading], **split} for heading in (one, other)] if split else [one, other]
    several = [members.get(name, []) for name in names]
    words = map(fold, chain(*several))
    are_members = (heads.SIDE.fullmatch(word) or heads.MEMBER.fullmatch(word) for word in words)
    more = further(sheet, parts, one, other)
    if more and len(rules) == len(more) + 2:
        players = [one, other, *more]
    elif len(more) == 2:  # noqa: PLR2004  (two players against two)
        players = [[one, other], more]
    elif more:
        sheet.ask("has further players, but no column has their results", (), more[0])
    elif len(several[0]) == len(several[1]) > 1 and (names[0] == "winner" or all(are_members)):
        players = several
    names_of = [own if isinstance(own, list) else [name] for own, name in zip(players, (one, other), strict=False)]
    met = " - ".join(" / ".join(f"{{{name}}}" for name in side) for side in names_of)
    event = f"{lead(sheet, 'started_at', 'event_id')} {met}"
    document = match_rows(sheet, players, rules, conditions, event)
    is_entrant = one == sheet.first("player", "team")
    return once_each(sheet, document, one, other) if is_entrant else document


def further(sheet: Sheet, parts: Parts, one: str, other: str) -> list[str]:
    """Return the columns that continue two headings, such as Player 3 after Player 1 and 2, or C after A and B."""
    numbers = [one.replace("1", f"{number}") for number in range(2, 100)]
    letters = [one[:-1] + chr(ord(one[-1]) + step) for step in range(1, 9)]
    later = next((names[1:] for names in (numbers, letters) if names[0] == other), [])
    others = sheet.others(parts.get("result"), parts.get("winner"))
    return [heading for heading in later if heading in others]


def parts_of_match(sheet: Sheet, members: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the first heading for each part of a match. Players next to opponents are a side."""
    parts = {part: headings[0] for part, headings in members.items()}
    goals = [heading for heading in sheet.under(heads.GOALS) if are_pairs(sheet, heading)]
    if results := goals[:1] or sum_of_pairs(sheet):
        parts.setdefault("result", results[0])
    player = sheet.first("player", "team")
    if "opponent" in parts and "first" in parts:
        parts.setdefault("second", parts["opponent"])
    if player is not None and parts.get("opponent", player) != player and "first" not in parts:
        parts |= {"first": player, "second": parts["opponent"]}
    if parts.keys().isdisjoint({"result", "winner", "score of first", "score of second"}) and not sets(sheet):
        only = [name for name in sheet.headings if sheet.is_unknown(name) or sheet.meaning(name) == "event_id"]
        found = [heading for heading in only if are_pairs(sheet, heading)]
        parts |= {"result": found[0]} if len(found) == 1 else {}
    return parts


def split_rule(sheet: Sheet, *headings: str) -> Document:
    """Return the rule that splits the names of sides into their members, if the cells contain a mark."""
    if sheet.cells(*headings).str.starts_with('["').all():  # the cells are lists in JSON
        return LISTED
    are_couples = not heads.COUPLES.isdisjoint(fold(headings[0]).split("_"))
    marks = (*MARKS, "-") if are_couples else MARKS
    mark = next((mark for mark in marks if all_have(sheet, mark, *headings)), None) or commas(sheet, *headings)
    return {"split": mark} if mark else pair_rule(sheet, *headings)


def commas(sheet: Sheet, *headings: str) -> str | None:
    """Return a comma if all cells below headings for three members contain three names.

    If some cells contain fewer names, ask.
    """
    cells = sheet.cells(*headings)
    are_three = cells.filter(~cells.str.contains(heads.BYE)).str.count_matches(",") == 2  # noqa: PLR2004
    if heads.THREES.isdisjoint(fold(headings[0]).split("_")) or not are_three.any():
        return None
    if not are_three.all():
        sheet.ask("has more names in some cells than in others. Separate all of them by /", (), headings[0])
    return ","


def are_pairs(sheet: Sheet, heading: str) -> bool:
    """Return True if every cell contains the points of both sides."""
    cells = sheet.cells(heading)
    return bool(cells.len()) and all(map(PAIR_ALONE.fullmatch, cells))


def sum_of_pairs(sheet: Sheet) -> list[str]:
    """Return the column that adds up both sides' points in other columns, such as the final score after quarters."""
    points = {
        heading: [own or 0.0 for cell in sheet.texts(heading) for own in parse_result(cell or "0-0") or ()]
        for heading in sheet.headings
        if are_pairs(sheet, heading)
    }
    sums = [*map(sum, zip(*points.values(), strict=True))]
    words = [{*fold(heading).split("_")} for heading in points]
    quarters = sum(not own & heads.SETS and bool(own & heads.QUARTERS) for own in words)
    if len(points) < LEAST_PARTS or quarters < len(points) - 1:
        return []
    return [heading for heading, own in points.items() if [2 * one for one in own] == sums]


def sides_by_cells(sheet: Sheet) -> dict[str, str]:
    """Find the sides and result of a match by cells alone.

    Two columns must share names, or the rows must be the boards of a team match. Another column must have results.
    """
    columns = {heading: sheet.cells(heading) for heading in sheet.headings if sheet.is_unknown(heading)}
    named = {*columns, *(heading for heading in sheet.headings if side_of(heading) == "result")}
    results = [heading for heading in sheet.headings if heading in named and are_pairs(sheet, heading)]
    names = [heading for heading, cells in columns.items() if cells.str.contains(r"\p{L}{2}").all() and cells.len()]
    if len(results) != 1 or len(names) != 2:  # noqa: PLR2004
        return {}
    is_met = columns[names[0]].is_in(columns[names[1]].implode()).any() or sheet.under(heads.BOARDS)
    return {"first": names[0], "second": names[1], "result": results[0]} if is_met else {}


def lead(sheet: Sheet, *columns: str) -> str:
    """Return the beginning of a match's name: the values of columns without gaps, or the lines above the head."""
    found = [heading for column in columns if (heading := sheet.first(column))]
    found = found[:1] + [heading for heading in found[1:] if not sheet.texts(heading).null_count()]
    return " ".join(f"{{{heading}}}" for heading in found) or sheet.event


def match_rows(
    sheet: Sheet,
    players: Sequence[Any],
    rules: Sequence[Document],
    conditions: list[Document],
    event: str,
) -> Document:
    """Return the map for one match per row, given the headings or the rule of each side's players, and its result."""
    sides: list[Document] = []
    for name, player, own in zip(("winners", "losers", *players[2:]), players, rules, strict=False):
        if isinstance(player, list):
            sides += [{"player": member, **own, "team": {"value": name}} for member in player]
        elif isinstance(player, dict) and "split" in player:
            of_team = {f"team_{key}" if key == "score" else key: rule for key, rule in own.items()}
            sides.append({"player": player, **of_team})
        else:
            sides.append({"player": player, **own})
    columns: Document = {"event_id": {"from": event.strip(), "count": True}}
    columns |= {"pool": sheet.of_column["pool"][0]} if "pool" in sheet.of_column else {}
    where = {"where": {"drop": conditions}} if conditions else {}
    return {"layout": {"kind": "wide", "sides": sides}, **where, "columns": columns}


def once_each(sheet: Sheet, document: Document, player: str, opponent: str) -> Document:
    """Change the map to read each match only once, if all matches are listed for both sides.

    If only some matches are, ask.
    """
    when = [heading for heading in (sheet.first("started_at"), sheet.first("event_id")) if heading is not None]
    rows = sheet.frame.select(player, opponent, *when)
    swapped = rows.rename({player: opponent, opponent: player}).select(rows.columns)
    twice = rows.with_row_index(ROW_NUMBER).join(swapped, on=rows.columns, how="semi", maintain_order="left")
    if not twice.height:
        return document
    mapped, met = apply_map(sheet.grid, build_map(document, sheet.grid.name)), rows.rows()
    names = [name for name in ("player", *COMPARED) if name in mapped.table.columns]
    results = defaultdict[int, frozenset[Any]](frozenset)
    for row, *own in zip(mapped.rows, *mapped.table.select(names), strict=True):
        results[row] |= {tuple(own)}
    counts = Counter((met[row], own) for row, own in results.items())
    other_side = {row: (met[row][1], met[row][0], *met[row][2:]) for row in twice[ROW_NUMBER]}
    unlike = [row for row, its in other_side.items() if counts[met[row], results[row]] != counts[its, results[row]]]
    if not unlike and when and results.keys() <= other_side.keys():
        return document | {"where": {**document.get("where", {}), "once": [player, opponent, *when]}}
    where = sheet.grid.places(unlike or [*other_side])
    what = "contradict the rows from the other side" if unlike else "list a match from both sides"
    sheet.ask(f"{where} {what}. Keep one row for each match", ())
    return document


def pairings(sheet: Sheet, parts: Parts) -> Document | None:
    """Return the map for one match per row, if both sides are in one cell: Ana vs. Ben."""
    for heading in sheet.headings:
        texts = sheet.texts(heading)
        for versus in VERSUS if is_pairing(heading) else VERSUS[:1]:
            counts = texts.str.count_matches(rf"(?i)\s{versus}\s").fill_null(0)
            if not counts.len() or not (counts == 1).all():
                continue
            regex = rf"(?i)^(.*?)\s+{versus}\s+(.*)$"
            are_doubles = (texts.str.count_matches("/", literal=True) == 2).all()  # noqa: PLR2004
            split = {"split": "/"} if are_doubles else {}
            players = [{"from": [heading], "regex": [regex, side], **split} for side in ("$1", "$2")]
            rules, conditions = compared(sheet, parts)
            event = f"{lead(sheet, 'started_at')} {{{heading}}}"
            return match_rows(sheet, players, rules, conditions, event)
    return None


def compared(sheet: Sheet, parts: Parts) -> Compared:
    """Return the rules for the result of each side, and the conditions that drop rows without a result."""
    result, winner = parts.get("result") or sets(sheet), parts.get("winner")
    scores = [parts[name] for name in ("score of first", "score of second") if name in parts]
    has_both = len(scores) > 1
    written = scores if has_both else [result] if isinstance(result, str) else []
    if winner and written and winner_decides(sheet, winner, parts, written):
        return by_winner(sheet, winner, parts), sheet.drop(written, *FORFEITED)
    waiting = without_winner(sheet, winner, written) if winner and written else []
    if has_both:
        if isinstance(result, str):
            ask_which_score(sheet, result, scores)
        conditions = sheet.drop(scores, UNPLAYED, "no result", "no result") + waiting
        cells = sheet.cells(*scores)
        pair = next(filter(PAIR_ALONE.fullmatch, cells), None)
        if pair is not None:
            sheet.ask(f"{pair!r} is two numbers for one side. Write their sum", (), scores[0])
        outcomes = outcome_points(cells.unique(maintain_order=True))
        conditions += [] if outcomes else sheet.drop(scores, *FORFEITED)
        way: Document = {"map": outcomes} if outcomes else {"as": "result"}
        return [{"score": {"from": [score], **way}} for score in (*scores, *further(sheet, parts, *scores))], conditions
    if result is None or (winner and isinstance(result, list)):
        return by_winner(sheet, winner, parts), []
    if isinstance(result, list):
        return [{"score": {"from": result, "as": "result", "side": side}} for side in (1, 2)], []
    conditions = sheet.drop([result], *FORFEITED, "no result") + sheet.drop([result], UNPLAYED, "no result") + waiting
    words = sheet.cells(result).unique(maintain_order=True).to_list()
    points = {word: (own, 1.0 - own) for word, own in outcome_points(words).items()}
    points = points or side_points(words, parts)
    if points.keys() >= {*words}:
        return by_words(result, points), conditions
    ask_who_retired(sheet, result, words)
    later = [heading for heading in sheet.under(heads.LATER) if are_pairs(sheet, heading)]
    origin = {"first": [*reversed(later), result]} if later else {"from": [result]}
    read = filter(None, map(parse_result, words))
    is_won = all(own in WHOLE and other == 1 - own for own, other in read if own is not None) and not later
    name = "position" if is_won else "score"
    return [{name: {**origin, "as": "result", "side": side}} for side in (1, 2)], conditions


def without_winner(sheet: Sheet, winner: str, scores: Sequence[str]) -> list[Document]:
    """Return the condition that drops matches without a winner, if all their results are 0:0: they were not played."""
    rows = sheet.frame.filter(pl.col(winner).is_null()).select(scores).cast(pl.String).drop_nulls().iter_rows()
    is_open = {parse_result(":".join(cells)) for cells in rows} == {(0.0, 0.0)}
    return [{"column": winner, "null": True, "reason": "no result"}] if is_open else []


def leader(*cells: str | None) -> int | None:
    """Return 1 if the first side leads by its result or both sides' scores, -1 if it trails, 0 for a draw, or None."""
    own, other = parse_result(":".join(cell or "" for cell in cells)) or (None, None)
    return None if own is None or other is None else (own > other) - (own < other)


def winner_decides(sheet: Sheet, winner: str, parts: Parts, scores: Sequence[str]) -> bool:
    """Return True if a column states the winner even if the score is a draw, or ends with a word such as "retired".

    If the column states the side with the lower score, ask.
    """
    decides = False
    columns = map(sheet.texts, (parts["first"], parts["second"], winner, *scores))
    for one, other, named, *cells in zip(*columns, strict=True):
        if named not in (one, other):
            continue
        ahead = leader(*cells)
        if ahead is None:
            decides |= any(status_word(word) for cell in cells for word in (cell or "").split())
        elif ahead == (-1 if named == one else 1):
            text = f"names {named}, but {' and '.join(scores)} favour the other. Which counts?"
            ask_which_to_ignore(sheet, text, winner, scores[0])
            return False
        decides |= ahead == 0
    return decides


def ask_about_losing_winner(sheet: Sheet, parts: Parts) -> None:
    """Ask about the first match in which the scores are equal, or favour the loser."""
    ways = ("score of winner", "score of loser"), ("score of first", "score of second"), ("result",)
    found = next(([parts[name] for name in way] for way in ways if parts.keys() >= {*way}), None)
    scores, mark = (found, ":") if found else (sets(sheet) or [], " ")
    for row, (winner, *cells) in enumerate(zip(*map(sheet.texts, (parts["winner"], *scores)), strict=True)):
        written = mark.join(cell or "" for cell in cells)
        if leader(written) in (0, -1) and not written.isdecimal():  # a number alone is of one side
            text = f"names {winner} in {sheet.grid.place(row)}, but not by {' and '.join(scores)}: {written}"
            sheet.ask(f"{text}. Correct the row, or ignore {scores[0]}", [ignoring(scores[0])], parts["winner"])
            return


def ask_which_score(sheet: Sheet, result: str, scores: Sequence[str]) -> None:
    """Ask what decides a match, if the result and the scores favour different sides."""
    for written, *cells in zip(*map(sheet.texts, (result, *scores)), strict=True):
        if {leader(written), leader(*cells)} == {1, -1}:
            text = f"says {written}, but {' and '.join(scores)} favour the other. Which counts?"
            ask_which_to_ignore(sheet, text, result, scores[0])
            return


def ask_who_retired(sheet: Sheet, result: str, words: Iterable[str]) -> None:
    """Ask whether to leave out matches that end with a word such as "retired", because no column shows who won."""
    found = [word for word in words if not re.match(FORFEITED[0], word) and any(map(status_word, word.split()))]
    if found:
        choice = Choice("ignore these matches", "source.null", toml_value(["", *found]))
        shown = " and ".join(map(repr, found[:MAX_SHOWN]))
        text = f"has {shown}, which does not say who won. Add a Winner column, or ignore these matches"
        sheet.ask(text, (choice,), result)


def ask_which_to_ignore(sheet: Sheet, text: str, *headings: str) -> None:
    sheet.ask(text, map(ignoring, headings), headings[0])


def sets(sheet: Sheet) -> list[str] | None:
    """Return the columns of sets, in order. Their cells contain the points of both sides."""
    found = []
    for heading in (heading for heading in sheet.headings if re.search(r"^\d|\D\d$", heading.strip())):
        words = {*fold(heading).split("_")}
        is_set = not words & heads.QUARTERS and (heading[-1].isdigit() or words & heads.SETS)
        found += [heading] if is_set and are_pairs(sheet, heading) else []
    return found if len(found) > 1 else None


def by_winner(sheet: Sheet, heading: str | None, parts: Parts) -> list[Document]:
    """Return the rules for both sides, based on a column that states the winner, the winning side or a draw."""
    if heading is None:
        sheet.ask("no column says who won", ())
        return [{}, {}]
    sides = [parts["first"], parts["second"]]
    sides += further(sheet, parts, *sides)
    names = sheet.frame.select(*sides, heading).cast(pl.String)
    words = {*names[heading].drop_nulls()}
    points = side_points(sorted(words.difference(*names[sides])), parts)
    if not all(winner in (None, *met, *points) for *met, winner in names.iter_rows()):
        remedy = "names neither side in some rows. Write the winner's name exactly as in its column."
        raise ResultsError(sheet.grid.name, [Fault(None, heading, None, remedy)])
    if points.keys() >= words:
        return by_words(heading, points)
    then = {"equals": heading, "then": 1, "other": 2}
    return [{"position": {"from": [side], **then}} for side in sides]


def by_words(heading: str, points: Mapping[str, tuple[float, float]]) -> list[Document]:
    maps = ({word: own[side] for word, own in points.items()} for side in (0, 1))
    return [{"score": {"from": [heading], "map": own}} for own in maps]


def side_points(words: Iterable[str], parts: Parts) -> dict[str, tuple[float, float]]:
    """Return both sides' points for words that mean a draw, or that name the winning side in the same way as headings.

    For example, Home, H and 1 mean the first side, B+3.5 and "Black wins" mean Black, and X means a draw.
    """
    titles = [fold(parts.get(side, side)) for side in ("first", "second")]
    short = [title[:1] for title in titles] if titles[0][:1] != titles[1][:1] else []
    begun = [title.partition("_")[0] for title in titles if short]
    named = dict(zip(("1", "2", "a", "b", *short, *begun, *titles), ("first", "second") * 5, strict=False))
    draws = {*heads.OUTCOMES[POINTS["="]].split(), "x"}
    found = {}
    for word in words:
        bare = fold(SIDE_WINS.sub(r"\1", word).partition("+")[0])
        won = named.get(bare) or side_of(bare)
        if won in ("first", "second") or bare in draws:
            found[word] = {"first": (1.0, 0.0), "second": (0.0, 1.0)}.get(won or "", (0.5, 0.5))
    return found
