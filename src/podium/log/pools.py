"""Pools: each a ladder with its system, its description, and the order of its events: by their dates, or by numbers.

Within the store number n is the n-th second of 1970, so that one key orders either kind. What comes in becomes such a
time here, and what goes out of a numbered pool becomes a number again.
"""

import functools
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, Self, TypedDict, Unpack

import sqlalchemy as sa

from podium.engine.system import System
from podium.errors import ParameterError, UnknownError
from podium.ledger.leaderboard import instant as instant_in
from podium.log.database import StoreError, acquire_pool_lock, write_transaction
from podium.log.schema import log, pools
from podium.log.statements import DAY_US, instant, microseconds, prepare, run_prepared, values
from podium.results.names import admit, is_page_address, normalise, shown
from podium.support.collector import paused_collection
from podium.systems import find
from podium.version import ARITHMETIC

Order = Literal["dated", "sequence"]
When = datetime | float  # a moment, or the number of an event in a numbered pool
DATED: Order = "dated"
COUNTED: Order = "sequence"
NUMBER_US = 1_000_000  # a decimal of a number is a rank between two
LARGEST = 2_000_000_000  # a double holds every such number with five decimals
DAY = timedelta(days=1)
FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
COUNTED_BODY = b'{"sequence":'  # how content begins in the log of a numbered pool, and in that of no other
ORDERED_BODY = b'{"order": "'  # how the entry of a configuration begins that says the order


def time_of(when: When) -> int:
    """When something is, as the store has it: microseconds since 1970."""
    if isinstance(when, datetime):
        return microseconds(when)
    time = 10 * round(when * NUMBER_US / 10) if abs(when) <= LARGEST else 0
    if number_at(time) != when:
        raise ParameterError(f"the number {when!r} is beyond {LARGEST:,}, or has more than five decimals")
    return time


