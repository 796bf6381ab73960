"""Hindsight in a store matches the library, is calculated once a day with current names, and changes no rating."""

import numpy as np
import polars as pl
import pytest
from races import rows

import podium
from podium.errors import UnknownError
from podium.store import hindsight
from podium.systems import find


def fill(store, system="adaptive", events=40):
    store.create_pool("main", find(system)())
    store.submit("main", podium.simulate(players=8, events=events, entrants=4, seed=5).results)


def test_stored_hindsight_matches_the_library(store):
    fill(store)
    with pytest.raises(UnknownError, match="once a day, and has not been calculated yet"):
        store.best_ever("main")
    assert store.hindsight_curve("main", store.leaderboard("main").players[0].player) == ()
    before = store.history("main")
    assert store.keep_hindsight("main")
    hindsight = podium.rate(store.results("main"), "adaptive").hindsight()
    best = store.best_ever("main").players
    established = {row.player for row in store.leaderboard("main").players if not row.provisional}
    peaks = hindsight.best().filter(pl.col("player").is_in(established))
    assert [each.player for each in best] == peaks["player"].to_list()
    for field in ("rating", "ahead", "deviation"):
        assert [getattr(each, field) for each in best] == pytest.approx(peaks[field].to_list())
    assert [each.above_next is None for each in best] == [False] * (len(best) - 1) + [True]
    mine = hindsight.frame.filter(player=best[0].player)
    curve = store.hindsight_curve("main", best[0].player)
    assert [each.rating for each in curve] == pytest.approx(mine["rating"].to_list())
    assert [each.started_at for each in curve] == mine["at"].to_list()
    assert store.hindsight_curve("main", best[0].player, curve[5].started_at) == curve[5:]
    assert store.history("main").equals(before)
    assert store.verify() == []


def test_hindsight_is_due_once_a_day_after_changes(store, monkeypatch):
    fill(store)
    assert store.keep_hindsight("main")
    assert not store.keep_hindsight("main")
    monkeypatch.setattr(hindsight, "today", lambda: 30_000)
    assert not store.keep_hindsight("main")
    first = store.best_ever("main").players[0].player
    store.rename("main", first, "Zoë")
    assert store.best_ever("main").players[0].player == "Zoë"
    other = store.best_ever("main").players[1].player
    for number in range(30):
        store.submit("main", rows(number, ["Nova", other]))
    assert store.keep_hindsight("main")
    assert "Nova" in {each.player for each in store.best_ever("main").players}
    store.merge("main", "Nova", "Zoë")
    assert "Nova" not in {each.player for each in store.best_ever("main").players}
    store.configure("main", find("adaptive")(growth=False))
    assert store.hindsight_curve("main", "Zoë") == ()  # another system has rated since
    assert store.keep_hindsight("main")
    store.close_pool("main")
    store.delete_pool("main")
    assert store.verify() == []


def test_a_replaced_pool_does_not_get_the_old_hindsight(store, monkeypatch):
    fill(store)
    look_back = hindsight.look_back

    def replaced(pool, table):
        store.close_pool("main")
        store.delete_pool("main")
        fill(store, events=2)
        return look_back(pool, table)

    with monkeypatch.context() as patch:
        patch.setattr(hindsight, "look_back", replaced)
        assert not store.keep_hindsight("main")
    assert store.hindsight_day("main") is None
    assert store.keep_hindsight("main")


def test_hindsight_works_with_seasons_and_without_dates(store):
    store.create_pool("main", find("adaptive")(), order="sequence")
    dice = np.random.default_rng(2)
    for number in range(30):
        order = dice.permutation(6)[:3].tolist()
        rows = [{"event_id": f"e{number}", "player": f"p{k}", "position": 1 + i} for i, k in enumerate(order)]
        store.submit("main", rows)
    store.begin_season("main", "second", 15, keep=0.5)
    assert store.keep_hindsight("main")
    curve = store.hindsight_curve("main", store.leaderboard("main").players[0].player)
    assert [each.sequence for each in curve] == sorted(each.sequence for each in curve)
    assert np.isfinite([each.rating for each in curve]).all()


def test_missing_hindsight_is_explained(store, monkeypatch):
    fill(store, "glicko2", 5)
    assert not store.keep_hindsight("main")
    with pytest.raises(UnknownError, match=r"hindsight is for adaptive and .* glicko2 has none"):
        store.best_ever("main")
    store.create_pool("empty", find("adaptive")())
    assert store.keep_hindsight("empty")
    assert store.best_ever("empty").players == ()
    monkeypatch.setattr(hindsight, "MAX_PAIRS", 3)
    store.configure("main", find("adaptive")())
    assert store.keep_hindsight("main")
    with pytest.raises(UnknownError, match="3 pairs of them; there are more here"):
        store.best_ever("main")
