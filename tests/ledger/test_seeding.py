"""Seeds of a tournament: their order, bracket lines, groups, and pairs for the next round."""

import json
from itertools import combinations
from random import Random

import polars as pl
import pytest
from commands import run

import podium
from podium.errors import ParameterError
from podium.importers import read_format
from podium.ledger.seeding import bracket, fill_bracket, meetings, pairs, snake_group, tournament_report
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


@pytest.mark.parametrize("rounds", [1, 2])
def test_players_who_met_are_kept_apart_in_the_first_rounds(rounds):
    random, names = Random(rounds), [f"p{number}" for number in range(13)]  # noqa: S311  (a simulation)
    for _ in range(20):
        met = {frozenset(random.sample(names, 2)) for _ in range(8)}
        placed = fill_bracket(names, met, rounds)
        blocks = [placed[line : line + 2**rounds] for line in range(0, 16, 2**rounds)]
        assert not met & {frozenset(pair) for block in blocks for pair in combinations(block, 2)}
        seeds = [placed[bracket(13).index(seed)] for seed in range(1, 14)]
        for tier in (slice(1), slice(1, 2), slice(2, 4), slice(4, 8), slice(8, 13)):
            assert sorted(seeds[tier]) == sorted(names[tier])
    everyone = {frozenset(pair) for pair in combinations(names, 2)}
    assert sorted(fill_bracket(names, everyone, rounds)) == ["", "", "", *sorted(names)]
    assert fill_bracket(names, everyone, 0) == fill_bracket(names, (), rounds)


def test_meetings_are_heats_of_two():
    frame = pl.DataFrame({"event_id": [*"aabbb"], "player": [*"xyxyz"]})
    assert meetings(frame) == {frozenset("xy")}


def test_a_tournament_report_can_be_paired_by_another_program_and_rated(tmp_path):
    file, report = tmp_path / "duels.csv", tmp_path / "open.trf"
    rated(DUELS).results.frame.write_csv(file)
    lines = run("seed", file, "--trf", "--entrants", "Dee,Ana,Cy,Ben").splitlines()
    assert lines[:3] == ["012 duels", "XXR 2", "XXC white1"]
    players = rated(DUELS).seeds(["Dee", "Ana", "Cy", "Ben"])
    assert [line.index(" 0.0") for line in lines[3:]] == [80] * 4
    assert [(int(line[4:8]), line[14:47].rstrip(), int(line[48:52]), int(line[85:89])) for line in lines[3:]] == [
        (each.seed, each.player, round(each.rating), each.seed) for each in players
    ]
    games = "3 w 1", "4 b 1", "1 b 0", "2 w 0"  # as a pairing program writes them, with results
    report.write_text(
        "\n".join([*lines[:3], *(f"{line}     {game}" for line, game in zip(lines[3:], games, strict=True))])
    )
    (first, third), (second, fourth) = [(players[k].player, players[k + 2].player) for k in range(2)]
    found = read_format("trf", [str(report)]).table
    same = [
        {"event_id": "duels, round 1", "heat": f"{a} - {b}", "player": name, "position": place}
        for a, b in ((first, third), (second, fourth))
        for place, name in enumerate((a, b), 1)
    ]
    assert dict(podium.rate(found, "elo").ratings.select("player", "rating").rows()) == dict(
        podium.rate(same, "elo").ratings.select("player", "rating").rows()
    )
    long = [{"event_id": "1", "sequence": 1, "player": name, "position": 1} for name in ("x" * 34, "y")]
    with pytest.raises(ParameterError, match="33 characters"):
        tournament_report(podium.rate(long, "elo").seeds(["x" * 34, "y"]), "")


def test_the_command_lists_seeds(tmp_path):
    file = tmp_path / "duels.csv"
    rated(DUELS).results.frame.write_csv(file)
    found = json.loads(run("seed", file, "--entrants", "Dee,Ana,Ben", "--entrants", "Cy", "-f", "json"))
    pairing = {row["player"]: row["opponent"] for row in found}
    assert [*pairing.items()] == [("Ana", "Dee"), ("Cy", "Ben"), ("Dee", "Ana"), ("Ben", "Cy")]
    assert run("seed", file, "--names").split() == ["Ana", "Cy", "Ben", "Dee"]
