"""A history of all kinds of events, and its explanations: `python tests/sentences.py` updates the golden file."""

import functools
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import podium
from podium.cli.terminal.show import what_if_text
from podium.systems import find, names

GOLDEN = Path(__file__).parent / "ledger" / "sentences.golden.txt"
NAMES = "Ana Ben Cleo Dev Ela Finn Gus Hana Ivo Jun Kofi Lea Mo Nia Otto Pia Quinn Rosa Sami Tara Uwe Vera Wim Xia"
PLAYERS = NAMES.split()
START = datetime(2024, 1, 1, tzinfo=UTC)
GAME_S = 300.0
STARTING_RATED = {"dwz": "dwz:first_ratings=false"}  # otherwise there would be no comparisons


@functools.cache
def history(seed=7, events=64):
    """Return results of several kinds of events in turn: duels, fields with quits and ties, heats, and teams."""
    rng = random.Random(seed)  # noqa: S311  (a game's dice)
    skill = {name: 1.5 * rng.gauss(0.0, 1.0) for name in PLAYERS}
    kinds = (duel, field, teams, heats, large_field, pairs, many_heats, named_heats)
    rows = []
    for number in range(events):
        shared = {"event_id": f"e{number:02}", "started_at": (START + timedelta(days=3 * number)).isoformat()}
        rows += [shared | row for row in kinds[number % len(kinds)](rng, skill)]
    return podium.read_results(rows)


def duel(rng, skill):
    order = by_performance(rng, skill, rng.sample(PLAYERS, 2))
    drawn = rng.random() < 0.3
    return [line(name, place, score=3.0 - (0 if drawn else place), tied=drawn) for place, name in enumerate(order, 1)]


def field(rng, skill, size=6, heat=None):
    order = by_performance(rng, skill, rng.sample(PLAYERS, size))
    left = rng.choice((0, 0, 1, 2))
    tie = rng.choice((None, None, 1, 2, 3))
    rows = [line(name, place - (place - 1 == tie), heat) for place, name in enumerate(order[: size - left], 1)]
    return rows + [gone(name, rng.choice(("quit", "dnf")), heat) for name in order[size - left :]]


def large_field(rng, skill):
    rows = field(rng, skill, 22)
    rows[-1] |= {"status": rng.choice(("disqualified", "did_not_start"))}
    return rows


def heats(rng, skill, numbers=("1", "2", "3")):
    riders = rng.sample(PLAYERS, 5)
    return [row for heat in numbers for row in heat_of(rng, skill, riders, heat)]


def many_heats(rng, skill):
    return heats(rng, skill, tuple(map(str, range(1, 11))))


def named_heats(rng, skill):
    return heats(rng, skill, ("qualifying", "final"))


def heat_of(rng, skill, riders, heat):
    order = by_performance(rng, skill, riders)
    left = rng.random() < 0.3
    rows = [line(name, place, heat) for place, name in enumerate(order[: len(order) - left], 1)]
    return rows + [gone(name, "quit", heat) for name in order[len(order) - left :]]


def teams(rng, skill):
    members = rng.sample(PLAYERS, 6)
    goals = sorted((rng.randrange(5), rng.randrange(5)), reverse=True)
    scores = dict(zip(by_team(rng, skill, members[:3], members[3:]), goals, strict=True))
    return [
        line(name, None, team=team, team_score=float(scores[team]), score=float(rng.randrange(9)))
        | {"time_s": 60.0 + rng.randrange(40) / 4.0}
        for team, side in (("Red", members[:3]), ("Blue", members[3:]))
        for name in side
    ]


def pairs(rng, skill):
    members = rng.sample(PLAYERS, 6)
    return [line(name, 1 + k // 2, team=f"pair {1 + k // 2}", tied=True) for k, name in enumerate(members)]


def by_team(rng, skill, red, blue):
    lead = sum(skill[name] for name in red) - sum(skill[name] for name in blue) + rng.gauss(0.0, 2.0)
    return ("Red", "Blue") if lead > 0.0 else ("Blue", "Red")


def by_performance(rng, skill, players):
    return sorted(players, key=lambda name: skill[name] + rng.gauss(0.0, 1.0), reverse=True)


def line(name, place, heat=None, *, tied=False, score=None, **more):
    time_s = 60.0 if place is None else 60.0 + 1.25 * place
    numbers = {"time_s": time_s, "score": score if score is not None else 30.0 - place}
    position = {} if place is None or (tied and "team" not in more) else {"position": place}
    return {"player": name, "heat": heat, "played_s": GAME_S, "duration_s": GAME_S} | numbers | position | more


def gone(name, status, heat):
    return {"player": name, "heat": heat, "status": status, "played_s": 100.0, "duration_s": GAME_S}


def sentences(system, most=100, explained=None):
    """Return the words for a hundred changes of the history, or for the first few. Every tenth has all its words.

    `explained` is a list to which the explanations are added.
    """
    results = history()
    if find(system).refuses_teams:
        results = podium.read_results(results.frame.drop("team", "team_score", strict=False))
    rated = podium.rate(results, STARTING_RATED.get(system, system))
    changes = rated.history.select("event_id", "player").rows()
    rng = random.Random(system)  # noqa: S311  (a sample)
    for k, (event_id, player) in enumerate(rng.sample(changes, 100)[:most]):
        why = rated.explain(event_id, player)
        if explained is not None:
            explained.append(why)
        yield f"{event_id} {why.summary}"
        yield "    " + " ".join(filter(None, (why.duels.headline, why.duels.not_compared)))
        if k % 10 == 0:
            yield from (f"    {sentence}" for sentence in (why.duels.meaning, why.ranked_by) if sentence)
            yield from (f"    {line}" for line in what_if_text(rated.what_if(event_id, player)).splitlines() if line)


if __name__ == "__main__":
    GOLDEN.write_text("".join("\n".join([f"== {name}", *sentences(name)]) + "\n" for name in names()), encoding="utf-8")
