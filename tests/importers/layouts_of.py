"""The same results in many layouts, for races and for rounds of matches."""

import json
from html import escape

import polars as pl
from workbooks import write_xlsx

NAMES = ["Ana", "Béla", "Cleo", "Dan", "Eva", "Finn", "Gül", "Hana"]


def day(number):
    return f"2026-{3 + number // 28:02d}-{1 + number % 28:02d}"


def joined(rows, mark=","):
    return "\n".join(mark.join(str(cell) for cell in row) for row in rows) + "\n"


def draw_races(random, count):
    """Return orders of finish, a list of names for each race. Some players do not start."""
    return [random.sample(NAMES, random.randint(3, len(NAMES))) for _ in range(count)]


def race_rows(races):
    return [
        {"event_id": f"Race {number}", "started_at": day(number), "player": name, "position": place}
        for number, order in enumerate(races, start=1)
        for place, name in enumerate(order, start=1)
    ]


def long(races, mark=","):
    head = ["event_id", "started_at", "player", "position"]
    return joined([head, *(list(row.values()) for row in race_rows(races))], mark)


def headed(races, mark=",", heads=("Race", "Date", "Driver", "Pos")):
    return joined([heads, *(list(row.values()) for row in race_rows(races))], mark)


def by_race(races):
    """Return one line per player and one column per race."""
    cells = [[order.index(name) + 1 if name in order else "" for order in races] for name in NAMES]
    met = [[name, *row] for name, row in zip(NAMES, cells, strict=True) if any(row)]
    return joined([["Driver", *(f"Race {number}" for number in range(1, len(races) + 1))], *met])


def by_place(races):
    """Return one line per race and one column per place."""
    width = max(map(len, races))
    places = [f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place, 'th') }" for place in range(1, width + 1)]
    lines = [[f"Race {n}", day(n), *order, *[""] * (width - len(order))] for n, order in enumerate(races, start=1)]
    return joined([["Race", "Date", *places], *lines])


def in_blocks(races):
    """Return one block per race, with its name above it."""
    blocks = []
    for number, order in enumerate(races, start=1):
        blocks += [
            f"Race {number}",
            "Pos,Driver",
            *(f"{place},{name}" for place, name in enumerate(order, start=1)),
            "",
        ]
    return "\n".join(blocks)


def as_html(races):
    rows = [["Race", "Date", "Driver", "Pos"], *(list(row.values()) for row in race_rows(races))]
    lines = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<html><body><table>{lines}</table></body></html>"


def as_markdown(races):
    lines = headed(races, " | ").splitlines()
    return "\n".join(f"| {line} |" for line in [lines[0], "--- | --- | --- | ---", *lines[1:]])


def nested(races):
    found = [
        {
            "race": f"Race {n}",
            "date": day(n),
            "results": [{"driver": who, "place": k} for k, who in enumerate(order, 1)],
        }
        for n, order in enumerate(races, start=1)
    ]
    return json.dumps(found)


def sheets(path, races):
    """Write one sheet per race."""
    tables = {
        f"Race {n}": [["Pos", "Driver"], *([place, who] for place, who in enumerate(order, start=1))]
        for n, order in enumerate(races, start=1)
    }
    write_xlsx(path, **tables)


def one_sheet(path, races):
    write_xlsx(path, Results=[["Race", "Date", "Driver", "Pos"], *(list(row.values()) for row in race_rows(races))])


RACE_LAYOUTS = {  # file ending, and the function that returns the text or writes the file
    "long": ("csv", long),
    "long, other heads": ("csv", headed),
    "semicolons": ("csv", lambda races: headed(races, ";", ("Rennen", "Datum", "Fahrer", "Platz"))),
    "tabs": ("tsv", lambda races: headed(races, "\t")),
    "a column per race": ("csv", by_race),
    "a column per place": ("csv", by_place),
    "a block per race": ("csv", in_blocks),
    "a sheet per race": ("xlsx", sheets),
    "a workbook": ("xlsx", one_sheet),
    "a web page": ("html", as_html),
    "Markdown": ("md", as_markdown),
    "JSON": ("json", lambda races: json.dumps(race_rows(races))),
    "JSON lines": ("jsonl", lambda races: "\n".join(map(json.dumps, race_rows(races)))),
    "nested JSON": ("json", nested),
    "Parquet": ("parquet", lambda path, races: pl.DataFrame(race_rows(races)).write_parquet(path)),
}


