"""Fields, records and facts match the library's results."""

import statistics
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import polars as pl
import pytest
from extent import in_turn

from podium.analysis.evaluation import evaluate
from podium.analysis.predictions import HeatSelection, predict
from podium.analysis.scores import Window
from podium.errors import UnknownError
from podium.ledger.pair_predictions import ReliabilityBin
from podium.store import Store, pool_facts
from podium.store.pool_facts import fair_expectation
from podium.systems import find
from podium.views.races.records import CorrectedLine

START = datetime(2025, 1, 1, tzinfo=UTC)
PLAYERS = ["ana", "ben", "cleo", "dov", "eva", "fay"]


def race(number, order, **more):
    when = START + timedelta(days=number)
    return [
        {"event_id": f"e{number:02d}", "started_at": when, "player": name, "position": float(place)} | more
        for place, name in enumerate(order, start=1)
    ]


def fill(store, system, events=30):
    store.create_pool("main", system)
    rng = Random(5)  # noqa: S311
    rows = []
    for number in range(events):
        order = sorted(rng.sample(PLAYERS, rng.randint(2, 6)), key=lambda name: PLAYERS.index(name) + rng.gauss(0, 2))
        rows += race(number, order)
    store.submit("main", rows)


def bins_of(reliability):
    return [(round(each.expected, 9), round(each.observed, 9), each.duels) for each in reliability]


def library_bins(results, system, since=None):
    table = evaluate(results, [system], window=Window(since=since)).reliability
    return [(round(row["expected"], 9), round(row["actual"], 9), row["pairs"]) for row in table.iter_rows(named=True)]


@pytest.mark.parametrize(
    ("store", "name"), in_turn(["postgresql", "sqlite"], ["trials", "trueskill"]), indirect=["store"]
)
def test_facts_match_the_library(store, name, monkeypatch):
    system = find(name)()
    fill(store, system)
    monkeypatch.setattr(pool_facts, "WHEN_READ", pool_facts.Effort(events=1_000, players=1))
    facts, rated = store.pool_facts("main"), store.rated("main")
    assert (facts.events, facts.players) == (30, 6)
    assert bins_of(facts.reliability) == library_bins(rated.results, system)
    assert facts.duels * 2 == sum(each.duels for each in facts.reliability)
    assert all(0.0 <= each.lowest <= each.observed <= each.highest <= 1.0 for each in facts.reliability)
    assert [point.expected for point in facts.expected] == sorted(point.expected for point in facts.expected)
    assert {point.gap: point.expected for point in facts.expected}[0.0] == 0.5
    assert facts.expected[-1].expected > 0.95
    monkeypatch.setattr(pool_facts, "WHEN_READ", pool_facts.Effort(events=10, players=6))
    newest = Store(str(store.engine.url.render_as_string(hide_password=False)))
    fewer = newest.pool_facts("main")  # the newest ten events, with the ratings before each
    newest.close()
    assert fewer.events == 10
    assert bins_of(fewer.reliability) == library_bins(rated.results, system, START + timedelta(days=20))
    for point in fewer.weights[::4]:
        largest = []
        for player in PLAYERS:
            events = rated.history.filter(pl.col("player") == player)["event_id"].to_list()
            if len(events) >= point.event_number:
                rows = rated.explain(events[point.event_number - 1], player).rows.filter(
                    pl.col("opponent").is_not_null()
                )
                largest.append(rows["contribution"].abs().max())
        assert point.players == len(largest)
        assert point.points == pytest.approx(statistics.median(largest), abs=1e-9)
    assert [point.event_number for point in fewer.weights][:6] == [1, 2, 3, 4, 5, 6]


