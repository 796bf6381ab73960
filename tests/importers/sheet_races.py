"""Sheets of races: rows of entrants, columns or sheets of rounds. Each function returns sheets and their truth."""

from typing import NamedTuple

from sheet_author import OUT, TRACKS, Event, Truth, heat_of
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


def race(author, people, scheme):
    """Return one race among some of the players, in order of finish."""
    present = [each for each in people if author.chance(0.9)]
    present = present if len(present) > 2 else list(people)
    author.rng.shuffle(present)
    words = [author.drawn({"": 86, "DNF": 8, "DNS": 4, "DSQ": 2}) if count > 1 else "" for count in range(len(present))]
    finishers = [each for each, word in zip(present, words, strict=True) if not word]
    first = round(author.rng.uniform(61, 1500), 3)
    entries, place, gap = [], 0, 0.0
    for count, name in enumerate(finishers, start=1):
        tied = count > 1 and author.chance(0.03)
        place = place if tied else count
        gap = gap if tied else round(gap + author.rng.uniform(0.2, 9) * (count > 1), 3)
        points = scheme[place - 1] if place <= len(scheme) else 0
        entries.append(Entry(name, place, "", round(first + gap, 3), gap, points))
    return entries + [Entry(n, None, w, 0, 0, 0) for n, w in zip(present, words, strict=True) if w]


def heat_by(entries, key):
    """Return the heat of a race by a value of its entries, without non-starters and disqualified entrants."""
    return heat_of([((e.name,), OUT if e.word else key(e)) for e in entries if e.word not in LEFT_OUT])


def score(entry):
    """Return an entrant's score. More is better."""
    return round(2500 - entry.gap_s * 25)


def place_cell(author, place):
    """Return a place in the sheet's form."""
    forms = {"bare": 6, "dot": 2, "ordinal": 2 if author.language == "en" else 0}
    form = author.kept.setdefault("place form", author.drawn(forms))
    ordinal = {1: "1st", 2: "2nd", 3: "3rd"}.get(place, f"{place}th")
    return {"bare": place, "dot": f"{place}.", "ordinal": ordinal}[form]


def time_cell(author, seconds):
    """Return a time in minutes and seconds."""
    return f"{int(seconds // 60)}:{seconds % 60:06.3f}".replace(".", author.decimal)


def table_of_race(author, entries, decided):
    """Return the headings and rows of a race, with the deciding column and some others, and its heat."""
    local = author.kept.setdefault("out word", author.word("out") if author.chance(0.15) else "DNF")
    lap = LAPS.get(author.language, "lap")
    extra = {name: author.kept.setdefault(f"with {name}", str(author.chance(0.35))) == "True" for name in
             ("number", "club", "time", "points")}  # fmt: skip
    gaps = author.kept.setdefault("with gaps", str(author.chance(0.4))) == "True"
    columns = {"place": [], "number": [], "player": [], "club": [], "time": [], "points": [], "score": []}
    thousands = author.kept.setdefault("thousands", "1" if author.kind == "csv" and author.chance(0.5) else "") != ""
    for count, each in enumerate(entries):
        word = local if each.word == "DNF" else each.word
        lapped = extra["time"] and gaps and count > 2 and each.gap_s > 25
        gap = f"+1 {lap}" if lapped else f"+{each.gap_s:.3f}".replace(".", author.decimal)
        whole = time_cell(author, each.time_s)
        columns["place"].append(word or place_cell(author, each.place))
        columns["number"].append(1 + sum(map(ord, each.name)) % 89)
        columns["player"].append(each.name + " " * (author.chance(0.01)))
        columns["club"].append(
            author.kept.setdefault(f"club of {each.name}", author.rng.choice(("MSC Nord", "AC Süd")))
        )
        gapped = decided == "place" and gaps and count and each.gap_s
        columns["time"].append((word if decided == "time" else None) if word else gap if gapped else whole)
        columns["points"].append(author.number(each.points))
        parted = f"{score(each):,}".replace(",", "," if author.language == "en" else ".")
        columns["score"].append(word or (parted if thousands else score(each)))
    keep = {"place": decided == "place", "player": True, "score": decided == "score"}
    keep |= extra | {"time": decided == "time" or (decided == "place" and extra["time"])}
    shown = [name for name in columns if keep[name]]
    heads = ["Score" if name == "score" else author.word(name) for name in shown]
    keys = {"place": lambda e: e.place, "time": lambda e: e.time_s, "score": lambda e: -score(e)}
    if decided == "score" and thousands:
        author.ask = author.ask or "a mark that parts thousands, or decimals"
    rows = [list(row) for row in zip(*(columns[name] for name in shown), strict=True)]
    return heads, rows, heat_by(entries, keys[decided])


