"""Sheets of races: rows of entrants, columns or sheets of rounds. Each function returns sheets and their truth."""

from typing import NamedTuple

from sheet_hand import OUT, TRACKS, Event, Truth, heat_of
from workbooks import Merged

SCHEMES = ((25, 18, 15, 12, 10, 8, 6, 4, 2, 1), (10, 8, 6, 5, 4, 3, 2, 1), (12.5, 9, 7.5, 6, 5, 4, 3, 2, 1, 0.5))
LEFT_OUT = ("DNS", "DSQ")
LAPS = {"en": "lap", "de": "Rd.", "fr": "tour"}


class Entry(NamedTuple):
    """The result of an entrant: a place, or a word for why there is none."""

    name: str
    place: int | None
    word: str
    time_s: float
    gap_s: float  # seconds behind the first
    points: float


def race(hand, people, scheme):
    """Return one race among some of the players, in order of finish."""
    present = [each for each in people if hand.chance(0.9)]
    present = present if len(present) > 2 else list(people)
    hand.rng.shuffle(present)
    words = [hand.drawn({"": 86, "DNF": 8, "DNS": 4, "DSQ": 2}) if count > 1 else "" for count in range(len(present))]
    finishers = [each for each, word in zip(present, words, strict=True) if not word]
    first = round(hand.rng.uniform(61, 1500), 3)
    entries, place, gap = [], 0, 0.0
    for count, name in enumerate(finishers, start=1):
        tied = count > 1 and hand.chance(0.03)
        place = place if tied else count
        gap = gap if tied else round(gap + hand.rng.uniform(0.2, 9) * (count > 1), 3)
        points = scheme[place - 1] if place <= len(scheme) else 0
        entries.append(Entry(name, place, "", round(first + gap, 3), gap, points))
    return entries + [Entry(n, None, w, 0, 0, 0) for n, w in zip(present, words, strict=True) if w]


def heat_by(entries, key):
    """Return the heat of a race by a value of its entries, without non-starters and disqualified entrants."""
    return heat_of([((e.name,), OUT if e.word else key(e)) for e in entries if e.word not in LEFT_OUT])


def score(entry):
    """Return an entrant's score. More is better."""
    return round(2500 - entry.gap_s * 25)


def place_cell(hand, place):
    """Return a place in the sheet's form."""
    forms = {"bare": 6, "dot": 2, "ordinal": 2 if hand.language == "en" else 0}
    form = hand.kept.setdefault("place form", hand.drawn(forms))
    ordinal = {1: "1st", 2: "2nd", 3: "3rd"}.get(place, f"{place}th")
    return {"bare": place, "dot": f"{place}.", "ordinal": ordinal}[form]


def time_cell(hand, seconds):
    """Return a time in minutes and seconds."""
    return f"{int(seconds // 60)}:{seconds % 60:06.3f}".replace(".", hand.decimal)


def table_of_race(hand, entries, decided):
    """Return the headings and rows of a race, with the deciding column and some others, and its heat."""
    local = hand.kept.setdefault("out word", hand.word("out") if hand.chance(0.15) else "DNF")
    lap = LAPS.get(hand.language, "lap")
    extra = {name: hand.kept.setdefault(f"with {name}", str(hand.chance(0.35))) == "True" for name in
             ("number", "club", "time", "points")}  # fmt: skip
    gaps = hand.kept.setdefault("with gaps", str(hand.chance(0.4))) == "True"
    columns = {"place": [], "number": [], "player": [], "club": [], "time": [], "points": [], "score": []}
    thousands = hand.kept.setdefault("thousands", "1" if hand.kind == "csv" and hand.chance(0.5) else "") != ""
    for count, each in enumerate(entries):
        word = local if each.word == "DNF" else each.word
        lapped = extra["time"] and gaps and count > 2 and each.gap_s > 25
        gap = f"+1 {lap}" if lapped else f"+{each.gap_s:.3f}".replace(".", hand.decimal)
        whole = time_cell(hand, each.time_s)
        columns["place"].append(word or place_cell(hand, each.place))
        columns["number"].append(1 + sum(map(ord, each.name)) % 89)
        columns["player"].append(each.name + " " * (hand.chance(0.01)))
        columns["club"].append(hand.kept.setdefault(f"club of {each.name}", hand.rng.choice(("MSC Nord", "AC Süd"))))
        gapped = decided == "place" and gaps and count and each.gap_s
        columns["time"].append((word if decided == "time" else None) if word else gap if gapped else whole)
        columns["points"].append(hand.number(each.points))
        parted = f"{score(each):,}".replace(",", "," if hand.language == "en" else ".")
        columns["score"].append(word or (parted if thousands else score(each)))
    keep = {"place": decided == "place", "player": True, "score": decided == "score"}
    keep |= extra | {"time": decided == "time" or (decided == "place" and extra["time"])}
    shown = [name for name in columns if keep[name]]
    heads = ["Score" if name == "score" else hand.word(name) for name in shown]
    keys = {"place": lambda e: e.place, "time": lambda e: e.time_s, "score": lambda e: -score(e)}
    if decided == "score" and thousands:
        hand.ask = hand.ask or "a mark that parts thousands, or decimals"
    rows = [list(row) for row in zip(*(columns[name] for name in shown), strict=True)]
    return heads, rows, heat_by(entries, keys[decided])


