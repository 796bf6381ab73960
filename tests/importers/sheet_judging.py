"""Read a sheet as `podium rate FILE` does, without options, and compare the result with its truth."""

import unicodedata
from collections import Counter
from itertools import groupby

from sheet_author import OUT, heat_of

import podium
from podium.errors import PodiumError

RIGHT, RIGHTLY_REFUSED, REFUSED, WRONG, CRASHED = "right", "rightly refused", "refused", "wrong in silence", "crashed"
OUTCOMES = (RIGHT, RIGHTLY_REFUSED, REFUSED, WRONG, CRASHED)


def judge(path, truth):
    """Return the outcome of reading a sheet, and the reason."""
    try:
        frame = podium.read_results(str(path), lenient=True).frame
    except PodiumError as error:
        return RIGHTLY_REFUSED if truth.ask else REFUSED, str(error)
    except Exception as error:  # noqa: BLE001  (a reader that crashes is what this counts)
        return CRASHED, repr(error)
    if truth.ask:
        return WRONG, f"nobody can know: {truth.ask}"
    difference = first_difference(events_of(frame), truth)
    return (WRONG, difference) if difference else (RIGHT, "")


def events_of(frame):
    """Return the time and the heats of each event of a results table, in the order of rating."""
    rows = list(frame.with_row_index("row").iter_rows(named=True))
    events = {}
    for row in rows:
        events.setdefault(row["event_id"], []).append(row)
    first = sorted(events.values(), key=lambda own: (
        (own[0].get("started_at") is not None, own[0].get("started_at") or 0),
        own[0].get("sequence") or 0, own[0]["row"],
    ))  # fmt: skip
    found = []
    for own in first:
        ordered = sorted(own, key=heat_order)
        heats = [heat_of_rows(list(each)) for _, each in groupby(ordered, key=heat_order)]
        heats = [heat for heat in heats if len(heat) > 1]
        if heats:
            found.append((own[0].get("started_at"), heats))
    return found


def heat_order(row):
    """Return a heat's sort key, so that 2 comes before 10."""
    name = row.get("heat") or ""
    return len(name), name


def heat_of_rows(rows):
    """Return the sides of a heat and their ranks. Team mates with one result are a side."""
    rows = [row for row in rows if row["status"] not in ("disqualified", "did_not_start")]
    rows = [row for row in rows if row.get("ranked") is not False]
    finishers = [row for row in rows if row["status"] == "finished"]
    deciding = (("team_score", -1), ("position", 1), ("score", -1), ("time_s", 1))
    by, sign = next((pair for pair in deciding if all(row.get(pair[0]) is not None for row in finishers)), ("row", 1))
    keys = [OUT if row["status"] != "finished" else sign * row[by] for row in rows]
    teams = {}
    for row, key in zip(rows, keys, strict=True):
        if row.get("team"):
            teams.setdefault(row["team"], set()).add(key)
    together = bool(teams) and all(len(each) == 1 for each in teams.values())
    sides = {}
    for row, key in zip(rows, keys, strict=True):
        side = row["team"] if together and row.get("team") else ("alone", row["player"])
        sides.setdefault(side, ([], key))[0].append(row["player"])
    return heat_of(list(sides.values()))


def plain(heat):
    """Return a heat without the order of its sides."""
    return frozenset(
        (frozenset(unicodedata.normalize("NFC", " ".join(name.split())) for name in names), rank)
        for names, rank in heat
        if len(heat) > 1
    )


def first_difference(found, truth):
    """Return the first difference between a table and the truth, or nothing."""
    if truth.grouped and len(found) != len(truth.events):
        return f"{len(found)} events instead of {len(truth.events)}"
    heats = [(moment, plain(heat), number) for number, (moment, each) in enumerate(found) for heat in each]
    last = None
    for number, event in enumerate(truth.events, start=1):
        chunk, heats = heats[: len(event.heats)], heats[len(event.heats) :]
        wanted = Counter(plain(heat) for heat in event.heats)
        if Counter(heat for _, heat, _ in chunk) != wanted:
            return f"event {number}: other results"
        own = {each for _, _, each in chunk}
        if last in own or (truth.grouped and len(own) > 1):
            return f"event {number}: other heats"
        last = max(own)
        strange = next((moment for moment, _, _ in chunk if not fits(moment, event.dates)), "none")
        if strange != "none":
            return f"event {number}: {strange} is none of {event.dates}"
    return f"{len(heats)} heats too many" if heats else ""


def fits(moment, dates):
    """Return True if a time is one of those that the sheet may mean."""
    written = None if moment is None else moment.isoformat()
    return any(written is None if each is None else (written or "").startswith(each) for each in dates)


def tally(judged):
    """Return the outcomes by layout, as a table of text.

    `judged` has a layout and an outcome for each sheet.
    """
    counts = Counter(judged)
    layouts = list(dict.fromkeys(layout for layout, _ in judged))
    lines = [f"{'layout':<22}{'sheets':>8}" + "".join(f"{each:>18}" for each in OUTCOMES)]
    for layout in [*layouts, "all"]:
        own = [counts[layout, each] if layout != "all" else sum(counts[name, each] for name in layouts)
               for each in OUTCOMES]  # fmt: skip
        lines.append(f"{layout:<22}{sum(own):>8}" + "".join(f"{each:>18}" for each in own))
    return "\n".join(lines)
