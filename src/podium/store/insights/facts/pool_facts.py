"""What a pool's whole history shows: worked out at night and kept, or from fewer events when it is read."""

import json
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import numpy as np
import sqlalchemy as sa

from podium.engine.rules import enter, expect
from podium.engine.system import ELO_SCALE
from podium.engine.tables.inputs import PRESENT
from podium.store.derive.snapshots import date_of, today
from podium.store.insights.fact_models import PoolFacts, PromisePoint, ReliabilityBin, WeightPoint
from podium.store.insights.facts.reliability import promise_outcomes
from podium.store.insights.facts.weights import weights
from podium.store.log.chain import newest_head
from podium.store.log.pools import Pool, refuse_other_arithmetic, settings_of
from podium.store.read.boards import IN_POOL, IS_SETTLED
from podium.store.read.states import states_of
from podium.store.rows.pool_states import system_today
from podium.store.sql.schema import pool_fact, standing

NAME = "facts"  # under which they are kept
GAPS = range(-800, 801, 40)  # points of Elo by which a player is ahead
MIDDLE_OF = 10_000  # settled players of whom the middle one is taken
GROWTH = 0.1  # of the log, up to which facts that were worked out before are still shown
SELECT_FACTS = sa.select(pool_fact.c.body).where(pool_fact.c.pool_id == sa.bindparam("pool"), pool_fact.c.name == NAME)
SELECT_SETTLED_STATES = (
    sa.select(standing.c.state).where(IN_POOL, IS_SETTLED).order_by(standing.c.player_id).limit(MIDDLE_OF)
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is looked at."""

    events: int  # the newest
    players: int  # for each point of the weights


AT_NIGHT = Effort(events=20_000, players=25)
WHEN_READ = Effort(events=1_000, players=5)


@dataclass(frozen=True, slots=True)
class KeptFacts:
    """Facts, and what they are of."""

    facts: PoolFacts
    system: str  # and its parameters, as JSON
    place: int  # of the log's newest entry

    def is_fresh(self, connection: sa.Connection, pool: Pool) -> bool:
        """Whether they are of the pool as it is, but for a tenth of its log."""
        place = newest_head(connection, pool).place
        return self.system == system_text(pool) and place <= self.place * (1.0 + GROWTH)

    def to_json(self) -> str:
        """The text that is kept."""
        return json.dumps(asdict(self) | {"facts": asdict(self.facts) | {"day": self.facts.day.isoformat()}})

    @classmethod
    def from_json(cls, text: str) -> "KeptFacts":
        """Read the text that was kept."""
        kept = json.loads(text)
        facts: dict[str, Any] = kept["facts"]
        facts["day"] = date.fromisoformat(facts["day"])
        for name, kind in (("promise", PromisePoint), ("weights", WeightPoint), ("reliability", ReliabilityBin)):
            facts[name] = tuple(kind(**each) for each in facts[name])
        return cls(PoolFacts(**facts), kept["system"], kept["place"])


def system_text(pool: Pool) -> str:
    """A pool's system and its parameters."""
    return json.dumps([pool.system.name, settings_of(pool.system)])


def find_facts(connection: sa.Connection, pool: Pool, effort: Effort) -> KeptFacts:
    """Work the facts out.

    Raises:
        StoreError: another revision of the arithmetic rated the pool.
    """
    refuse_other_arithmetic(pool)
    outcomes = promise_outcomes(connection, pool, effort.events)
    facts = PoolFacts(
        day=date_of(today()),
        events=outcomes.events,
        players=outcomes.players,
        duels=outcomes.duels,
        promise=promise(connection, pool),
        weights=weights(connection, pool, effort.players),
        reliability=outcomes.reliability,
    )
    return KeptFacts(facts, system_text(pool), newest_head(connection, pool).place)


def kept_facts(connection: sa.Connection, pool: Pool) -> KeptFacts | None:
    """The facts that were kept last, of whatever system; None where there are none."""
    body = connection.execute(SELECT_FACTS, {"pool": pool.id}).scalar()
    return None if body is None else KeptFacts.from_json(body)


def are_due(connection: sa.Connection, pool: Pool) -> bool:
    """Whether facts are to be worked out: none were today, or by another system."""
    kept = kept_facts(connection, pool)
    return kept is None or kept.facts.day != date_of(today()) or kept.system != system_text(pool)


def keep(connection: sa.Connection, pool: Pool, found: KeptFacts) -> None:
    """Keep facts in place of those before."""
    connection.execute(sa.delete(pool_fact).where(pool_fact.c.pool_id == pool.id, pool_fact.c.name == NAME))
    row = {"pool_id": pool.id, "name": NAME, "day": today(), "body": found.to_json()}
    connection.execute(sa.insert(pool_fact), row)


def promise(connection: sa.Connection, pool: Pool) -> tuple[PromisePoint, ...]:
    """What a lead promises the middle settled player over an equal, or a newcomer where nobody is settled."""
    system, newcomer = system_today(connection, pool), pool.system.newcomer()
    packed = connection.execute(SELECT_SETTLED_STATES, {"generation": pool.generation}).scalars().all()
    states = states_of(pool, packed)
    even = type(newcomer)(*np.median(states, axis=0).tolist()) if packed else newcomer
    params, scale = system.params(), system.points_per_logit / ELO_SCALE
    points = []
    for gap in (float(f"{elo_gap * scale:.3g}") for elo_gap in GAPS):
        ahead = even._replace(**{name: getattr(even, name) + gap for name in system.with_level})
        sides = (enter(params, each, PRESENT) for each in (ahead, even))
        points.append(PromisePoint(gap, float(expect(params, *sides))))
    return tuple(points)
