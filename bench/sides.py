"""Check that `evaluate` judges team games by the system's own model of a team: `python bench/sides.py`.

200 players with skills of N(25, 8.3) play 3,000 matches of four against four; a team wins by the sum of its
performances of N(skill, 4.17). The script prints TrueSkill's log loss and accuracy after the first 1,000 matches, once
from `evaluate` and once from TrueSkill's formula and its ratings.
"""

import math
from datetime import UTC, datetime, timedelta
from statistics import NormalDist

import numpy as np
import polars as pl

import podium

PLAYERS, MATCHES, SIZE, FIRST = 200, 3000, 4, 1000
SKILL, SKILL_DEVIATION, BETA = 25.0, 8.3, 4.17
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)  # one match per hour
SYSTEMS = ("trueskill", "openskill-pl", "openskill-tm", "glicko2", "elo", "adaptive")


def draw_matches(seed: int) -> pl.DataFrame:
    """Return the results of all matches, one row per player."""
    rng = np.random.default_rng(seed)
    skills = rng.normal(SKILL, SKILL_DEVIATION, PLAYERS)
    rows = []
    for match in range(MATCHES):
        field = rng.choice(PLAYERS, 2 * SIZE, replace=False).reshape(2, SIZE)
        performances = (skills[field] + rng.normal(0.0, BETA, field.shape)).sum(axis=1)
        places = 1 + (performances < performances.max())
        rows += [
            {
                "event_id": f"{match:04}",
                "started_at": BEGIN + timedelta(hours=match),
                "player": f"p{player}",
                "team": f"t{side}",
                "position": int(places[side]),
            }
            for side in range(2)
            for player in field[side]
        ]
    return pl.DataFrame(rows)


def judge_by_hand(results: pl.DataFrame) -> tuple[float, float]:
    """Return TrueSkill's log loss and accuracy from sums of means and variances, with the ratings before each match."""
    rated = podium.rate(results, "trueskill")
    system = rated.system
    losses, hits = [], []
    states: dict[str, tuple[float, float]] = {}
    for number, (_, match) in enumerate(rated.history.group_by("event_id", maintain_order=True)):
        if number >= FIRST:
            lead, variance = 0.0, 2 * SIZE * system.beta**2
            teams = results.filter(event_id=match["event_id"][0]).select("player", "team", "position")
            best = teams["team"][int(teams["position"].arg_min())]
            for player, team, _ in teams.iter_rows():
                mean, deviation = states.get(player, (system.initial, system.deviation))
                lead += mean if team == best else -mean
                variance += deviation**2 + system.tau**2
            losses.append(-math.log(NormalDist().cdf(lead / math.sqrt(variance))))
            hits.append(1.0 if lead > 0.0 else 0.0)
        states |= {row["player"]: (row["rating"], row["deviation"]) for row in match.to_dicts()}
    return float(np.mean(losses)), float(np.mean(hits))


def main() -> None:
    """Print the figures of both ways."""
    results = draw_matches(seed=1)
    loss, accuracy = judge_by_hand(results)
    print(f"trueskill by hand        log loss {loss:.4f}  accuracy {accuracy:.4f}")
    window = podium.Window(since=BEGIN + timedelta(hours=FIRST))
    scores = podium.evaluate(results, list(SYSTEMS), window=window).scores
    print(scores.select("system", "log_loss", "accuracy", "pairs"))


if __name__ == "__main__":
    main()
