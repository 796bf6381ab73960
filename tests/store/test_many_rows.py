"""Bulk writes give the same rows as single writes, and a transaction writes all or none."""

import pytest
import sqlalchemy as sa

from podium.log.database import write_transaction
from podium.log.schema import witness
from podium.log.statements import STATEMENT_ROWS, insert, upsert
from podium.systems import find

ROWS = [(1, number, bytes([number % 5])) for number in range(2 * STATEMENT_ROWS + 7)]


@pytest.fixture
def store(store):
    store.create_pool("main", find("elo")())
    assert store.pool("main").id == ROWS[0][0]
    return store


def stored(store):
    with store.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.select(witness).order_by(witness.c.part))]


@pytest.mark.parametrize("size", [0, 1, STATEMENT_ROWS - 1, STATEMENT_ROWS, STATEMENT_ROWS + 1, len(ROWS)])
def test_any_number_of_rows_is_written(size, store):
    with write_transaction(store.engine) as connection:
        insert(connection, witness, ROWS[:size])
    assert stored(store) == ROWS[:size]


def test_rows_with_existing_keys_replace_the_old_rows(store):
    more = [(1, number, b"other") for number in range(5, 3 * STATEMENT_ROWS)]
    with write_transaction(store.engine) as connection:
        insert(connection, witness, ROWS)
        upsert(connection, witness, more)
    assert stored(store) == ROWS[:5] + more


def test_a_rejected_row_undoes_its_transaction(store):
    twice = [*ROWS[: STATEMENT_ROWS + 50], ROWS[STATEMENT_ROWS], *ROWS[STATEMENT_ROWS + 50 :]]
    with pytest.raises(sa.exc.IntegrityError), write_transaction(store.engine) as connection:
        insert(connection, witness, twice)
    assert stored(store) == []
