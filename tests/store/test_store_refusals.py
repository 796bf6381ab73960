"""Errors of the store."""

from datetime import UTC, datetime

import pytest
from races import rows

from podium.errors import PodiumError
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

SOON = datetime(2199, 1, 1, tzinfo=UTC)
MANY = [f"p{number}" for number in range(2_001)]


@pytest.fixture
def filled(tmp_path):
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool("main", find("elo")())
    for number in range(4):
        store.submit("main", rows(number, "abc"))
    yield store
    store.close()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda store: create_key(store.engine, "x", "root"), "role 'root' does not exist. Use one of"),
        (lambda store: create_key(store.engine, "x", "read", backdating_limit_s=0.0), "A backdating limit of 0.0 s"),
        (lambda store: store.create_pool("x", find("elo")(), contact="x" * 999), "contact: has 999 characters. Use at"),
        (lambda store: store.plan_fixture("main", "gp", starts_at=SOON, entrants=MANY), "entrants: 2,001 are too"),
        (lambda store: store.configure("main", find("adaptive")(shared="team")), "shared=team works only for files"),
    ],
)  # fmt: skip
def test_impossible_requests_have_clear_errors(act, message, filled):
    with pytest.raises(PodiumError, match=message):
        act(filled)
    assert filled.verify() == []
