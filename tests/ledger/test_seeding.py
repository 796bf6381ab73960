"""Seeds of a tournament: their order, bracket lines, groups, and pairs for the next round."""

import json
from itertools import combinations

import polars as pl
from commands import run

import podium
from podium.ledger.seeding import bracket, meetings, pairs, snake_group
from podium.systems import find

DUELS = [("Ana", "Ben"), ("Cy", "Dee"), ("Ana", "Cy")]


def rated(duels, system="elo"):
    rows = [
        {"event_id": str(number), "sequence": number, "player": player, "position": place}
        for number, duel in enumerate(duels)
        for place, player in enumerate(duel, start=1)
    ]
    return podium.rate(rows, system)


def test_the_best_players_meet_as_late_as_possible():
    assert bracket(2) == [1, 2]
    assert bracket(8) == bracket(5) == [1, 8, 4, 5, 2, 7, 3, 6]
    lines = bracket(64)
    while len(lines) > 1:  # without surprises, each round keeps the better half
        lines = [min(pair) for pair in zip(lines[::2], lines[1::2], strict=True)]
        assert sorted(lines) == list(range(1, len(lines) + 1))


def test_groups_are_filled_in_snake_order():
    assert [snake_group(seed, 3) for seed in range(1, 10)] == [1, 2, 3, 3, 2, 1, 1, 2, 3]


def test_seeds_are_in_leaderboard_order_with_newcomers_last():
    found = rated(DUELS, find("trueskill")(conservative=3.0)).seeds(["new", "Dee", "Ana", "newer", "Cy"], groups=2)
    board = rated(DUELS, find("trueskill")(conservative=3.0)).ratings["player"].to_list()
    known = [player for player in board if player != "Ben"]
    assert [seed.player for seed in found] == [*known, "new", "newer"]
    assert [seed.rating is None for seed in found] == [False] * 3 + [True] * 2
    assert [seed.group for seed in found] == [1, 2, 2, 1, 1]
    assert found[-1].opponent is None


def test_nobody_meets_the_same_opponent_again_if_possible():
    names, met = [f"p{number}" for number in range(8)], set()
    for _ in range(6):
        found = pairs(names, met)
        assert sorted(name for pair in found for name in pair) == names
        assert not met & {frozenset(pair) for pair in found}
        met |= {frozenset(pair) for pair in found}
    everyone = {frozenset(pair) for pair in combinations(names, 2)}
    assert pairs(names, everyone) == [("p0", "p1"), ("p2", "p3"), ("p4", "p5"), ("p6", "p7")]


def test_meetings_are_heats_of_two():
    frame = pl.DataFrame({"event_id": [*"aabbb"], "player": [*"xyxyz"]})
    assert meetings(frame) == {frozenset("xy")}


def test_the_command_lists_seeds(tmp_path):
    file = tmp_path / "duels.csv"
    rated(DUELS).results.frame.write_csv(file)
    found = json.loads(run("seed", file, "--entrants", "Dee,Ana,Ben", "--entrants", "Cy", "-f", "json"))
    pairing = {row["player"]: row["opponent"] for row in found}
    assert [*pairing.items()] == [("Ana", "Dee"), ("Cy", "Ben"), ("Dee", "Ana"), ("Ben", "Cy")]
    assert run("seed", file, "--names").split() == ["Ana", "Cy", "Ben", "Dee"]