def race_table(hand):
    """Return one row per entrant of all races, one race below the other. Repeated cells may be merged."""
    people, count = hand.people(hand.rng.randint(4, 9)), hand.rng.randint(2, 5)
    decided = hand.drawn({"place": 65, "time": 20, "score": 15})
    names, dates = hand.event_names(count), hand.dates(count)
    merged = hand.chance(0.2 if hand.is_book else 0.08)
    blocks, events = [], []
    for name, (cell, accepted) in zip(names, dates, strict=True):
        heads, rows, heat = table_of_race(hand, race(hand, people, SCHEMES[0]), decided)
        own = [name] if not hand.date_form else [name, cell]
        down = [Merged(each, 1, len(rows)) if hand.is_book else each for each in own]
        blocks.append([[*(own if not merged else down if k == 0 else [None] * len(own)), *row]
                       for k, row in enumerate(rows)])  # fmt: skip
        events.append(Event(accepted, [heat]))
    if merged and not hand.is_book:
        hand.ask = "blank cells below a name, in a file that knows no merged cells"
    elif not merged and hand.chance(0.06):
        hand.rng.choice(blocks)[-1][0] = None
        hand.ask = "an entrant of no event"
    if hand.date_form and hand.date_form != "year" and hand.chance(0.12):
        blocks.reverse()  # the last race first
    date_head = [hand.word("year" if hand.date_form == "year" else "date")] * bool(hand.date_form)
    rows = [[hand.word("event"), *date_head, *heads], *(row for block in blocks for row in block)]
    rows = hand.titled(rows) if hand.chance(0.2) else rows
    return {"Sheet1": rows}, Truth(events)


def round_columns(hand):
    """Return one row per driver and one column per round, with places or points. The header may have two lines."""
    people, count = hand.people(hand.rng.randint(5, 10)), hand.rng.randint(3, 6)
    scheme, by_points = hand.rng.choice(SCHEMES), hand.chance(0.45)
    head = hand.drawn({"letter": 25, "word": 20, "track": 25, "dated": 15, "pairs": 15})
    names = {"letter": [f"R{k}" for k in range(1, count + 1)],
             "word": [f"{hand.word('round')} {k}" for k in range(1, count + 1)]}.get(
                 head, hand.rng.sample(TRACKS, count))  # fmt: skip
    races = [race(hand, people, scheme) for _ in range(count)]
    dates = hand.sure_dates(count) if head == "dated" else [(None, [None])] * count
    absent = hand.rng.choice((None, None, "-"))
    totals = {name: sum(e.points for entries in races for e in entries if e.name == name) for name in people}
    ordered = sorted(people, key=lambda name: -totals[name]) if hand.chance(0.7) else people
    with_number, with_total = hand.chance(0.3), by_points or hand.chance(0.4)
    rows = []
    for name in ordered:
        row = [1 + sum(map(ord, name)) % 89] * with_number + [name]
        for entries in races:
            own = next((e for e in entries if e.name == name), None)
            place = absent if own is None else own.word or own.place
            points = absent if own is None else own.word or hand.number(own.points)
            row += [place, points] if head == "pairs" else [points if by_points else place]
        rows.append(row + [hand.number(totals[name])] * with_total)
    left, right = [hand.word("number")] * with_number + [hand.word("player")], [hand.word("total")] * with_total
    if head == "pairs":
        over = [cell for name in names for cell in (Merged(name, 2, 1), None)]
        rows = [[None] * len(left) + over + [None] * len(right),
                left + [hand.word("place"), hand.word("points")] * count + right, *rows]  # fmt: skip
    elif head == "dated":
        below = [None] * len(left) + [cell for cell, _ in dates] + [None] * len(right)
        rows = [left + names + right, below, *rows]
    else:
        rows = [left + names + right, *rows]
    points_decide = by_points and head != "pairs"
    events = [
        Event(accepted, [heat_by(entries, (lambda e: -e.points) if points_decide else (lambda e: e.place))])
        for entries, (_, accepted) in zip(races, dates, strict=True)
    ]
    return {"Sheet1": hand.titled(rows) if hand.chance(0.25) else rows}, Truth(events)


def race_sheets(hand):
    """Return a workbook with one titled sheet per race, and sometimes a last sheet with standings."""
    people, count = hand.people(hand.rng.randint(4, 9)), hand.rng.randint(2, 4)
    names, dates = hand.event_names(count), hand.sure_dates(count)
    decided = hand.drawn({"place": 80, "time": 20})
    titled, dated = hand.chance(0.8), hand.chance(0.6)
    sheets, events = {}, []
    for name, (cell, accepted) in zip(names, dates, strict=True):
        heads, rows, heat = table_of_race(hand, race(hand, people, SCHEMES[0]), decided)
        facts = [name, *[cell] * dated]
        sheets[name] = hand.titled([heads, *rows], *facts) if titled else [heads, *rows]
        events.append(Event(accepted if titled and dated else [None], [heat]))
    if hand.chance(0.12):
        table = [[k, name, 90 - 7 * k] for k, name in enumerate(people, start=1)]
        sheets[hand.words["standings"]] = [[hand.word("place"), hand.word("player"), hand.word("points")], *table]
    return sheets, Truth(events)


def one_race(hand):
    """Return one race below a title with its name."""
    people, (name,) = hand.people(hand.rng.randint(5, 10)), hand.event_names(1)
    ((cell, accepted),) = hand.sure_dates(1)
    heads, rows, heat = table_of_race(hand, race(hand, people, SCHEMES[0]), hand.drawn({"place": 75, "time": 25}))
    dated = hand.chance(0.7)
    rows = hand.titled([heads, *rows], name, *[cell] * dated)
    return {"Sheet1": rows}, Truth([Event(accepted if dated else [None], [heat])])
