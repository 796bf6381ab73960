"""Rows that are written many at once: as if one by one, and all of a transaction or none."""

import pytest
import sqlalchemy as sa
from races import rows as race

from podium.log.database import write_transaction
from podium.log.schema import rank_count
from podium.log.statements import STATEMENT_ROWS, insert, upsert
from podium.store.writing.rating.rerating import Rerated
from podium.systems import find

GENERATION = 77
ROWS = [(GENERATION, 1, bucket, bucket % 5, bucket % 3) for bucket in range(2 * STATEMENT_ROWS + 7)]


def counts(store):
    select = sa.select(rank_count).where(rank_count.c.generation_id == GENERATION).order_by(rank_count.c.bucket)
    with store.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(select)]


@pytest.mark.parametrize("size", [0, 1, STATEMENT_ROWS - 1, STATEMENT_ROWS, STATEMENT_ROWS + 1, len(ROWS)])
def test_as_many_rows_are_written_as_there_are(size, store):
    with write_transaction(store.engine) as connection:
        insert(connection, rank_count, ROWS[:size])
    assert counts(store) == ROWS[:size]


def test_rows_with_keys_that_are_there_replace_others(store):
    more = [(GENERATION, 1, bucket, 10, 20) for bucket in range(5, 3 * STATEMENT_ROWS)]
    with write_transaction(store.engine) as connection:
        insert(connection, rank_count, ROWS)
        upsert(connection, rank_count, more)
    assert counts(store) == ROWS[:5] + more


def test_a_row_that_is_refused_leaves_nothing_of_its_transaction(store):
    twice = [*ROWS[: STATEMENT_ROWS + 50], ROWS[STATEMENT_ROWS], *ROWS[STATEMENT_ROWS + 50 :]]
    with pytest.raises(sa.exc.IntegrityError), write_transaction(store.engine) as connection:
        insert(connection, rank_count, twice)
    assert counts(store) == []


def test_the_events_that_are_answered_are_gone_through_as_often_however_many_come(store, monkeypatch):
    """Once for each event would take hours of a season that is sent at once."""
    passes = []

    class Keys(dict):
        def __iter__(self):
            passes.append(len(self))
            return super().__iter__()

    of_span = Rerated.of_span.__func__
    monkeypatch.setattr(Rerated, "of_span", classmethod(lambda cls, wanted, span: of_span(cls, Keys(wanted), span)))
    store.create_pool("main", find("elo")())
    for first, count in ((0, 3), (3, 30)):
        store.submit("main", [row for number in range(first, first + count) for row in race(number, "abcd")])
    assert passes
    assert passes.count(3) == passes.count(30)