def test_facts_leave_out_slow_calculations(tmp_path, monkeypatch):
    """Large fields add no duels and no weights, and only a limited number of new changes is read."""
    with closing(Store(str(tmp_path / "podium.db"))) as store:
        fill(store, find("elo")())
        sizes = [len(store.event("main", f"e{number:02d}").changes) for number in range(30)]
        monkeypatch.setattr(pool_facts, "LARGE_FIELD", 4)
        found = store.pool_facts("main")
        assert found.duels == sum(size * (size - 1) // 2 for size in sizes if size <= 4)
        assert any(size > 4 for size in sizes[:3])
        rated = store.rated("main")  # all events in one pass
        chosen = HeatSelection(np.diff(rated.events.columns.entrants) <= 4)
        bins = predict(rated.system, rated.events, chosen, rated.replayed).bins
        assert bins_of(found.reliability) == bins_of(pool_facts.reliability(bins))
        assert found.weights[0].players < 5
        monkeypatch.setattr(pool_facts, "WHEN_READ", pool_facts.Effort(events=1_000, players=1, rows=sum(sizes[-3:])))
    with closing(Store(str(tmp_path / "podium.db"))) as store:
        assert store.pool_facts("main").events == 3
        monkeypatch.setattr(pool_facts, "WHEN_READ", pool_facts.Effort(events=1_000, players=1, rows=1))
    with closing(Store(str(tmp_path / "podium.db"))) as store:
        assert store.pool_facts("main").events == 0


def test_facts_are_stored_for_a_day_or_until_the_pool_changes(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    assert sqlite_store.pool_facts("main").events == 0
    assert sqlite_store.keep_facts("main")
    sqlite_store.submit("main", race(0, PLAYERS))
    before = sqlite_store.pool_facts("main")
    assert before.events == 1  # the pool has grown by more than a tenth
    assert not sqlite_store.keep_facts("main")  # once a day
    sqlite_store.configure("main", find("elo")(k=50.0))
    assert sqlite_store.pool_facts("main").weights[0].points == pytest.approx(
        before.weights[0].points * 50.0 / find("elo")().k
    )
    assert sqlite_store.keep_facts("main")
    assert sqlite_store.pool_facts("main").weights[0].players == 6  # a calculation on reading would need more players
    sqlite_store.close_pool("main")
    sqlite_store.delete_pool("main")
    sqlite_store.create_pool("main", find("elo")(k=50.0))  # the new pool reuses the old number
    assert sqlite_store.pool_facts("main").events == 0


def test_after_a_full_reset_each_player_is_expected_to_win_half(sqlite_store):
    """The expected results come from the ledger, not from a replay without seasons."""
    sqlite_store.create_pool("main", find("elo")())
    sqlite_store.submit("main", race(0, ["ana", "ben"]) + race(1, ["ana", "ben"]) + race(9, ["ana", "ben"]))
    sqlite_store.submit("main", race(12, ["ben", "ana"], ranked=False))
    sqlite_store.begin_season("main", "spring", START + timedelta(days=5), keep=0.0)
    lead = 2.0 * sqlite_store.event("main", "e00").changes[0].delta
    (even,) = [each for each in sqlite_store.pool_facts("main").reliability if each.expected >= 0.5]
    assert (even.duels, even.observed) == (5, 0.6)  # both players in e00 and e09, and the favourite in e01
    assert even.expected * 5 == pytest.approx(2.0 + 1.0 / (1.0 + 10.0 ** (-lead / 400.0)))
    assert sqlite_store.pool_facts("main").events == 3


def test_fair_expectations_follow_the_reliability_of_predictions(sqlite_store):
    fill(sqlite_store, find("elo")())
    explanation = sqlite_store.explain("main", "e29", sqlite_store.event("main", "e29").changes[0].player)
    expected = explanation.duels.expected
    facts = sqlite_store.pool_facts("main")
    assert fair_expectation(facts, explanation).fair is None  # too few duels
    assert fair_expectation(replace(facts, reliability=()), explanation).fair is None
    chances = [0.05 + 0.1 * k for k in range(10)]
    right = tuple(ReliabilityBin(chance, chance, 0.0, 1.0, 100) for chance in chances)
    same = fair_expectation(replace(facts, reliability=right), explanation)
    assert same.fair == pytest.approx(expected)
    assert same.expected == pytest.approx(expected)
    less = tuple(replace(each, observed=each.expected + 0.2 * (0.5 - each.expected)) for each in right)
    corrected = fair_expectation(replace(facts, reliability=less), explanation)
    chances_of_duels = explanation.rows["expected"].to_list()
    assert all(0.05 < chance < 0.95 for chance in chances_of_duels)
    assert corrected.fair == pytest.approx(sum(chance + 0.2 * (0.5 - chance) for chance in chances_of_duels))
    assert corrected.example in less
    few = tuple(replace(each, duels=99) for each in right)
    assert fair_expectation(replace(facts, reliability=few), explanation).fair is None
    assert sqlite_store.fair_expectation("main", "e29", explanation.player).duels == len(chances_of_duels)


def test_a_field_has_a_mean_rating_and_performances(store):
    fill(store, find("elo")(), events=5)
    store.rename("main", "ana", "anna")
    store.submit("main", race(7, ["anna", "ben", "cleo"]))
    details, field = store.event("main", "e07"), store.event_field("main", "e07")
    before = {each.player: each.rating_before for each in details.changes}
    assert field.players == 3
    assert field.mean_rating == pytest.approx(sum(before.values()) / 3)
    by_name = {each.player: each for each in field.performances}
    assert {name: each.bound for name, each in by_name.items()} == {"anna": "at least", "ben": None, "cleo": "at most"}
    expected = [
        1.0 / (1.0 + 10.0 ** ((before[name] - by_name["ben"].performance) / 400.0)) for name in ("anna", "cleo")
    ]
    assert sum(expected) == pytest.approx(1.0, abs=1e-7)
    store.submit("main", race(8, ["ana", "ben"], ranked=False))
    with pytest.raises(UnknownError, match="not rated"):
        store.event_field("main", "e08")


def test_a_record_shows_the_lines_that_corrections_changed(store):
    store.create_pool("main", find("elo")())
    heats = [
        {"event_id": "e1", "started_at": START, "player": name, "heat": f"{heat}", "score": score}
        for heat in (1, 2)
        for name, score in (("ana", 30.0), ("ben", 20.5))
    ]
    heats[2] = heats[2] | {"score": None, "status": "quit"}
    store.submit("main", heats, actor="race server")
    store.submit("main", race(1, ["ana", "ben"]))
    right = [dict(row) for row in heats]
    right[2] |= {"score": 12.25, "status": "finished"}
    right[1]["score"] = 21.0
    store.amend("main", [*right, heats[0] | {"player": "cleo", "score": 1.0}], actor="Kim", reason="the log of lap 3")
    later = [row | {"started_at": START + timedelta(hours=1), "ranked": False} for row in right]
    store.amend("main", later)
    store.void("main", "e1", reason="a wrong name: cleo")
    store.unvoid("main", "e1")
    store.rename("main", "ben", "benno")
    record = store.event_record("main", "e1")
    assert [each.kind for each in record] == ["submit", "amend", "amend", "void", "unvoid"]
    assert [each.actor for each in record][:2] == ["race server", "Kim"]
    assert [each.reason for each in record] == [None, "the log of lap 3", None, "a wrong name: cleo", None]
    assert record[0].lines == record[3].lines == record[4].lines == ()
    assert (record[0].events, record[0].largest) == (None, None)
    assert (record[1].events, record[1].players) == (2, 3)
    assert record[1].lines == (
        CorrectedLine("1", "benno", "score 20.5", "score 21"),
        CorrectedLine("2", "ana", "quit", "score 12.25"),
        CorrectedLine("1", "cleo", None, "score 1"),
    )
    assert record[2].lines == (
        CorrectedLine(
            None, None, "start 2025-01-01T00:00:00+00:00, ranked", "start 2025-01-01T01:00:00+00:00, unranked"
        ),
        CorrectedLine("1", "cleo", "score 1", None),
    )
    store.anonymize("main", "cleo")
    after = store.event_record("main", "e1")
    assert after[3].reason is None  # blanked along with the name
    assert after[2].lines[1].player not in ("cleo", None)
    assert len(store.event_record("main", "e01")) == 1
    with pytest.raises(UnknownError):
        store.event_record("main", "e2")
