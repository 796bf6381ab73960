"""Sheets of games: lists, crosstables, Swiss lists and FIDE's file. Each function returns sheets and their truth."""

from typing import NamedTuple

from sheet_author import Event, Truth, heat_of
from workbooks import Merged

RESULTS = (  # win, loss and draw of the first player, then forfeits won and lost
    ("1-0", "0-1", "½-½", "+--", "--+"), ("1-0", "0-1", "1/2-1/2", "1-0F", "0-1F"), ("1:0", "0:1", "½:½", "+:-", "-:+"),
    ("1 - 0", "0 - 1", "½ - ½", "+ - -", "- - +"), ("1\u20130", "0\u20131", "½\u2013½", "+--", "--+"),
    ("1-0", "0-1", "0.5-0.5", "+--", "--+"),
)  # fmt: skip
WIN, LOSS, DRAW, FORFEIT, LOST_FORFEIT = range(5)
UNPLAYED = 5


class Game(NamedTuple):
    """Two sides and the result of the first."""

    one: tuple[str, ...]
    two: tuple[str, ...]
    end: int

    @property
    def heat(self):
        """The result as a heat."""
        return heat_of([(self.one, self.end == LOSS), (self.two, self.end == WIN)])


def round_of(author, sides, *, draws=True):
    """Return the games of a round and the idle side, if any. Some games are not played."""
    order = list(sides)
    author.rng.shuffle(order)
    pairs = list(zip(order[::2], order[1::2], strict=False))
    ends = {WIN: 45, LOSS: 35, DRAW: 20 if draws else 0}
    games = [Game(*pair, author.drawn(ends | {FORFEIT: 3, LOST_FORFEIT: 2})) for pair in pairs]
    return games, order[-1] if len(order) % 2 else None


def sets_of(author, end):
    """Return a score of sets for the first side, with the sheet's separators."""
    colon = author.kept.setdefault("score mark", author.rng.choice((":", ":", "-")))
    form = author.kept.setdefault("score form", author.drawn({"sets": 65, "goals": 35}))
    between = author.kept.setdefault("sets mark", author.rng.choice((" ", " ", ", ")))
    if form == "goals":
        low = author.rng.randint(0, 2)
        high = low if end == DRAW else low + author.rng.randint(1, 3)
        numbers = [(low, high) if end == LOSS else (high, low)]
    else:
        won = [(6, author.rng.randint(0, 4)), author.rng.choice(((7, 5), (7, 6), (6, 3)))]
        lost = [(author.rng.randint(0, 4), 6)] * author.chance(0.3)
        numbers = [won[0], *lost, won[1]]
        numbers = [pair[::-1] for pair in numbers] if end == LOSS else numbers
    return between.join(f"{one}{colon}{two}" for one, two in numbers)


def side_cell(author, side):
    """Return a player, or two with a mark between them."""
    return author.kept.setdefault("pair mark", author.drawn({" / ": 6, "/": 3, " & ": 1})).join(side)


def game_cells(author, style, game):
    """Return the cells of a game, with its result if the sheet has one, and True if it was played."""
    played = game.end in (WIN, LOSS, DRAW) and not author.chance(0.02)
    one, two = side_cell(author, game.one), side_cell(author, game.two)
    if style == "white black":
        forms = RESULTS[int(author.kept.setdefault("results", str(author.rng.randrange(len(RESULTS)))))]
        written = forms[game.end].replace("0.5", f"0{author.decimal}5")
        return [one, two, written if played or game.end > DRAW else None], played
    gone = author.word("walkover") if game.end > DRAW else None
    if style == "home guest":
        return [one, two, sets_of(author, game.end) if played else gone], played
    first, second = (two, one) if game.end in (LOSS, LOST_FORFEIT) else (one, two)
    if not has_score(author):
        return [first, second], game.end in (WIN, LOSS)  # without a score a walkover looks like a win
    return [first, second, gone or sets_of(author, WIN)], game.end in (WIN, LOSS)