def race_table(author):
    """Return one row per entrant of all races, one race below the other. Repeated cells may be merged."""
    people, count = author.people(author.rng.randint(4, 9)), author.rng.randint(2, 5)
    decided = author.drawn({"place": 65, "time": 20, "score": 15})
    names, dates = author.event_names(count), author.dates(count)
    merged = author.chance(0.2 if author.is_book else 0.08)
    blocks, events = [], []
    for name, (cell, accepted) in zip(names, dates, strict=True):
        heads, rows, heat = table_of_race(author, race(author, people, SCHEMES[0]), decided)
        own = [name] if not author.date_form else [name, cell]
        down = [Merged(each, 1, len(rows)) if author.is_book else each for each in own]
        blocks.append([[*(own if not merged else down if k == 0 else [None] * len(own)), *row]
                       for k, row in enumerate(rows)])  # fmt: skip
        events.append(Event(accepted, [heat]))
    if merged and not author.is_book:
        author.ask = "blank cells below a name, in a file that knows no merged cells"
    elif not merged and author.chance(0.06):
        author.rng.choice(blocks)[-1][0] = None
        author.ask = "an entrant of no event"
    if author.date_form and author.date_form != "year" and author.chance(0.12):
        blocks.reverse()  # the last race first
    date_head = [author.word("year" if author.date_form == "year" else "date")] * bool(author.date_form)
    rows = [[author.word("event"), *date_head, *heads], *(row for block in blocks for row in block)]
    rows = author.titled(rows) if author.chance(0.2) else rows
    return {"Sheet1": rows}, Truth(events)


def round_columns(author):
    """Return one row per driver and one column per round, with places or points. The header may have two lines."""
    people, count = author.people(author.rng.randint(5, 10)), author.rng.randint(3, 6)
    scheme, by_points = author.rng.choice(SCHEMES), author.chance(0.45)
    head = author.drawn({"letter": 25, "word": 20, "track": 25, "dated": 15, "pairs": 15})
    names = {"letter": [f"R{k}" for k in range(1, count + 1)],
             "word": [f"{author.word('round')} {k}" for k in range(1, count + 1)]}.get(
                 head, author.rng.sample(TRACKS, count))  # fmt: skip
    races = [race(author, people, scheme) for _ in range(count)]
    dates = author.sure_dates(count) if head == "dated" else [(None, [None])] * count
    absent = author.rng.choice((None, None, "-"))
    totals = {name: sum(e.points for entries in races for e in entries if e.name == name) for name in people}
    ordered = sorted(people, key=lambda name: -totals[name]) if author.chance(0.7) else people
    with_number, with_total = author.chance(0.3), by_points or author.chance(0.4)
    rows = []
    for name in ordered:
        row = [1 + sum(map(ord, name)) % 89] * with_number + [name]
        for entries in races:
            own = next((e for e in entries if e.name == name), None)
            place = absent if own is None else own.word or own.place
            points = absent if own is None else own.word or author.number(own.points)
            row += [place, points] if head == "pairs" else [points if by_points else place]
        rows.append(row + [author.number(totals[name])] * with_total)
    left, right = [author.word("number")] * with_number + [author.word("player")], [author.word("total")] * with_total
    if head == "pairs":
        over = [cell for name in names for cell in (Merged(name, 2, 1), None)]
        rows = [[None] * len(left) + over + [None] * len(right),
                left + [author.word("place"), author.word("points")] * count + right, *rows]  # fmt: skip
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
    return {"Sheet1": author.titled(rows) if author.chance(0.25) else rows}, Truth(events)


def race_sheets(author):
    """Return a workbook with one titled sheet per race, and sometimes a last sheet with standings."""
    people, count = author.people(author.rng.randint(4, 9)), author.rng.randint(2, 4)
    names, dates = author.event_names(count), author.sure_dates(count)
    decided = author.drawn({"place": 80, "time": 20})
    titled, dated = author.chance(0.8), author.chance(0.6)
    sheets, events = {}, []
    for name, (cell, accepted) in zip(names, dates, strict=True):
        heads, rows, heat = table_of_race(author, race(author, people, SCHEMES[0]), decided)
        facts = [name, *[cell] * dated]
        sheets[name] = author.titled([heads, *rows], *facts) if titled else [heads, *rows]
        events.append(Event(accepted if titled and dated else [None], [heat]))
    if author.chance(0.12):
        table = [[k, name, 90 - 7 * k] for k, name in enumerate(people, start=1)]
        sheets[author.words["standings"]] = [
            [author.word("place"), author.word("player"), author.word("points")],
            *table,
        ]
    return sheets, Truth(events)


def one_race(author):
    """Return one race below a title with its name."""
    people, (name,) = author.people(author.rng.randint(5, 10)), author.event_names(1)
    ((cell, accepted),) = author.sure_dates(1)
    heads, rows, heat = table_of_race(author, race(author, people, SCHEMES[0]), author.drawn({"place": 75, "time": 25}))
    dated = author.chance(0.7)
    rows = author.titled([heads, *rows], name, *[cell] * dated)
    return {"Sheet1": rows}, Truth([Event(accepted if dated else [None], [heat])])
