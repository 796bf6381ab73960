"""The five systems of Weng and Lin against the openskill package, event after event."""

import random

import pytest
from openskill import models

import podium

PEERS = {
    "openskill-pl": models.PlackettLuce,
    "openskill-bt": models.BradleyTerryFull,
    "openskill-bt-part": models.BradleyTerryPart,
    "openskill-tm": models.ThurstoneMostellerFull,
    "openskill-tm-part": models.ThurstoneMostellerPart,
}
PLAYERS = [f"p{number}" for number in range(24)]


def season(seed, events=60):
    """Teams of one to three, and ties."""
    rng = random.Random(seed)  # noqa: S311
    for number in range(events):
        players = rng.sample(PLAYERS, rng.randint(2, 20))
        teams = []
        while players:
            size = rng.choice((1, 1, 2, 3)) if number % 2 else 1
            teams.append([players.pop() for _ in range(min(size, len(players)))])
        if len(teams) > 1:
            yield f"e{number:03d}", teams, sorted(rng.randint(1, len(teams)) for _ in teams)


def table(events):
    return [
        {"event_id": event, "player": player, "position": rank, "team": f"t{number}" if len(team) > 1 else None}
        for event, teams, ranks in events
        for number, (team, rank) in enumerate(zip(teams, ranks, strict=True))
        for player in team
    ]


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_openskill_package(name, seed):
    # Full pairing of normal performances throws ratings far apart, where the package's distribution function has
    # few digits left and two roundings part; the other four agree over any number of events.
    events = list(season(seed, 12 if name == "openskill-tm" else 60))
    model = PEERS[name]()
    known = {player: model.rating() for player in PLAYERS}
    for _, teams, ranks in events:
        after = model.rate([[known[player] for player in team] for team in teams], ranks=ranks)
        for team, new in zip(teams, after, strict=True):
            known.update(zip(team, new, strict=True))
    rated = podium.rate(table(events), name).ratings
    for player, rating, deviation in rated.select("player", "rating", "deviation").iter_rows():
        assert rating == pytest.approx(known[player].mu, rel=1e-6)
        assert deviation == pytest.approx(known[player].sigma, rel=1e-6)


@pytest.mark.parametrize("name", PEERS)
def test_two_processes_share_the_cache_and_not_the_rules(name):
    """Systems whose types look alike must not run each other's machine code, nor from the disk."""
    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate("abc", 1)]
    mine = podium.rate(rows, name).ratings["rating"].to_list()
    for other in PEERS:
        if other != name:
            assert podium.rate(rows, other).ratings["rating"].to_list() != mine


def test_opponents_are_left_out_one_by_one_and_the_rest_is_joint():
    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate("abcd", 1)]
    told = podium.rate(rows, "openskill-pl").explain("e", "b").rows
    assert told["opponent"].to_list() == ["a", "c", "d", None]
    assert told["cause"].to_list() == ["opponent"] * 3 + ["joint"]
    without_a = podium.rate([row for row in rows if row["player"] != "a"], "openskill-pl").explain("e", "b").delta
    whole = podium.rate(rows, "openskill-pl").explain("e", "b").delta
    assert told["contribution"][0] == pytest.approx(whole - without_a, rel=1e-9)


def test_idle_days_widen_the_deviation():
    rows = [
        {"event_id": day, "started_at": day, "player": player, "position": place}
        for day in ("2025-01-01", "2025-07-01")
        for place, player in enumerate("ab", 1)
    ]
    steady = podium.rate(rows, "openskill-pl").ratings["deviation"][0]
    assert podium.rate(rows, "openskill-pl", idle_growth=0.5).ratings["deviation"][0] > steady