def heads_of(author, style, width, *, pairs):
    """Return the headings of the two sides and of the result."""
    named = {"white black": ("white", "black"), "home guest": ("home", "guest"), "winner loser": ("winner", "loser")}
    heads = [author.word(key) for key in named[style]]
    if style == "home guest" and (pairs or author.chance(0.4)):
        of = author.words["team_of" if pairs else "player_of"]
        heads = [f"{of} 1", f"{of} 2"]
    return [*heads, author.word("result")][:width]


def game_rows(author, style, games, idle):
    """Return the rows of a round's games, and the heats of the games that were played."""
    rows, heats = [], []
    for game in games:
        if style == "winner loser" and (game.end == DRAW or (game.end > DRAW and not has_score(author))):
            continue
        cells, played = game_cells(author, style, game)
        rows.append(cells)
        heats += [game.heat] * played
    if idle and style != "winner loser" and author.chance(0.6):
        won = author.rng.choice((None, "1-0", "+")) if style == "white black" else None
        rows.append([side_cell(author, idle), author.word("bye"), won])
    return rows, heats


def has_score(author):
    """Return True if the sheet's list of winners and losers has a score."""
    return author.kept.setdefault("with score", str(author.chance(0.5))) == "True"


def sides_of(author, *, pairs):
    """Return the sides: players, or pairs of players."""
    people = author.people(author.rng.choice((8, 8, 10, 12)) if pairs else author.rng.randint(5, 10))
    if not pairs:
        return [(each,) for each in people]
    author.rng.shuffle(people)
    return [tuple(both) for both in zip(people[::2], people[1::2], strict=True)]


def game_list(style, *, pairs=False):
    """Return a layout with one row per game, of several rounds."""

    def layout(author):
        own = author.rng.choice(("winner loser", "home guest")) if pairs else style
        sides, count = sides_of(author, pairs=pairs), author.rng.randint(2, 5)
        dates, with_round = author.dates(count), author.chance(0.4)
        blocks, events = [], []
        for number, (cell, accepted) in enumerate(dates, start=1):
            games, idle = round_of(
                author, sides, draws=own == "white black" or author.kept.get("score form") == "goals"
            )
            rows, heats = game_rows(author, own, games, idle)
            before = [number] * with_round + [cell] * bool(author.date_form)
            blocks.append([before + row for row in rows])
            known = with_round or author.date_form not in ("", "year")
            events += [Event(accepted, heats)] if known else [Event(accepted, [heat]) for heat in heats]
        if author.date_form not in ("", "year") and author.chance(0.12):
            blocks.reverse()  # the last round first
        width = max(len(row) for block in blocks for row in block)
        heads = [author.word("round")] * with_round
        heads += [author.word("year" if author.date_form == "year" else "date")] * bool(author.date_form)
        heads += heads_of(author, own, width - len(heads), pairs=pairs)
        rows = [heads, *(row for block in blocks for row in block)]
        events = [event for event in events if event.heats]
        return {"Sheet1": author.titled(rows) if author.chance(0.25) else rows}, Truth(events, grouped=False)

    return layout


def game_sheets(author):
    """Return a workbook with one sheet per round, with a title above its games."""
    style = author.rng.choice(("white black", "home guest"))
    sides, count = sides_of(author, pairs=False), author.rng.randint(2, 4)
    dates, dated, titled = author.sure_dates(count), author.chance(0.6), author.chance(0.8)
    heads = heads_of(author, style, 3, pairs=False)
    sheets, events = {}, []
    for number, (cell, accepted) in enumerate(dates, start=1):
        rows, heats = game_rows(author, style, *round_of(author, sides, draws=style == "white black"))
        name = f"{author.word('round')} {number}"
        sheets[name] = author.titled([heads, *rows], name, *[cell] * dated) if titled else [heads, *rows]
        events.append(Event(accepted if titled and dated else [None], heats))
    return sheets, Truth([event for event in events if event.heats], grouped=False)


