"""Facts about events, matches, seasons, accounts and the pool: by the log alone, and as the tables have them."""

import json
import marshal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import ParameterError
from podium.log import log as kinds
from podium.log.content import start_in
from podium.log.players import follow_entry, resolved
from podium.log.pools import COUNTED, DATED, SILENT, Order, PoolDescription, PoolView
from podium.log.schema import event, fixture, log, merged, pools, registration, season
from podium.log.statements import DAY_US, instant, of_pool
from podium.results.columns import FOR_PAGES
from podium.store.writing.rating.events import SUPERSEDED, VOIDED

MARSHAL_VERSION = 2  # which has no references, so that equal values have equal bytes
CHUNK_ROWS = 1_000  # that are read at once
Facts = dict[tuple[str, Any], Any]  # by ("event", its id), ("season", its name), …
WITH_SUBJECT = (kinds.REGISTER, kinds.PLAN, kinds.CANCEL, kinds.SEASON)
first_row = json.JSONDecoder().raw_decode  # of the lines of a content, which are not taken apart for it
OF_POOL = (kinds.CONFIGURE, kinds.CLOSE, kinds.REOPEN, kinds.DESCRIBE)
SELECT_REVISED = sa.select(log.c.subject).where(
    of_pool(log),
    sa.or_(
        log.c.kind.in_([kinds.AMEND, kinds.VOID, kinds.RESTORE, kinds.MOVE]),
        sa.and_(log.c.kind == kinds.SUBMIT, log.c.match_id.is_not(None)),
    ),
)
SELECT_ENTRIES = (
    sa.select(log.c.seq, log.c.kind, log.c.subject, kinds.whole_body, log.c.match_id, log.c.present)
    .where(of_pool(log))
    .order_by(log.c.seq)
)


class SentEvent(NamedTuple):
    seq: int
    content_seq: int
    started_at: int  # microseconds since 1970, UTC
    match_id: str | None
    present: int | None
    title: str | None
    url: str | None
    is_voided: bool


@dataclass(slots=True)
class PlainEvents:
    """Facts about events that one entry of the log tells all of, as a sum that does not depend on their order.

    Nearly all events are plain, and of a million no dict has room in memory.
    """

    revised: frozenset[str]  # the ids of all other events
    count: int = 0
    total: int = 0  # of hashes of 64 bits, which are other ones in each process

    @classmethod
    def of(cls, pool: PoolView) -> "PlainEvents":
        return cls(frozenset(pool.execute(SELECT_REVISED).scalars()))

    def add(self, *fact: Any) -> None:
        self.count += 1
        self.total += hash(marshal.dumps(fact, MARSHAL_VERSION))


def facts_from_log(pool: PoolView, plain: PlainEvents | None = None) -> Facts:
    facts: Facts = {("pool", "closed"): False, ("pool", "description"): SILENT}
    events: dict[str, SentEvent] = {}
    direct: dict[int, int | None] = {}
    for row in pool.connection.execute(SELECT_ENTRIES, {"pool": pool.id}, execution_options={"yield_per": CHUNK_ROWS}):
        content_seq, kind, subject, body, match_id, present = row
        if kind in kinds.WITH_CONTENT:
            first, _ = first_row(body.decode())
            started_at = start_in(first)
            title, url = map(first.get, FOR_PAGES)
            if plain is not None and subject not in plain.revised:
                plain.add(subject, content_seq, content_seq, started_at, None, present, title, url, "")
                continue
            known = events.get(subject)
            seq = content_seq if known is None or kind == kinds.MOVE else known.seq
            is_voided = known is not None and known.is_voided
            events[subject] = SentEvent(seq, content_seq, started_at, match_id, present, title, url, is_voided)
        elif row.kind in (kinds.VOID, kinds.RESTORE):
            events[row.subject] = events[row.subject]._replace(is_voided=row.kind == kinds.VOID)
        elif row.kind in WITH_SUBJECT:
            fact, value = subject_fact(row, facts)
            facts[fact, row.subject] = value
        elif row.kind in OF_POOL:
            facts |= pool_fact(row)
        elif row.kind in (kinds.MERGE, kinds.UNMERGE):
            follow_entry(direct, row.kind, row.subject, row.body)
    facts |= {("account", account): (end,) for account, end in resolved(direct).items()}
    results = standing_results(events)
    while events:  # which has as much in memory as the facts of them
        event_id, each = events.popitem()
        is_superseded = each.match_id is not None and results.get(each.match_id) != event_id
        state = VOIDED if each.is_voided else SUPERSEDED if is_superseded else ""
        facts["event", event_id] = (*each[:-1], state)
    return facts


