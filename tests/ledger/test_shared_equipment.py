"""The effect of a result on shared equipment is divided among its users' explanations, which add up to it."""

import random
import re

import pytest

import podium
from podium.pages.numbers import MINUS
from podium.systems import make_system

CARS = dict(zip("abcdefgh", "rrrssstt", strict=True))


def races(events=12, seed=4):
    """Return races of six with shared cars, in which anyone may have either tyres and the last does not finish."""
    rng = random.Random(seed)  # noqa: S311
    return [
        {"event_id": f"e{number}", "started_at": f"2025-01-{number + 1:02}", "player": player, "position": place}
        | {"status": "finished" if place < 6 else "dnf", "shared:car": CARS[player]}
        | {"shared:tyres": rng.choice(["soft", "hard"])}
        for number in range(events)
        for place, player in enumerate(rng.sample("abcdefgh", 6), start=1)
    ]


def test_contributions_of_all_users_add_up_to_the_change_of_equipment():
    rated = podium.rate(races(), make_system("adaptive", {"shared": "car/tyres"}))
    columns, names = rated.events.columns, rated.events.player_names.to_list()
    for number in (0, 5, 11):
        parts: dict[tuple[str, ...], float] = {}
        for player in CARS:
            if player in rated.results.frame.filter(event_id=f"e{number}")["player"]:
                explanation = rated.explain(f"e{number}", player)
                assert player not in explanation.rows["opponent"].to_list()  # nobody meets themself
                assert explanation.duels.count == 5
                for each in explanation.equipment:
                    parts[each.kind, each.name] = parts.get((each.kind, each.name), 0.0) + each.points
        first, stop = columns.entrants[number], columns.entrants[number + 1]
        moved = {
            tuple(names[columns.player[k]].split("\x1f")[1:]): rated.replayed.after[k, 0] - rated.replayed.before[k]
            for k in range(first, stop)
            if columns.kind[k]
        }
        assert parts == pytest.approx(moved, abs=1e-9)


def points_in(words):
    return [float(each.replace(MINUS, "-")) for each in re.findall(f"[+{MINUS}][0-9.]+[0-9]", words)]


def test_the_sentence_adds_up_as_shown():
    explanation = podium.rate(races(), make_system("adaptive", {"shared": "car/tyres"})).explain("e11", "a")
    worth, *parts = points_in(explanation.shared)
    assert len(parts) == 3
    assert sum(parts) == pytest.approx(worth, abs=1e-9)
    assert explanation.to_dict()["equipment"][0]["kind"] == "car"
    assert podium.rate(races(), "adaptive").explain("e11", "a").shared == ""


def test_team_mates_in_the_same_car_have_no_equipment_contribution():
    rows = [
        {name: row[name] for name in ("event_id", "started_at", "player", "shared:car")}
        | {"team": row["shared:car"], "team_score": float(ord(row["shared:car"]) % 7)}
        for row in races()
    ]
    rated = podium.rate(rows, make_system("adaptive", {"shared": "car"}))
    cars = [CARS[player] for player in rated.results.frame.filter(event_id="e11")["player"]]
    for player, car in CARS.items():
        if cars.count(car) > 1 and player in rated.results.frame.filter(event_id="e11")["player"]:
            assert rated.explain("e11", player).equipment == ()


def test_equipment_of_each_pool_is_rated_as_if_alone():
    tables = {pool: [row | {"pool": pool} for row in races(seed=seed)] for pool, seed in (("a", 4), ("b", 7))}
    system = make_system("adaptive", {"shared": "car/tyres"})
    alone = [podium.rate(table, system).ratings.drop("rank") for table in tables.values()]
    both = [row | {"event_id": f"{pool}-{row['event_id']}"} for pool, table in tables.items() for row in table]
    together = podium.rate(both, system).ratings.drop("rank")
    for pool, wanted in zip(tables, alone, strict=True):
        found = together.filter(pool=pool)
        columns = ["player", "rating", "deviation", "events"]
        assert found.select(columns).sort("player").rows() == wanted.select(columns).sort("player").rows()
