"""Names stored before normalization existed can still be addressed."""

import unicodedata
from contextlib import contextmanager
from unittest import mock

import pytest
from races import rows

from podium.errors import ResultsError
from podium.log import players
from podium.results import columns
from podium.store.writing.submission import ConflictError
from podium.systems import find

LATER = unicodedata.normalize("NFD", "Pérez")
HIDDEN = "a\u200bb"


@contextmanager
def without_normalization():
    """Accept names unchanged, as before normalization."""
    with (
        mock.patch.object(columns, "normalise_column", lambda column: (column, {})),
        mock.patch.dict(columns.SPELLINGS, clear=True),
        mock.patch.object(players, "normalise", lambda name: name),
    ):
        yield


@pytest.fixture
def earlier(store):
    """Return a pool from before normalization: two forms of one name, spaces and invisible characters."""
    with without_normalization():
        store.create_pool("main", find("elo")())
        store.submit("main", rows(1, ["Pérez", "ben"]))
        store.submit("main", rows(2, [LATER, " cy "], mode="Time-Trial"))
        store.submit("main", rows(3, ["ben", HIDDEN]))
        store.submit("main", rows(4, [LATER, "ben"]))
    return store


def test_results_with_old_names_are_still_repeats(earlier):
    version = earlier.version("main")
    for sent in (
        rows(1, ["Pérez", "ben"]),
        rows(2, [LATER, " cy "], mode="Time-Trial"),
        rows(3, ["ben", HIDDEN]),
        rows(4, [LATER, "ben"]),
    ):
        (receipt,) = earlier.submit("main", sent)
        assert receipt.duplicate
    assert earlier.version("main") == version
    with pytest.raises(ConflictError):
        earlier.submit("main", rows(3, [HIDDEN, "ben"]))


def test_a_repeat_is_recognised_by_player_numbers(store):
    store.create_pool("main", find("elo")())
    store.register("main", "m", ["ana", "José", "cleo"])
    sent = rows(1, ["ana", "José"])
    store.submit("main", sent, match_ids={"e1": "m"})
    store.rename("main", "ana", "anna")
    for order in (["ana", "José"], ["anna", "José"], ["anna", "Jose\u0301"], [" ana", "José\u2003"]):
        (receipt,) = store.submit("main", rows(1, order), match_ids={"e1": "m"})
        assert receipt.duplicate
    for order in (["José", "anna"], ["anna"], ["anna", "José", "cleo"], ["anna", "ben"]):
        with pytest.raises(ConflictError):
            store.submit("main", rows(1, order), match_ids={"e1": "m"})
    assert len(store.log("main")) == 4


def test_an_old_invalid_name_can_still_be_addressed(earlier):
    assert earlier.rank("main", HIDDEN).player == HIDDEN
    assert earlier.predict("main", [HIDDEN, "ben"]).entrants.height == 2
    assert earlier.explain("main", "e3", HIDDEN).player == HIDDEN
    (receipt,) = earlier.submit("main", rows(5, [HIDDEN, "ben"]))
    assert [each.player for each in receipt.changes] == [HIDDEN, "ben"]
    earlier.amend("main", rows(5, ["ben", HIDDEN]))
    earlier.rename("main", HIDDEN, "ab")
    assert earlier.rank("main", "ab").events == 2
    (receipt,) = earlier.submit("main", rows(5, ["ben", HIDDEN]))
    assert receipt.duplicate
    assert earlier.verify() == []


def test_a_name_with_a_null_character_is_rejected(store):
    store.create_pool("main", find("elo")())
    with pytest.raises(ResultsError, match="player"):
        store.submit("main", rows(1, ["a\0b", "ben"]))