def pool_fact(row: Any) -> Facts:
    if row.kind in (kinds.CLOSE, kinds.REOPEN):
        return {("pool", "closed"): row.kind == kinds.CLOSE}
    body = json.loads(row.body)
    if row.kind == kinds.DESCRIBE:
        return {("pool", "description"): PoolDescription.from_body(body)}
    return {("pool", "system"): (body["system"], body["parameters"])}


def subject_fact(row: Any, facts: Facts) -> tuple[str, tuple[Any, ...]]:
    """What an entry of the log makes of a match, a fixture or a season: which of these, and its fact."""
    if row.kind == kinds.CANCEL:
        return "fixture", (*facts["fixture", row.subject][:-1], True)
    body = json.loads(row.body)
    if row.kind == kinds.PLAN:
        return "fixture", (row.seq, body["starts_at"], body.get("title"), False)
    if row.kind == kinds.REGISTER:
        return "match", (row.seq, body["expires_at"])
    return "season", (row.seq, body["started_at"], body["keep"])


def standing_results(events: Mapping[str, SentEvent]) -> dict[str, str]:
    """The event that is the result of each match: with most of its entrants, the first of equals."""
    results: dict[str, str] = {}
    of_matches = ((event_id, each) for event_id, each in events.items() if each.match_id is not None)
    for event_id, each in sorted(of_matches, key=lambda item: item[1].seq):
        best = results.get(each.match_id or "")
        if not each.is_voided and (best is None or (each.present or 0) > (events[best].present or 0)):
            results[each.match_id or ""] = event_id
    return results


TABLES = {  # of facts: the table, the column of what a fact is about, and those of the fact
    "event": (event, "event_id", (*SentEvent._fields[:-1], "status")),
    "match": (registration, "match_id", ("seq", "expires_at")),
    "fixture": (fixture, "fixture_id", ("seq", "starts_at", "title", "is_cancelled")),
    "season": (season, "name", ("seq", "started_at", "keep")),
    "account": (merged, "player_id", ("into_id",)),
}


def stored_facts(pool: PoolView, plain: PlainEvents | None = None) -> Iterator[tuple[tuple[str, Any], Any]]:
    for subject, (table, name, columns) in TABLES.items():
        select = sa.select(*(table.c[each] for each in (name, *columns))).where(table.c.pool_id == pool.id)
        for about, *fact in pool.connection.execute(select, execution_options={"yield_per": CHUNK_ROWS}):
            if subject == "event" and fact[-1] not in (VOIDED, SUPERSEDED):
                fact[-1] = ""
            if subject == "event" and plain is not None and about not in plain.revised:
                plain.add(about, *fact)
            else:
                yield (subject, about), tuple(fact)
    for row in pool.execute(sa.select(pools).where(pools.c.id == pool.id)):
        yield ("pool", "system"), (row.system, json.loads(row.parameters))
        yield ("pool", "closed"), row.closed
        yield ("pool", "description"), PoolDescription.from_row(row)


def store_facts(pool: PoolView, facts: Facts) -> None:
    """Store the facts of a pool that has none yet; no event is rated by that."""
    rows: dict[str, list[dict[str, Any]]] = {subject: [] for subject in TABLES}
    for (subject, about), fact in facts.items():
        if subject in TABLES:
            _, name, columns = TABLES[subject]
            rows[subject].append({"pool_id": pool.id, name: about} | dict(zip(columns, fact, strict=True)))
    for row in rows["event"]:
        row["reason"] = row["status"]
    for subject, several in rows.items():
        if several:
            pool.connection.execute(sa.insert(TABLES[subject][0]), several)
    system, parameters = facts["pool", "system"]
    values = {"system": system, "parameters": json.dumps(parameters), "closed": facts["pool", "closed"]}
    values |= facts["pool", "description"].columns()
    pool.connection.execute(sa.update(pools).where(pools.c.id == pool.id).values(values))


def day_of(moment: date) -> int:
    """A day's number: days since 1970."""
    return (moment - instant(0).date()).days


def today() -> int:
    """The number of the current day in UTC."""
    return day_of(datetime.now(UTC).date())


def parse_day(text: str, order: Order | None = DATED) -> int:
    """Read a day that is written like 2026-01-31, as its number; in a numbered pool that of an event."""
    try:
        return int(text) if order == COUNTED else day_of(date.fromisoformat(text))
    except ValueError:
        like = "not the number of an event" if order == COUNTED else "not a day; write it like 2026-01-31"
        raise ParameterError(f"{text!r} is {like}") from None


def date_of(day: int) -> date:
    return instant(day * DAY_US).date()


def day_shown(order: Order | None, day: int) -> date | int:
    """The day of that number; in a numbered pool the event, whose ranks are those before it."""
    return day if order == COUNTED else date_of(day)