def crosstable(by):
    """Return a layout with one row and one column per player, and the row's result in each cell."""

    def layout(author):
        people = author.people(author.rng.randint(4, 8))
        ((cell, accepted),) = author.sure_dates(1)
        scored = author.chance(0.25)  # sets such as 3:1 instead of points
        half = author.kept.setdefault("half", author.rng.choice(("½", "½", "point", "1/2")))
        empty = author.rng.choice(("x", "X", "***", "#", None))
        one_half = author.chance(0.12)  # the cells below the diagonal are empty
        table, heats = {}, []
        totals = dict.fromkeys(people, 0.0)
        for j, one in enumerate(people):
            for two in people[j + 1 :]:
                end = author.drawn({WIN: 45, LOSS: 35, DRAW: 0 if scored else 20, FORFEIT: 2, UNPLAYED: 4})
                cells = crosstable_cells(author, end, author.number(0.5) if half == "point" else half, scored=scored)
                table[one, two], table[two, one] = cells[0], None if one_half else cells[1]
                heats += [Game((one,), (two,), end).heat] * (end <= DRAW)
                totals[one] += {WIN: 1, FORFEIT: 1, DRAW: 0.5}.get(end, 0)
                totals[two] += {LOSS: 1, DRAW: 0.5}.get(end, 0)
        if not one_half and not scored and author.chance(0.08):
            won = [pair for pair, cell in table.items() if cell == 1]
            if won:
                one, two = author.rng.choice(won)
                table[two, one] = 1
                author.ask = "two winners of one game"
        numbered, with_points = by == "number", author.chance(0.7)
        heads = [author.word("number")] * numbered + [author.word("entrant")]
        heads += [k if author.is_book else str(k) for k in range(1, len(people) + 1)] if numbered else people
        heads += [author.word("points")] * with_points
        rows = [
            [k] * numbered
            + [one]
            + [empty if one == two else table[one, two] for two in people]
            + [author.number(totals[one])] * with_points
            for k, one in enumerate(people, start=1)
        ]
        dated = author.chance(0.4)
        titled = dated or author.chance(0.2)
        rows = author.titled([heads, *rows], *[cell] * dated) if titled else [heads, *rows]
        return {"Sheet1": rows}, Truth([Event(accepted if dated else [None], heats)])

    return layout


def crosstable_cells(author, end, half, *, scored):
    """Return the cell of the row's player, and the cell of the opponent."""
    if end == UNPLAYED:
        return None, None
    if end == FORFEIT:
        return "+", "-"
    if scored:
        lost = author.rng.randint(0, 2)
        return (f"3:{lost}", f"{lost}:3") if end == WIN else (f"{lost}:3", f"3:{lost}")
    return {WIN: (1, 0), LOSS: (0, 1), DRAW: (half, half)}[end]


def swiss_rounds(author, count, rounds):
    """Return each player's opponents, colors and results by number, and the games that were played in each round."""
    cells, events = {number: [] for number in range(1, count + 1)}, []
    for _ in range(rounds):
        games, idle = round_of(author, [(number,) for number in cells])
        for (white,), (black,), end in games:
            cells[white].append((black, 0, end))
            mirrored = {WIN: LOSS, LOSS: WIN, FORFEIT: LOST_FORFEIT, LOST_FORFEIT: FORFEIT}.get(end, end)
            cells[black].append((white, 1, mirrored))
        if idle:
            cells[idle[0]].append((0, 0, author.drawn({WIN: 70, DRAW: 20, LOSS: 10})))
        events.append([game for game in games if game.end <= DRAW])
    return cells, events


def points_of(cells):
    """Return the points of a player, including byes and forfeits."""
    return sum({WIN: 1, FORFEIT: 1, DRAW: 0.5}.get(end, 0) for _, _, end in cells)