def number_at(time: int) -> float:
    """The number of an event, or of the first of a season, from microseconds since 1970."""
    return 10 * -(-time // 10) / NUMBER_US


def read_when(order: Order | None, text: str, *, whole_day: bool = False) -> When:
    """When something is, as people write it: a number in a numbered pool, else a date."""
    if order != COUNTED:
        return instant_in(text, whole_day=whole_day)
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{text!r} is not the number of an event, and this pool's events have no dates") from None


def season_time(when: When) -> int:
    """When a season begins, as the store has it: in a numbered pool a microsecond before its first event."""
    return time_of(when) - (not isinstance(when, datetime))


def earlier(when: When, span: timedelta) -> When:
    """So long before, or where the calendar begins; in a numbered pool so many events as the span has days."""
    return when - min(span, when - FIRST_MOMENT) if isinstance(when, datetime) else when - span / DAY


MAX_WORD_CHARACTERS = 40
MAX_CONTACT_CHARACTERS = 500
MAIL_ADDRESS = re.compile(  # HTML's "valid email address"
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)


class DescriptionChanges(TypedDict, total=False):
    """What a pool says otherwise from now on: None leaves something as it is, an empty text removes it."""

    title: str | None
    contact: str | None
    player_word: str | None
    public: bool | None


@dataclass(frozen=True, slots=True)
class PoolDescription:
    """What a pool says of itself; an empty text where it says nothing."""

    title: str = ""  # instead of its name, on pages
    contact: str = ""  # a mail address, or the address of a page, of whoever corrects results
    player_word: str = ""  # what one player is called: "rider"
    public: bool = False  # whether pages and reads need no key

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        return cls(body["title"], body["contact"], body["player_word"], body["public"])

    @classmethod
    def from_row(cls, row: Any) -> Self:
        return cls(row.title, row.contact, row.player_word, row.is_public)

    def body(self) -> dict[str, Any]:
        return asdict(self)

    def columns(self) -> dict[str, Any]:
        columns = asdict(self)
        return columns | {"is_public": columns.pop("public")}

    def changed(self, **changes: Unpack[DescriptionChanges]) -> Self:
        admitted: dict[str, Any] = {
            name: ADMIT[name](text) if name in ADMIT else text for name, text in changes.items() if text is not None
        }
        return replace(self, **admitted)


SILENT = PoolDescription()  # of a pool that nobody has described


def admit_title(text: str) -> str:
    return admit(text, "title") if normalise(text) else ""


def admit_player_word(text: str) -> str:
    if not normalise(text):
        return ""
    word = admit(text, "player word")
    if len(word) > MAX_WORD_CHARACTERS:
        raise ParameterError(f"player word: has {len(word)} characters; it has up to {MAX_WORD_CHARACTERS}")
    return word


def admit_contact(text: str) -> str:
    contact = normalise(text)
    if len(contact) > MAX_CONTACT_CHARACTERS:
        raise ParameterError(f"contact: has {len(contact)} characters; it has up to {MAX_CONTACT_CHARACTERS}")
    if not contact or MAIL_ADDRESS.fullmatch(contact) or is_page_address(contact):
        return contact
    raise ParameterError(
        f"contact: {shown(contact)} is neither a mail address nor the address of a page; write it like "
        "stewards@example.org or https://example.org/stewards"
    )


ADMIT: dict[str, Callable[[Any], str]] = {
    "title": admit_title, "contact": admit_contact, "player_word": admit_player_word,
}  # fmt: skip


WriteObserver = Callable[[str, float, float], None]  # see `locked_pool`


class OrderKey(NamedTuple):
    """The position of an event, or of a new season, in the order of rating."""

    started_at: int  # microseconds since 1970, UTC
    seq: int  # of the log entry that submitted it


START, FOREVER = OrderKey(-(2**62), 0), OrderKey(2**62, 0)  # before and after every event


@dataclass(frozen=True, slots=True)
class Pool:
    id: int
    name: str
    system: System
    secret: bytes = field(repr=False)  # the key of its digests
    arithmetic: int = ARITHMETIC  # the revision that rated the ledger
    closed: bool = False
    description: PoolDescription = SILENT
    order: Order | None = None  # of its events; None before the first

    @property
    def is_counted(self) -> bool:
        return self.order == COUNTED

    def moment(self, time: int) -> datetime | None:
        """The moment of something, from microseconds since 1970; None in a numbered pool."""
        return None if self.is_counted else instant(time)

    def sequence(self, time: int) -> float | None:
        """The number of something, from microseconds since 1970; None in a dated pool."""
        return number_at(time) if self.is_counted else None

    @property
    def unit_us(self) -> int:
        """The microseconds of a day; of one event in a numbered pool."""
        return NUMBER_US if self.is_counted else DAY_US

    @property
    def is_outdated(self) -> bool:
        """Whether an earlier version's arithmetic rated the pool, so that it waits to be rated again."""
        return self.arithmetic < ARITHMETIC

    def within(self, connection: sa.Connection) -> "PoolView":
        """The pool as another transaction sees it."""
        return PoolView(*self.cells(), connection=connection)

    def cells(self) -> tuple[Any, ...]:
        """Return the values of all fields that a `Pool` has."""
        return tuple(getattr(self, each.name) for each in fields(Pool))


@dataclass(frozen=True, slots=True)
class PoolView(Pool):
    """A pool as a transaction sees it, or writes to it."""

    connection: sa.Connection = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def from_row(cls, connection: sa.Connection, row: Any) -> Self:
        system = system_of(row.system, row.parameters)
        state = row.secret, row.arithmetic, row.closed
        description = PoolDescription.from_row(row)
        return cls(row.id, row.name, system, *state, description, order_in(row.begins), connection=connection)

    def execute(self, select: sa.Executable, *, among: Iterable[str | int] = (), **params: Any) -> Any:
        """Select what a statement says, whose parameter `pool` is this pool.

        Args:
            among: the values of the parameter of that name.
        """
        return self.connection.execute(select, self.known(among) | params)

    def fetch(self, select: sa.Executable, *, among: Iterable[str | int] = (), **params: Any) -> Sequence[Any]:
        """As `execute`, all rows of a statement that a module holds, with values as the driver has them."""
        prepared = prepare(self.connection, select)
        return self.connection.exec_driver_sql(prepared.text, prepared.arguments(self.known(among) | params)).all()

    def run(self, statement: sa.Executable, *, among: Iterable[str | int] = (), **params: Any) -> Sequence[Any]:
        """As `fetch`, in less time, of rows without names; none of a statement that gives none."""
        return run_prepared(self.connection, statement, self.known(among) | params)

    def known(self, among: Iterable[str | int]) -> dict[str, Any]:
        return {"pool": self.id, "among": values(among)}


@functools.cache
def system_of(name: str, parameters: str) -> System:
    return find(name).from_text(json.loads(parameters))


def settings_of(system: System) -> dict[str, Any]:
    parameters = {each.name: getattr(system, each.name) for each in fields(system)}
    return {name: "none" if value is None else value for name, value in parameters.items()}


def order_in(begins: bytes | str | None) -> Order | None:
    """The order that the first bytes of an event or of a configuration say; None if they say none."""
    if isinstance(begins, str):  # a body that was altered to text in SQLite, which `verify` is to report
        begins = begins.encode()
    if begins is None or begins.startswith(b'{"system"'):
        return None
    return COUNTED if begins.startswith((COUNTED_BODY, ORDERED_BODY + COUNTED.encode())) else DATED


BEGINS = sa.select(sa.func.substr(log.c.body, 1, len(ORDERED_BODY + COUNTED.encode()))).limit(1)
CONFIGURATION = BEGINS.where(  # the newest that says an order
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
    row = connection.execute(SELECT_POOL, {"name": name}).first()
    if row is None:
        raise UnknownError(f"there is no pool {name!r}")
    return PoolView.from_row(connection, row)


def every_pool(connection: sa.Connection) -> list[PoolView]:
    return [PoolView.from_row(connection, row) for row in connection.execute(SELECT_POOLS)]


def lock_pool(connection: sa.Connection, name: str) -> PoolView:
    """Wait until this transaction may write to a pool, and return the pool."""
    pool = get_pool(connection, name)
    has_waited = acquire_pool_lock(connection, pool.id)
    return get_pool(connection, name) if has_waited else pool  # its system may be another meanwhile


def ignore_times(_pool_name: str, _waited_s: float, _held_s: float) -> None:
    """Take the times of a transaction that wrote, and do nothing."""


@contextmanager
def locked_pool(engine: sa.Engine, name: str, observe: WriteObserver = ignore_times) -> Iterator[PoolView]:
    """A transaction that has a pool to itself.

    Args:
        observe: gets the pool, the seconds until it was locked, and those after, once the transaction is committed.

    Raises:
        UnavailableError: the database cannot serve at the moment.
    """
    began = time.perf_counter()
    with paused_collection(), write_transaction(engine) as connection:
        pool = lock_pool(connection, name)
        locked = time.perf_counter()
        yield pool
    observe(name, locked - began, time.perf_counter() - locked)


def other_arithmetic(pool: Pool) -> str:
    """A sentence on a pool whose ratings are another version's, and what to do about it; empty for any other pool."""
    if pool.arithmetic == ARITHMETIC:
        return ""
    revisions = (
        f"it was rated with revision {pool.arithmetic} of the arithmetic, this version of Podium has {ARITHMETIC}"
    )
    if pool.is_outdated:
        return f"waits to be rated again: {revisions}; run podium db upgrade (podium serve does the same as it starts)"
    return f"is a newer version's: {revisions}; update Podium"


def refuse_other_arithmetic(pool: Pool) -> None:
    """Refuse to add this version's numbers to ratings of another arithmetic."""
    reason = other_arithmetic(pool)
    if reason:
        raise StoreError(f"pool {pool.name!r} {reason}")


def refuse_closed(pool: Pool) -> None:
    if pool.closed:
        raise StoreError(f"pool {pool.name!r} is closed, and takes nothing more; podium pool reopen opens it again")


def refuse_unwritable(pool: Pool) -> None:
    """Refuse what moves ratings where nothing may."""
    refuse_other_arithmetic(pool)
    refuse_closed(pool)
