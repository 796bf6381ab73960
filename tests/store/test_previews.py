"""A preview of an act matches the act."""

import shutil
from contextlib import closing
from datetime import timedelta

import pytest
from races import START, ratings, rows

import podium
from podium.store import Store
from podium.store.writing import accounts, administration, sheet_corrections, sheets, submission
from podium.store.writing.proposals import Sheet, StaleError
from podium.systems import find
from podium.views.player_models import Listing

NAMES = "abcdefg"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return a database with a merge and a voided event."""
    path = tmp_path_factory.mktemp("previews") / "podium.db"
    store = Store(str(path))
    store.create_pool("main", find("trials")())
    events = [rows(n, [NAMES[(3 * n + k * (1 + n % 3)) % 7] for k in range(5)]) for n in range(12)]
    store.submit("main", [row for event in events for row in event])
    store.submit("main", rows(20, "hi"))
    store.void("main", "e3")
    store.merge("main", "h", "b")
    store.close()
    return path


@pytest.fixture
def store(filled, tmp_path):
    with closing(Store(str(shutil.copy(filled, tmp_path)))) as opened:
        yield opened


ACTS = {
    "submit": sheets.submit([*rows(31, "gx", minute=6.5), *rows(30, "ya")]),
    "amend": submission.amend(rows(7, "gfez")),
    "sheet": sheet_corrections.amend_sheet([*rows(7, "gfez"), *rows(31, "gx", minute=6.5)], Sheet("sheet.csv")),
    "void": submission.void("e5"),
    "unvoid": submission.unvoid("e3"),
    "merge": accounts.merge("i", "a"),
    "unmerge": accounts.unmerge("h"),
    "season": administration.begin_season("new", START + timedelta(minutes=8), 0.5),
    "configure": administration.configure(find("glicko2")()),
}


def established_ranks(store):
    page = store.leaderboard("main", Listing(None, None, False), top=100)
    return {row.player: row.rank for row in page.players}


@pytest.mark.parametrize("name", ACTS)
def test_a_preview_matches_the_stored_change(name, store):
    before, ranks_before = ratings(store), established_ranks(store)
    preview = store.preview("main", ACTS[name])
    assert (ratings(store), preview.version) == (before, store.version("main"))  # the preview stores nothing
    store.run("main", ACTS[name], version=preview.version, actor="ana", reason="a reason")
    after, ranks = ratings(store), established_ranks(store)
    moved = {each.player for each in preview.ratings}
    assert moved == {each for each in before | after if before.get(each) != after.get(each)}
    for each in preview.ratings:
        assert (each.before, each.after) == (before.get(each.player), after.get(each.player))
        assert (each.rank_before, each.rank_after) == (ranks_before.get(each.player), ranks.get(each.player))
    assert not preview.is_repeat
    assert sum(each.changes for each in preview.events) == preview.totals.changes > 0
    assert store.verify() == []
    again = store.preview("main", ACTS[name])
    assert again.is_repeat or name == "configure"
    assert again.ratings == ()


def test_a_previewed_act_fails_after_another_change(store):
    seen = store.preview("main", ACTS["amend"]).version
    store.submit("main", rows(40, "ab"))
    before = store.version("main"), ratings(store)
    with pytest.raises(StaleError, match="has changed since the preview"):
        store.run("main", ACTS["amend"], version=seen)
    assert (store.version("main"), ratings(store)) == before


def test_a_preview_shows_the_error_of_the_act(store):
    with pytest.raises(podium.UnknownError):
        store.preview("main", submission.void("none"))
    with pytest.raises(podium.ResultsError):
        store.preview("main", accounts.merge("a", "b"))
    with pytest.raises(podium.ParameterError):
        store.preview("main", administration.begin_season("", START, 0.5))
    (line,) = [each for each in store.preview("main", ACTS["amend"]).lines if each.player == "z"]
    assert (line.before, line.after) == (None, "place 4")
