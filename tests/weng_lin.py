"""Seasons of teams, rated by the openskill package event by event, to check the systems of Weng and Lin."""

import random

import pytest

import podium

PLAYERS = [f"p{number}" for number in range(24)]


def season(seed, events=60):
    """Return a season with teams of one to three players, and ties."""
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


def assert_agrees_with_the_package(name, model, seed, count=60):
    """Check that a system's ratings after a season equal the package's."""
    events = list(season(seed, count))
    known = {player: model.rating() for player in PLAYERS}
    for _, teams, ranks in events:
        after = model.rate([[known[player] for player in team] for team in teams], ranks=ranks)
        for team, new in zip(teams, after, strict=True):
            known.update(zip(team, new, strict=True))
    rated = podium.rate(table(events), name).ratings
    for player, rating, deviation in rated.select("player", "rating", "deviation").iter_rows():
        assert rating == pytest.approx(known[player].mu, rel=1e-6)
        assert deviation == pytest.approx(known[player].sigma, rel=1e-6)
