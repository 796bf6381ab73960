"""Pools. Each has a rating system, a description, and events that are ordered by date or by number.

The store represents the number n as the n-th second of 1970, so that the same key orders both kinds of events. This
module converts input to such times, and the output of numbered pools back to numbers.
"""

import functools
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field, fields, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Literal, NamedTuple, Self, TypedDict, Unpack
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa

from podium.engine.system import System
from podium.errors import ParameterError, UnknownError
from podium.ledger.leaderboard import instant as instant_in
from podium.ledger.point_schemes import read_scheme
from podium.log.database import StoreError, acquire_pool_lock, write_transaction
from podium.log.display import Display, read_display
from podium.log.schema import log, pools
from podium.log.statements import DAY_US, instant, microseconds, run_prepared, values
from podium.results.names import admit, is_page_address, normalise, shown
from podium.support.collector import paused_collection
from podium.support.immutable import immutable
from podium.systems import find
from podium.version import ARITHMETIC

Order = Literal["dated", "sequence"]
When = datetime | float  # a time, or the number of an event in a numbered pool
DATED: Order = "dated"
UNDATED: Order = "sequence"
NUMBER_US = 1_000_000  # microseconds per number, so that there is space for decimals
LARGEST = 2_000_000_000  # a double represents every such number with five decimals
DAY = timedelta(days=1)
FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
UNDATED_BODY = b'{"sequence":'  # beginning of an event's content, only in the log of a numbered pool
ORDERED_BODY = b'{"order": "'  # beginning of a configuration entry that sets the order


def time_of(when: When) -> int:
    """Convert a time or a number to the store's form: microseconds since 1970."""
    if isinstance(when, datetime):
        return microseconds(when)
    time = 10 * round(when * NUMBER_US / 10) if abs(when) <= LARGEST else 0
    if number_at(time) != when:
        raise ParameterError(f"the number {when!r} exceeds {LARGEST:,} or has more than five decimal places")
    return time


