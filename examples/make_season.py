"""Make the example season: seeded, so that it is the same file each time.

    python examples/make_season.py [--seed N] [--out FILE]

Players have known skills; performances are Gamma(shape 3, rate e^(c alpha (skill - 1500))), 0 being perfect.
"""

import argparse
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

SLOPE = 0.002986329965951851  # c * alpha of the gamma model at shape 3
COLUMNS = [
    "event_id", "started_at", "pool", "mode", "heat", "team", "player", "position", "time_s", "score", "team_score",
    "status", "played_s", "duration_s", "handicap",
]  # fmt: skip
NAMES = [
    "Amélie", "Bjørn", "Chidi", "Dragana", "Esteban", "Fatima", "Gustav", "Hana", "Ivo", "Jun",
    "Kofi", "Ludmila", "Mateo", "Niamh", "Otto", "Priya", "Quentin", "Rosa", "Søren", "Tomás",
    "Uma", "Viktor", "Wanda", "Ximena", "Yusuf", "Zoë", "Old Tom", "雪", "Nadia", "Pavel",
]  # fmt: skip
Row = dict[str, Any]


class Season:
    """The season being made."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.skill = dict(zip(NAMES, self.random.normal(1500.0, 250.0, len(NAMES)), strict=True))
        self.rows: list[Row] = []

    def field(self, size: int, part: float) -> list[str]:
        """Who turns up, `part` of the season gone: the last ten players arrive one by one."""
        known = NAMES[: 20 + round(10 * part)]
        return [str(name) for name in self.random.choice(known, size, replace=False)]

    def performance(self, player: str, part: float) -> float:
        """How far from perfect; Gustav improves at once half-way through the season."""
        skill = self.skill[player] + (350.0 if player == "Gustav" and part > 0.5 else 0.0)
        return float(self.random.gamma(3.0, np.exp(-SLOPE * (skill - 1500.0))))

    def add(self, event: Row, player: str, **entry: Any) -> None:
        """Add a row."""
        self.rows.append(event | {"player": player} | entry)

    def event(self, pool: str, number: int, count: int, mode: str | None = None) -> tuple[Row, float]:
        """The columns that an event's rows share, and how much of the season is gone."""
        part = number / count
        start = datetime(2025, 1, 6, 19, tzinfo=UTC) + timedelta(days=int(350 * part), minutes=10 * (number % 6))
        shared = {"event_id": f"{pool}-{number + 1:03}", "started_at": start.strftime("%Y-%m-%dT%H:%M:%SZ")}
        return shared | {"pool": pool, "mode": mode}, part

    def times(self, players: list[str], part: float, ideal_s: float) -> dict[str, float]:
        """Race times by a clock of hundredths; now and then the first two share one."""
        times = {player: round(ideal_s * (1.0 + 0.015 * self.performance(player, part)), 2) for player in players}
        first, second = sorted(times, key=lambda player: times[player])[:2]
        if self.random.random() < 0.06:
            times[second] = times[first]
        return times

    def karts(self, count: int = 120) -> None:
        """Races by time, with quits and a handicap night."""
        for number in range(count):
            mode = "time-trial" if number % 3 == 0 else "normal"
            event, part = self.event("karts", number, count, mode)
            players = self.field(int(self.random.integers(4, 11)), part)
            times = self.times(players, part, float(self.random.uniform(60.0, 240.0)))
            gone = {player for player in players[2:] if self.random.random() < 0.06}
            ranking = sorted(time for player, time in times.items() if player not in gone)
            for player in players:
                handicap = bool(number // 6 == 10 and self.skill[player] > 1700.0)
                if player in gone:
                    self.add(event, player, status="quit" if number % 2 else "dnf", handicap=handicap)
                else:
                    place = ranking.index(times[player]) + 1
                    self.add(event, player, position=place, time_s=times[player], handicap=handicap)

    def bikes(self, count: int = 60) -> None:
        """Matches of four heats by score, with quits of single heats."""
        for number in range(count):
            event, part = self.event("bikes", number, count)
            players = self.field(int(self.random.integers(3, 9)), part)
            for heat in "1234":
                scores = {
                    player: 500 * round(20.0 / (1.0 + 0.3 * self.performance(player, part))) for player in players
                }
                for player in players:
                    if self.random.random() < 0.03:
                        self.add(event, player, heat=heat, status="quit")
                    else:
                        self.add(event, player, heat=heat, score=scores[player])

    def stunts(self, count: int = 60) -> None:
        """Races by position, with disqualified pilots and some who did not start."""
        for number in range(count):
            event, part = self.event("stunts", number, count)
            players = self.field(int(self.random.integers(8, 19)), part)
            times = self.times(players, part, 75.0)
            out = {player: "disqualified" for player in players[3:] if self.random.random() < 0.04}
            out |= {player: "did_not_start" for player in players[3:] if self.random.random() < 0.03}
            ranking = sorted(time for player, time in times.items() if player not in out)
            for player in players:
                if player in out:
                    self.add(event, player, status=out[player])
                else:
                    self.add(event, player, position=ranking.index(times[player]) + 1, time_s=times[player])

    def shooter(self, pool: str, count: int = 60) -> None:
        """Duels, free-for-alls and games of two teams, by score; some leave early."""
        for number in range(count):
            event, part = self.event(pool, number, count, pool)
            size = {"duel": 2, "dm": int(self.random.integers(4, 8)), "ctf": 6}[pool]
            players = self.field(size, part)
            duration = float(self.random.choice([600, 900, 1200]))
            early = {player: self.random.random() < 0.08 for player in players}
            played = {player: duration * (0.6 if early[player] else 1.0) for player in players}
            scores = {player: self.frags(player, part, played[player]) for player in players}
            teams = {player: ("red", "blue")[seat % 2] for seat, player in enumerate(players)} if pool == "ctf" else {}
            for player in players:
                team = teams.get(player)
                mates = [other for other in players if teams.get(other) == team]
                team_score = sum(scores[other] for other in mates) // 10 if team else None
                times = {"played_s": played[player], "duration_s": duration}
                self.add(event, player, team=team, score=scores[player], team_score=team_score, **times)

    def frags(self, player: str, part: float, played_s: float) -> int:
        """A score that grows with skill and with the time played."""
        return round(played_s / 25.0 / (0.5 + 0.25 * self.performance(player, part)))

    def table(self) -> pl.DataFrame:
        """The results table."""
        whole = {"position": pl.Int64, "score": pl.Int64, "team_score": pl.Int64, "handicap": pl.Boolean}
        kinds = {name: whole.get(name, pl.Float64 if name.endswith("_s") else pl.String) for name in COLUMNS}
        frame = pl.DataFrame(self.rows, schema=kinds, strict=False)
        return frame.with_columns(pl.col("status").fill_null("finished")).sort("started_at", maintain_order=True)


def make_season(seed: int = 2025) -> pl.DataFrame:
    """The example season as a results table."""
    season = Season(seed)
    season.karts()
    season.bikes()
    season.stunts()
    for pool in ("duel", "dm", "ctf"):
        season.shooter(pool)
    return season.table()


def main() -> None:
    """Write the season."""
    parser = argparse.ArgumentParser(description="Make the example season.")
    parser.add_argument("--seed", type=int, default=2025)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("season.csv"))
    options = parser.parse_args()
    make_season(options.seed).write_csv(options.out)


if __name__ == "__main__":
    main()
