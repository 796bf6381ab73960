"""Simulate the waiting times and rating spreads that result from matchmaking policies in a population.

Every player plays, rests and waits again. With exponentially distributed rests and matches of a fixed length, the
population reaches a steady state. The baseline is first come, first served: full matches between the longest-waiting
players.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.replay import Replayed
from podium.engine.tables.encoding import Events
from podium.errors import ParameterError
from podium.kernels.logarithm import LN_10
from podium.ledger.history import started_at
from podium.matchmaking.matcher import Matching, Policy, Waiting, match_waiting
from podium.support.arrays import Floats
from podium.support.immutable import immutable

TICK_S = 1.0  # seconds between two rounds of matching
PATIENCE_TARGETS = 10.0  # an unmatched ticket gives up after this many target waits
LIMIT = 100_000  # upper bound for a crowd's numbers of players, minutes, seconds and points
FIRST_COME = "first come"
POLICY = "policy"


@immutable
class Crowd:
    """A population of players in a steady state."""

    players: int = 1000
    minutes: float = 30.0  # minutes that count, after a warm-up
    warm_minutes: float = 10.0
    match_s: float = 240.0
    rest_s: float = 60.0  # mean of an exponential distribution
    skill_deviation: float = 250.0
    seed: int = 1

    def __post_init__(self) -> None:
        if not 2 <= self.players <= LIMIT:  # noqa: PLR2004  (it takes two to play)
            raise ParameterError(f"a population of {self.players} cannot be simulated; it must be from 2 to {LIMIT:,}")
        for name in ("minutes", "warm_minutes", "match_s", "rest_s", "skill_deviation"):
            if not 0.0 < getattr(self, name) <= LIMIT:
                raise ParameterError(f"{name} is {getattr(self, name)!r}; it must be above 0, and at most {LIMIT:,}")


class Trial(NamedTuple):
    """The result of one run."""

    waits: Floats  # waits of matched tickets, in seconds
    spreads: Floats  # rating spreads of the matches
    qualities: Floats
    unmatched: int  # number of tickets that gave up or were still waiting at the end
    longest: float  # longest wait in seconds, for matched and unmatched tickets


def try_crowd(crowd: Crowd, policy: Policy, *, first_come: bool = False) -> Trial:
    """Run a population under a policy. The same arguments give exactly the same result."""
    random = np.random.default_rng(crowd.seed)
    rating = np.sort(random.normal(1500.0, crowd.skill_deviation, crowd.players))
    ready = random.exponential(crowd.rest_s + crowd.match_s, crowd.players)
    tally = Tally(warm_s=60.0 * crowd.warm_minutes)
    end = 60.0 * (crowd.warm_minutes + crowd.minutes)
    for now in np.arange(TICK_S, end + TICK_S, TICK_S):
        who = np.flatnonzero(ready <= now)
        matching = match_once(rating[who], ready[who], now, policy, first_come=first_come)
        tally.add(matching, ready[who], now)
        matched = who[matching.match >= 0]
        ready[matched] = now + crowd.match_s + random.exponential(crowd.rest_s, matched.size)
    return tally.outcome(np.maximum(end - ready[ready <= end], 0.0))


def try_arrivals(rating: Floats, since: Floats, policy: Policy, *, first_come: bool = False) -> Trial:
    """Run tickets with known arrival times. Each ticket arrives only once.

    An unmatched ticket gives up after ten times the target wait.
    """
    order = np.argsort(since, kind="stable")
    rating, since = rating[order], since[order]
    tally = Tally(warm_s=-math.inf)
    waiting = np.empty(0, np.int64)
    came, given_up = 0, []
    now = -math.inf
    while came < since.size or waiting.size:
        now = now + TICK_S if waiting.size else max(now + TICK_S, math.ceil(since[came] / TICK_S) * TICK_S)
        new = int(np.searchsorted(since, now, side="right"))
        waiting = np.append(waiting, np.arange(came, new))
        came = new
        who = waiting[np.argsort(rating[waiting], kind="stable")]
        matching = match_once(rating[who], since[who], now, policy, first_come=first_come)
        tally.add(matching, since[who], now)
        left = who[matching.match < 0]
        lost = now - since[left] > PATIENCE_TARGETS * policy.target_s
        given_up.append(now - since[left[lost]])
        waiting = left[~lost]
    return tally.outcome(np.concatenate(given_up) if given_up else np.empty(0))


def match_once(rating: Floats, since: Floats, now: float, policy: Policy, *, first_come: bool) -> Matching:
    """Run one round of matching among the waiting tickets, which are sorted by rating."""
    if rating.size < policy.least:
        none = np.empty(0)
        return Matching(np.full(rating.size, -1), np.zeros(rating.size, np.int64), none, none, none)
    if first_come:
        return first_come_first_served(rating, since, now, policy)
    alone = np.arange(rating.size)
    waiting = Waiting(rating, np.zeros(rating.size), since, alone, np.zeros(rating.size, np.int64))
    return match_waiting(waiting, now, policy)


def first_come_first_served(rating: Floats, since: Floats, now: float, policy: Policy) -> Matching:
    """Make full matches from the longest-waiting tickets, in order."""
    order = np.argsort(since, kind="stable")
    count = rating.size // policy.size
    taken = order[: count * policy.size].reshape(count, policy.size)
    number = np.full(rating.size, -1)
    number[taken.ravel()] = np.repeat(np.arange(count), policy.size)
    skills = rating[taken]
    strength = np.exp(LN_10 / policy.scale * (skills - skills.max(axis=1, keepdims=True)))
    share = strength / strength.sum(axis=1, keepdims=True)
    entropy = -(share * np.log(np.maximum(share, 1e-300))).sum(axis=1) / math.log(policy.size)
    waited = now - since[taken].min(axis=1) if count else np.empty(0)
    return Matching(number, np.zeros(rating.size, np.int64), np.ptp(skills, axis=1), entropy, waited)


class Tally:
    """The matches of all rounds."""

    def __init__(self, warm_s: float) -> None:
        self.warm_s = warm_s
        self.waits: list[Floats] = []
        self.spreads: list[Floats] = []
        self.qualities: list[Floats] = []

    def add(self, matching: Matching, since: Floats, now: float) -> None:
        """Add a round, unless it belongs to the warm-up."""
        if now > self.warm_s and matching.spread.size:
            self.waits.append(now - since[matching.match >= 0])
            self.spreads.append(matching.spread)
            self.qualities.append(matching.quality)

    def outcome(self, still: Floats) -> Trial:
        """Return the result, including the tickets that are still waiting."""
        waits, spreads, qualities = (
            np.concatenate(parts) if parts else np.empty(0) for parts in (self.waits, self.spreads, self.qualities)
        )
        longest = max(float(waits.max(initial=0.0)), float(still.max(initial=0.0)))
        return Trial(waits, spreads, qualities, still.size, longest)


def compare_policies(crowds: Sequence[Crowd], policies: Sequence[Policy]) -> pl.DataFrame:
    """Run every population under every policy and, for comparison, under first come, first served.

    Return one row per run.
    """
    rows = []
    for crowd in crowds:
        compared_sizes: set[int] = set()
        for policy in policies:
            if policy.size not in compared_sizes:
                compared_sizes.add(policy.size)
                rows.append(row(crowd.players, FIRST_COME, None, try_crowd(crowd, policy, first_come=True)))
            rows.append(row(crowd.players, POLICY, policy.target_s, try_crowd(crowd, policy)))
    return pl.DataFrame(rows, schema_overrides={"target_s": pl.Float64})


def replayed_arrivals(events: Events, replayed: Replayed, policies: Sequence[Policy]) -> pl.DataFrame:
    """Run policies on past events with times.

    Entrants arrive at the times of their events, with their ratings at that time.
    """
    ledger = events.ledger
    starts = started_at(events.results.frame[ledger.row.array])
    if not starts.len() or starts.null_count():
        raise ParameterError("the results have no started_at column, which is needed for the arrival times")
    since = starts.cast(pl.Int64).to_numpy() / 1e6
    rating = replayed.before[ledger.entrant.array]
    rows: list[dict[str, Any]] = []
    for policy in policies:
        if not rows:
            rows.append(row(None, FIRST_COME, None, try_arrivals(rating, since, policy, first_come=True)))
        rows.append(row(None, POLICY, policy.target_s, try_arrivals(rating, since, policy)))
    return pl.DataFrame(rows, schema_overrides={"players": pl.Int64, "target_s": pl.Float64})


def row(players: int | None, kind: str, target_s: float | None, outcome: Trial) -> dict[str, Any]:
    """Return the table row for one run."""
    waits = dict(zip(("wait_median", "wait_p95"), quantiles(outcome.waits, 0.5, 0.95), strict=True))
    (spread,) = quantiles(outcome.spreads, 0.5)
    mean = {
        "spread_mean": float(outcome.spreads.mean()) if outcome.spreads.size else None,
        "quality_mean": float(outcome.qualities.mean()) if outcome.qualities.size else None,
    }
    counts = {"matches": outcome.spreads.size, "matched": outcome.waits.size, "unmatched": outcome.unmatched}
    named = {"players": players, "kind": kind, "target_s": target_s}
    return named | counts | waits | {"wait_max": outcome.longest, "spread_median": spread} | mean


def quantiles(values: Floats, *levels: float) -> list[float | None]:
    """Return quantiles, or None for an empty array."""
    return np.quantile(values, levels).tolist() if values.size else [None] * len(levels)
