"""A championship calculated from its rules alone, without knowledge of Podium's code."""

from collections import defaultdict

POINTS = (25, 18, 15, 12, 10, 8, 6, 4, 2, 1)
ROUNDS = 12
DROPS = 3
BEST_OF_TEAM = 2
DRIVERS = [(f"Driver {n:02}", "GT3" if n < 9 else "GT4", f"Team {'ABCDEF'[n % 6]}") for n in range(18)]


def season():
    """Return rows of (round, driver, class, team, place or None), in a fixed random order."""
    rows = []
    state = 7
    for number in range(1, ROUNDS + 1):
        drawn = []
        for index, driver in enumerate(DRIVERS):
            state = (state * 1103515245 + 12345) % 2**31
            luck = (state >> 8) % 1000
            if luck >= 60:  # the others miss the round
                drawn.append((luck // 100 + index % 9 + (0 if index < 9 else 20), luck, driver))
        drawn.sort()
        for place, (_, luck, (name, group, team)) in enumerate(drawn, start=1):
            rows.append((number, name, group, team, None if luck % 17 == 0 else place))
    return rows


def place_points(rows):
    """Return {driver: {round: (place, points)}} with places counted among these rows alone."""
    table = defaultdict(dict)
    for number in range(1, ROUNDS + 1):
        here = [row for row in rows if row[0] == number]
        finished = sorted((row for row in here if row[4] is not None), key=lambda row: row[4])
        for place, row in enumerate(finished, start=1):
            table[row[1]][number] = (place, POINTS[place - 1] if place <= len(POINTS) else 0)
        for row in here:
            table[row[1]].setdefault(number, (None, 0))
    return table


def standings(table):
    """Return rows of (entrant, total, points per round, dropped rounds), the champion first."""
    lines = []
    for entrant, results in table.items():
        points = [results.get(number, (None, 0))[1] for number in range(1, ROUNDS + 1)]
        worst = sorted(range(ROUNDS), key=lambda n: (points[n], n))[:DROPS]
        total = sum(points) - sum(points[n] for n in worst)
        places = [place for place, _ in results.values() if place]
        countback = tuple(-places.count(place) for place in range(1, len(DRIVERS) + 1))
        lines.append((-total, countback, entrant, total, points, {n + 1 for n in worst}))
    return [(entrant, total, points, dropped) for _, _, entrant, total, points, dropped in sorted(lines)]


def teams(rows):
    """Return {team: total}: each round's best results of the team, over all rounds."""
    table = place_points(rows)
    totals = defaultdict(int)
    members = {name: team for _, name, _, team, _ in rows}
    for number in range(1, ROUNDS + 1):
        by_team = defaultdict(list)
        for name, results in table.items():
            by_team[members[name]].append(results.get(number, (None, 0))[1])
        for team, points in by_team.items():
            totals[team] += sum(sorted(points, reverse=True)[:BEST_OF_TEAM])
    return dict(totals)