def number_at(time: int) -> float:
    """Return the number of an event, or of a season's first event, given its time in microseconds since 1970."""
    return 10 * -(-time // 10) / NUMBER_US


def read_when(order: Order | None, text: str, *, whole_day: bool = False, zone: tzinfo = UTC) -> When:
    """Parse a string with a date or, in a numbered pool, with a number."""
    if order != UNDATED:
        return instant_in(text, whole_day=whole_day, zone=zone)
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{text!r} is not the number of an event, and this pool's events have no dates") from None


def season_time(when: When) -> int:
    """Return the start of a season in the store's form.

    In a numbered pool, a season starts one microsecond before its first event.
    """
    return time_of(when) - (not isinstance(when, datetime))


def earlier(when: When, span: timedelta) -> When:
    """Return the time that is `span` earlier, or the start of the calendar if that is later.

    In numbered pools, one event counts as one day.
    """
    return when - min(span, when - FIRST_MOMENT) if isinstance(when, datetime) else when - span / DAY


MAX_WORD_CHARACTERS = 40
MAX_CONTACT_CHARACTERS = 500
MAIL_ADDRESS = re.compile(  # the HTML standard's "valid email address"
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)


class DescriptionChanges(TypedDict, total=False):
    """Changes to a pool's description. None leaves a field unchanged, and an empty string clears it."""

    title: str | None
    contact: str | None
    player_word: str | None
    public: bool | None
    time_zone: str | None
    points_scheme: str | None
    display: str | None
    reports: str | None


@immutable
class PoolDescription:
    """A pool's description. Fields that have no value are empty strings."""

    title: str = ""  # displayed on pages in place of the name
    contact: str = ""  # mail address or page of the person who corrects results
    player_word: str = ""  # the word for a player, such as "rider"
    public: bool = False  # True if reading needs no key
    time_zone: str = ""  # zone of dates on pages and in messages, such as "Europe/Berlin"; empty for UTC
    points_scheme: str = ""  # points of the championship, as `read_scheme` reads it
    display: str = ""  # scale of shown scores and tiers, as `read_display` reads it
    reports: str = ""  # when results that players report count, as `read_report_rules` reads it; empty if they cannot

    @property
    def zone(self) -> tzinfo:
        return ZoneInfo(self.time_zone) if self.time_zone else UTC

    def columns(self) -> dict[str, Any]:
        return {COLUMNS.get(name, name): value for name, value in asdict(self).items()}

    def changed(self, **changes: Unpack[DescriptionChanges]) -> Self:
        given: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
        for name, check in ADMIT.items():
            if name in given:
                given[name] = check(given[name]) if normalise(given[name]) else ""
        return replace(self, **given)


NO_DESCRIPTION = PoolDescription()  # description of a pool that has none


COLUMNS = {"public": "is_public"}  # of fields with other names


def admit_player_word(text: str) -> str:
    word = admit(text, "player word")
    if len(word) > MAX_WORD_CHARACTERS:
        raise ParameterError(f"player word: has {len(word)} characters. Use at most {MAX_WORD_CHARACTERS}")
    return word


def admit_contact(text: str) -> str:
    contact = normalise(text)
    if len(contact) > MAX_CONTACT_CHARACTERS:
        raise ParameterError(f"contact: has {len(contact)} characters. Use at most {MAX_CONTACT_CHARACTERS}")
    if MAIL_ADDRESS.fullmatch(contact) or is_page_address(contact):
        return contact
    raise ParameterError(
        f"contact: {shown(contact)} is neither an email address nor the address of a page. Write it like "
        "stewards@example.org or https://example.org/stewards"
    )


def admit_time_zone(text: str) -> str:
    name = text.strip()
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name belongs to a folder
        raise ParameterError(f"time zone: {shown(name)} is not known. Write it like Europe/Berlin or UTC") from None


def admit_reports(text: str) -> str:
    rules = " ".join(text.split())
    read_report_rules(rules)
    return rules


ADMIT: dict[str, Callable[[str], str]] = {  # of texts that are not blank
    "title": lambda text: admit(text, "title"), "contact": admit_contact, "player_word": admit_player_word,
    "time_zone": admit_time_zone,
    "points_scheme": lambda text: read_scheme(text).text, "display": lambda text: read_display(text).text,
    "reports": admit_reports,
}  # fmt: skip


REPORT_RULES = re.compile("([1-9][0-9]?|100)%(?: ([1-9][0-9]{0,2})h)?")  # at most 41 days, for which reports are kept


class ReportRules(NamedTuple):
    """The rules for results that players report."""

    share: float  # share of the other entrants who must confirm a result
    hours: int | None  # hours after which it counts if nobody objects; None if it never does


def read_report_rules(text: str) -> ReportRules:
    """Return the rules that a text such as `50% 48h` or `50%` describes. If it is empty, no report counts.

    Raises:
        ParameterError: the text is not such a description.
    """
    found = REPORT_RULES.fullmatch(text)
    if text and not found:
        raise ParameterError(
            f"reports: {shown(text)} are no rules. Write the share of the others who must confirm a result, and the"
            " hours without objection, like: 50% 48h"
        )
    if not found:
        return ReportRules(math.inf, None)
    return ReportRules(int(found[1]) / 100.0, int(found[2]) if found[2] else None)


WriteObserver = Callable[[str, float, float], None]  # see `locked_pool`


class OrderKey(NamedTuple):
    """The position of an event, or of the start of a season, in the order of rating."""

    started_at: int  # microseconds since 1970, UTC
    seq: int  # number of the log entry that submitted it


START, FOREVER = OrderKey(-(2**62), 0), OrderKey(2**62, 0)  # positions before and after all events


@immutable
class Pool:
    id: int
    name: str
    system: System
    secret: bytes = field(repr=False)  # key for the digests
    arithmetic: int = ARITHMETIC  # revision of the arithmetic that rated the ledger
    closed: bool = False
    description: PoolDescription = NO_DESCRIPTION
    order: Order | None = None  # order of events; None before the first event

    @property
    def is_undated(self) -> bool:
        return self.order == UNDATED

    def moment(self, time: int) -> datetime | None:
        """Return the time this many microseconds after the start of 1970, or None in a numbered pool."""
        return None if self.is_undated else instant(time)

    def sequence(self, time: int) -> float | None:
        """Return the event number that these microseconds since 1970 represent, or None in a dated pool."""
        return number_at(time) if self.is_undated else None

    @property
    def display(self) -> Display:
        """The scale of shown scores, and the tiers."""
        return read_display(self.description.display)

    def shown_score(
        self, rating: float, deviation: float | None, tiers: Mapping[str, float]
    ) -> tuple[float, str | None]:
        """Return the score that decides a player's rank, as the pool shows it, and its tier or None.

        Args:
            tiers: the least shown score of each tier, lowest first.
        """
        score = self.display.score(float(self.system.score(rating, deviation)))
        return score, self.display.tier(score, self.system.digits - 1, tiers) if tiers else None

    @property
    def unit_us(self) -> int:
        """The number of microseconds in a day or, in a numbered pool, in one event."""
        return NUMBER_US if self.is_undated else DAY_US

    @property
    def is_outdated(self) -> bool:
        """True if the pool must be rated again, because an earlier version with different arithmetic rated it."""
        return self.arithmetic < ARITHMETIC

    def within(self, connection: sa.Connection) -> "PoolView":
        """Return this pool as part of another transaction."""
        return PoolView(*self.cells(), connection=connection)

    def cells(self) -> tuple[Any, ...]:
        """Return the values of all fields of `Pool`."""
        return tuple(getattr(self, field.name) for field in fields(Pool))


@immutable
class PoolView(Pool):
    """A pool, as seen or written by a transaction."""

    connection: sa.Connection = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def from_row(cls, connection: sa.Connection, row: Sequence[Any]) -> Self:
        """Return the pool in a row of `SELECT_EVERY`, as the driver returns it."""
        number, name, system, parameters, arithmetic, secret, closed, title, contact, word, public, *rest, begins = row
        description = PoolDescription(title, contact, word, bool(public), *rest)
        state = secret, arithmetic, bool(closed), description, order_in(begins)
        return cls(number, name, system_of(system, parameters), *state, connection=connection)

    def execute(self, select: sa.Executable, *, among: Iterable[str | int] = (), **params: Any) -> Any:
        """Execute a statement, passing this pool as its `pool` parameter.

        Args:
            among: Values of the `among` parameter.
        """
        return self.connection.execute(select, self.known(among) | params)

    def run(self, statement: sa.Executable, *, among: Iterable[str | int] = (), **params: Any) -> Sequence[Any]:
        """Return all rows of a prepared statement as plain tuples, which is faster.

        The result is empty if there are no rows.
        """
        return run_prepared(self.connection, statement, self.known(among) | params)

    def update(self, **columns: Any) -> None:
        """Change columns of the pool's row."""
        self.connection.execute(sa.update(pools).where(pools.c.id == self.id).values(columns))

    def known(self, among: Iterable[str | int]) -> dict[str, Any]:
        return {"pool": self.id, "among": values(among) if among else "[]"}


@functools.cache
def system_of(name: str, parameters: str) -> System:
    return find(name).from_text(json.loads(parameters))


def settings_of(system: System) -> dict[str, Any]:
    parameters = {parameter.name: getattr(system, parameter.name) for parameter in fields(system)}
    return {name: "none" if value is None else value for name, value in parameters.items()}


def order_in(begins: bytes | str | None) -> Order | None:
    """Return the order of events, based on the first bytes of an event or a configuration.

    Return None if they do not set an order.
    """
    if isinstance(begins, str):  # a body that was changed to text in SQLite, which `verify` reports
        begins = begins.encode()
    if begins is None or begins.startswith(b'{"system"'):
        return None
    return UNDATED if begins.startswith((UNDATED_BODY, ORDERED_BODY + UNDATED.encode())) else DATED


BEGINS = sa.select(sa.func.substr(log.c.body, 1, len(ORDERED_BODY + UNDATED.encode()))).limit(1)
CONFIGURATION = BEGINS.where(  # the newest that sets an order
    log.c.pool_id == pools.c.id,
    log.c.subject == "",
    log.c.kind == "configure",
    sa.func.substr(log.c.body, 1, len(ORDERED_BODY)) == ORDERED_BODY,
).order_by(log.c.seq.desc())
FIRST_EVENT = BEGINS.where(log.c.pool_id == pools.c.id, log.c.kind == "submit").order_by(log.c.seq)
SELECT_EVERY = sa.select(
    pools, sa.func.coalesce(CONFIGURATION.scalar_subquery(), FIRST_EVENT.scalar_subquery()).label("begins")
)
SELECT_POOL = SELECT_EVERY.where(pools.c.name == sa.bindparam("name"))
SELECT_PUBLIC = sa.select(pools.c.name).where(pools.c.is_public)
SELECT_POOLS = SELECT_EVERY.order_by(pools.c.name)


def get_pool(connection: sa.Connection, name: str) -> PoolView:
    rows = run_prepared(connection, SELECT_POOL, {"name": name})
    if not rows:
        raise UnknownError(f"there is no pool {name!r}")
    return PoolView.from_row(connection, rows[0])


def every_pool(connection: sa.Connection) -> list[PoolView]:
    return [PoolView.from_row(connection, row) for row in run_prepared(connection, SELECT_POOLS, {})]


def lock_pool(connection: sa.Connection, name: str) -> PoolView:
    """Wait for a pool's lock, and return the pool."""
    pool = get_pool(connection, name)
    has_waited = acquire_pool_lock(connection, pool.id)
    return get_pool(connection, name) if has_waited else pool  # the system may have changed in the meantime


def ignore_times(_pool_name: str, _waited_s: float, _held_s: float) -> None:
    """Ignore the durations of a write transaction."""


@contextmanager
def locked_pool(engine: sa.Engine, name: str, observe: WriteObserver = ignore_times) -> Iterator[PoolView]:
    """Start a transaction that holds a pool's lock.

    Args:
        observe: Function that is called after the transaction is committed. Its arguments are the pool, the seconds
            spent waiting for the lock, and the seconds during which the lock was held.

    Raises:
        UnavailableError: The database is unavailable.
    """
    began = time.perf_counter()
    with paused_collection(), write_transaction(engine) as connection:
        pool = lock_pool(connection, name)
        locked = time.perf_counter()
        yield pool
    observe(name, locked - began, time.perf_counter() - locked)


def other_arithmetic(pool: Pool) -> str:
    """Return advice if a pool was rated with another version's arithmetic, otherwise an empty string."""
    if pool.arithmetic == ARITHMETIC:
        return ""
    revisions = (
        f"it was rated with revision {pool.arithmetic} of the arithmetic, but this version of Podium has {ARITHMETIC}"
    )
    if pool.is_outdated:
        return f"must be rated again: {revisions}; run podium db upgrade (podium serve does the same when it starts)"
    return f"belongs to a newer version: {revisions}; update Podium"


def refuse_other_arithmetic(pool: Pool) -> None:
    """Raise an error if a pool was rated with another version's arithmetic."""
    reason = other_arithmetic(pool)
    if reason:
        raise StoreError(f"pool {pool.name!r} {reason}")


def refuse_closed(pool: Pool) -> None:
    if pool.closed:
        raise StoreError(f"pool {pool.name!r} is closed. Reopen it with podium pool reopen")


def refuse_unwritable(pool: Pool) -> None:
    """Raise an error if the pool's ratings cannot be changed."""
    refuse_other_arithmetic(pool)
    refuse_closed(pool)


def day_of(moment: date) -> int:
    """Return the number of a day, counting from 1970."""
    return (moment - instant(0).date()).days


def today() -> int:
    """Return the number of the current day in UTC."""
    return day_of(datetime.now(UTC).date())


def parse_day(text: str, order: Order | None = DATED) -> int:
    """Return the number of a day written like 2026-01-31 or, in a numbered pool, the number of an event."""
    try:
        return int(text) if order == UNDATED else day_of(date.fromisoformat(text))
    except ValueError:
        like = "not the number of an event" if order == UNDATED else "not a day; write it like 2026-01-31"
        raise ParameterError(f"{text!r} is {like}") from None


def date_of(day: int) -> date:
    """Return the date of the day with this number."""
    return instant(day * DAY_US).date()


def day_shown(order: Order | None, day: int) -> date | int:
    """Return the day with this number as text.

    In a numbered pool, return the event before which these ranks applied.
    """
    return day if order == UNDATED else date_of(day)
