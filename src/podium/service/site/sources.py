"""Where pages come from: the public pools of a store, or results of a file."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

import polars as pl
import sqlalchemy as sa

from podium.engine.system import System
from podium.errors import ParameterError
from podium.results.reading import Results
from podium.store import Store
from podium.store.log.log import SUBMIT
from podium.store.sql.database import write_transaction
from podium.store.sql.schema import log

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Received = Mapping[str, Mapping[str, str]]  # when each event of a file was read first, by pool


class Opened(NamedTuple):
    """What is published, all of one moment."""

    view: Store
    pools: Sequence[str]
    received: Received


class Source(Protocol):
    """Where pages come from."""

    def state(self) -> str:
        """All that pages show, in brief; empty where nothing says whether it is still the same."""

    def opened(self, received: Received) -> AbstractContextManager[Opened]:
        """What is published."""


@dataclass(frozen=True, slots=True)
class StoreSource:
    """The public pools of a store, or one of them."""

    url: str
    pool: str | None = None

    def state(self) -> str:
        with self.opened({}) as (view, pools, _):
            days = view.newest_days()
            return repr([(each, view.version(each), days.get(each), view.pool_facts(each)) for each in pools])

    @contextmanager
    def opened(self, received: Received) -> Iterator[Opened]:
        """What is published.

        Raises:
            ParameterError: no pool is public, or the one that is named is not.
        """
        store = Store(self.url, must_exist=True)
        try:
            with store.at_one_moment() as view:
                public = sorted(view.public_pools())
                wanted = public if self.pool is None else [view.pool(self.pool).name]
                if not wanted or not {*wanted} <= {*public}:
                    which = (
                        f"{self.url}: has no public pool" if self.pool is None else f"pool {self.pool} is not public"
                    )
                    name = self.pool or "NAME"
                    raise ParameterError(f"{which}, and pages are for everybody: podium pool describe {name} --public")
                yield Opened(view, wanted, received)
        finally:
            store.close()


@dataclass(frozen=True, slots=True)
class ResultsSource:
    """Results of a file, each pool of theirs rated by a system; one alone may have a title."""

    results: Results
    system: System
    title: str | None = None

    def state(self) -> str:
        if not self.system.shipped:  # the file of somebody's own system may have changed
            return ""
        return repr([self.results.source, self.system.label, self.title, self.results.frame.write_csv()])

    @contextmanager
    def opened(self, received: Received) -> Iterator[Opened]:
        source, frame = Path(self.results.source), self.results.frame
        pools = frame["pool"].unique(maintain_order=True).to_list()
        with tempfile.TemporaryDirectory(prefix="podium-site-") as folder:
            store = Store(f"{folder}/podium.db")
            try:
                for pool in pools:
                    title = (self.title or source.stem) if len(pools) == 1 else pool
                    store.create_pool(pool, self.system, title=title, public=True)
                    rows = frame.filter(pl.col("pool") == pool)
                    store.submit(pool, rows, actor=source.name)
                    newest = rows["started_at"].max() if "started_at" in rows.columns else None
                    store.snapshot(pool, (newest - EPOCH).days if isinstance(newest, datetime) else None)
                first = keep_received(store, received)
                with store.at_one_moment() as view:
                    yield Opened(view, pools, first)
            finally:
                store.close()


def keep_received(store: Store, known: Received) -> Received:
    """Let events have been received when their file was first read, so that their pages stay as they are."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    received = {}
    with write_transaction(store.engine) as connection:
        for pool in store.pools():
            of_pool = log.c.pool_id == pool.id
            events = connection.execute(sa.select(log.c.subject).where(of_pool, log.c.kind == SUBMIT)).scalars()
            received[pool.name] = {event: known.get(pool.name, {}).get(event, now) for event in events}
            is_event = sa.and_(of_pool, log.c.subject == sa.bindparam("event"))
            moments = [{"event": event, "moment": moment} for event, moment in received[pool.name].items()]
            connection.execute(sa.update(log).where(is_event).values(received_at=sa.bindparam("moment")), moments)
    return received