def draw_rounds(random, count, *, draws=True):
    """Return rounds in which everybody plays once, as pairs with 1, 0 or a half for the first player."""
    rounds = []
    for _ in range(count):
        order = random.sample(NAMES, len(NAMES))
        rounds.append(
            [(*order[k : k + 2], random.choice([1, 0, 0.5] if draws else [1, 0])) for k in range(0, len(order), 2)]
        )
    return rounds


def match_rows(rounds):
    return [
        {"event_id": f"{n}-{board}", "started_at": day(n), "player": who, "score": points}
        for n, games in enumerate(rounds, start=1)
        for board, (one, other, result) in enumerate(games, start=1)
        for who, points in ((one, result), (other, 1 - result))
    ]


def flat(rounds):
    return [(day(n), one, other, result) for n, games in enumerate(rounds, start=1) for one, other, result in games]


WORDS = {1: "1-0", 0: "0-1", 0.5: "1/2-1/2"}
GOALS = {1: (3, 1), 0: (0, 2), 0.5: (1, 1)}


def home_and_away(rounds):
    lines = [[when, one, other, *GOALS[result]] for when, one, other, result in flat(rounds)]
    return joined([["Date", "HomeTeam", "AwayTeam", "FTHG", "FTAG"], *lines])


def with_results(rounds):
    lines = [[when, one, other, WORDS[result]] for when, one, other, result in flat(rounds)]
    return joined([["Date", "White", "Black", "Result"], *lines])


def pairs_of_scores(rounds):
    lines = [[when, one, other, "{}:{}".format(*GOALS[result])] for when, one, other, result in flat(rounds)]
    return joined([["Date", "Player 1", "Player 2", "Score"], *lines])


def winners(rounds):
    lines = [[when, *((one, other) if result else (other, one))] for when, one, other, result in flat(rounds)]
    return joined([["Date", "Winner", "Loser"], *lines])


def pgn(rounds):
    games = [
        f'[Event "Club"]\n[Date "{when.replace("-", ".")}"]\n[White "{one}"]\n[Black "{other}"]\n'
        f'[Result "{WORDS[result]}"]\n\n1. e4 e5 {WORDS[result]}\n'
        for when, one, other, result in flat(rounds)
    ]
    return "\n".join(games)


def cells_of_players(rounds):
    """Return one cell per player and round: the opponent's number, the color and the points."""
    seats = {name: number for number, name in enumerate(NAMES, start=1)}
    cells = {name: [] for name in NAMES}
    for games in rounds:
        for one, other, result in games:
            cells[one].append((seats[other], "w", result))
            cells[other].append((seats[one], "b", 1 - result))
    return cells


def swiss(rounds):
    marks = {1: "1", 0: "0", 0.5: "½"}
    lines = [
        [number, name, *(f"{seat}{colour}{marks[points]}" for seat, colour, points in cells)]
        for number, (name, cells) in enumerate(cells_of_players(rounds).items(), start=1)
    ]
    return joined([["No", "Name", *(f"R{n}" for n in range(1, len(rounds) + 1))], *lines])


def trf(rounds):
    marks = {1: "1", 0: "0", 0.5: "="}
    lines = ["012 Club"]
    for number, (name, cells) in enumerate(cells_of_players(rounds).items(), start=1):
        total = sum(points for _, _, points in cells)
        head = (
            f"001 {number:4d} {'':1s}{'':3s} {name:<33s} {2000:4d} {'':3s} {'':11s} {'':10s} {total:4.1f} {number:4d}"
        )
        lines.append(head + "".join(f"  {seat:4d} {colour} {marks[points]}" for seat, colour, points in cells))
    return "\n".join(lines) + "\n"


WITHOUT_DRAWS = {"winner and loser"}
MATCH_LAYOUTS = {
    "home and away": ("csv", home_and_away),
    "results of pairs": ("csv", with_results),
    "scores of pairs": ("csv", pairs_of_scores),
    "winner and loser": ("csv", winners),
    "PGN": ("pgn", pgn),
    "a Swiss list": ("csv", swiss),
    "TRF": ("trf", trf),
}


def crosstable(games):
    """Return a crosstable of games of all against all, in which a cell is the score of the row's player."""
    marks = {1: "1", 0: "0", 0.5: "½"}
    table = {(a, b): result for a, b, result in games} | {(b, a): 1 - result for a, b, result in games}
    lines = [[a, *("x" if a == b else marks[table[a, b]] for b in NAMES)] for a in NAMES]
    return joined([["Name", *NAMES], *lines])