def named_games(games, names):
    """Return games with names instead of numbers."""
    return [Game((names[one],), (names[two],), end).heat for (one,), (two,), end in games]


def swiss(author):
    """Return one row per player and one column per round: opponent, color and result, such as 4w1 or 2b½."""
    people, rounds = author.people(author.rng.randint(5, 11)), author.rng.randint(3, 6)
    cells, events = swiss_rounds(author, len(people), rounds)
    names = dict(enumerate(people, start=1))
    colours = author.rng.choice(("wb", author.words["colours"]))
    half = author.rng.choice(("½", "½", "½", "=", f"0{author.decimal}5"))
    forfeits = author.rng.choice(("numbered", "bare"))
    signs = {WIN: "1", LOSS: "0", DRAW: half, FORFEIT: "+", LOST_FORFEIT: "-"}

    def written(other, colour, end):
        if not other:
            return f"-{signs[end].replace('=', '½')}"
        if end > DRAW and forfeits == "bare":
            return signs[end]
        return f"{other}{colours[colour]}{signs[end]}"

    column = author.drawn({"R{}": 40, "{}": 25, "word": 35})
    column = f"{author.word('round')} {{}}" if column == "word" else column
    heads = [author.word("number"), author.word("entrant")]
    heads += [column.format(number) for number in range(1, rounds + 1)] + [author.word("points")]
    order = sorted(names, key=lambda number: -points_of(cells[number])) if author.chance(0.4) else list(names)
    rows = [
        [number, names[number], *(written(*cell) for cell in cells[number]), author.number(points_of(cells[number]))]
        for number in order
    ]
    if author.chance(0.25):  # the rank comes before the number that opponents refer to
        heads, rows = [author.word("place"), *heads], [[rank, *row] for rank, row in enumerate(rows, start=1)]
    truth = Truth([Event([None], named_games(games, names)) for games in events if games])
    table = [heads, *rows]
    if author.chance(0.15):
        over = [None] * (len(heads) - rounds - 1) + [Merged(author.word("round"), rounds, 1), *[None] * rounds]
        table = [over, *table]
    return {"Sheet1": author.titled(table) if author.chance(0.35) else table}, truth


def trf(author):
    """Return FIDE's tournament report file with fixed columns."""
    people, rounds = author.people(author.rng.randint(5, 11)), author.rng.randint(3, 6)
    cells, events = swiss_rounds(author, len(people), rounds)
    names = dict(enumerate(people, start=1))
    day = author.days(rounds)
    lines = [f"012 {author.word('title')}", f"042 {day[0]:%Y/%m/%d}", f"052 {day[-1]:%Y/%m/%d}", f"062 {len(people)}"]
    dated = author.chance(0.5)
    lines += ["132" + " " * 88 + "".join(f"{each:%y/%m/%d}  " for each in day)] if dated else []
    ranks = {n: k for k, n in enumerate(sorted(names, key=lambda each: -points_of(cells[each])), start=1)}
    signs, byes = {WIN: "1", LOSS: "0", DRAW: "=", FORFEIT: "+", LOST_FORFEIT: "-"}, {WIN: "U", DRAW: "H", LOSS: "Z"}
    for number, name in names.items():
        line = f"001 {number:4} m    {name:<33} {1500 + 10 * number:4} FIN {20000000 + number:11} {'':10} "
        line += f"{points_of(cells[number]):4.1f} {ranks[number]:4}"
        for other, colour, end in cells[number]:
            line += f"  {other:4} {'wb'[colour]} {signs[end]}" if other else f"  0000 - {byes[end]}"
        lines.append(line)
    accepted = [[str(each)] for each in day] if dated else [[None, str(day[0])]] * rounds
    truth = Truth([Event(a, named_games(games, names)) for a, games in zip(accepted, events, strict=True) if games])
    return lines, truth
