"""Reasons added up over several events: every point counts once, by kind, as shown."""

import json
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from unittest import mock

import pytest
from extent import times
from races import calling, rows

import podium
from podium.cli import main
from podium.cli.demo import season_path
from podium.engine.system import measure_scale
from podium.ledger.reasons.totals import BEAT_QUITTERS, DRAWN, KINDS, LABELS, LOST, QUIT, SEASON, WON, divide_change
from podium.support.words import shown, shown_change
from podium.systems import find, names

POOLS, ENTRANTS, EVENTS = times(2, 10), times(6, 200), times(14, 300)
PLAYERS = [f"player {number}" for number in range(ENTRANTS)]
FIRST_DAY = date(2025, 1, 1)
CHOSEN = ("-s", "trials", "-p", "Dragana", "--pool", "bikes", "--last", "5")


def random_results(seed, events=EVENTS):
    """Return events of two heats with quits and ties, with all columns that any system needs."""
    draw = random.Random(seed)  # noqa: S311  (it need not be secret)
    table = []
    for number in range(events):
        field = draw.sample(PLAYERS, draw.randint(2, 6))
        for heat in ("1", "2"):
            for player in field:
                quits = draw.random() < 0.2
                result = {} if quits else {"time_s": draw.choice([60.0, 61.5, 90.0]), "score": draw.randint(0, 9)}
                table.append(
                    {
                        "event_id": f"e{number}",
                        "started_at": str(FIRST_DAY + timedelta(days=number)),
                        "heat": heat,
                        "player": player,
                    }
                    | {"status": "quit" if quits else "finished", "played_s": 300.0, "duration_s": 600.0}
                    | result
                )
    return table


@pytest.mark.parametrize("name", names())
def test_points_by_kind_add_up_to_the_exact_and_the_shown_change(name):
    for seed in range(1, POOLS + 1):
        rated = podium.rate(random_results(seed), name)
        for player in rated.ratings["player"]:
            totals = rated.reasons(player, last=10)
            deltas = rated.history.filter(player=player)["delta"].tail(10)
            assert totals.change == pytest.approx(deltas.sum(), abs=1e-8)
            assert sum(each.points for each in totals.reasons) == pytest.approx(totals.change, abs=1e-8)
            assert sum(Decimal(str(each.shown)) for each in totals.reasons) == Decimal(str(totals.shown))
            ends = rated.history.filter(player=player).tail(10).select("rating_before", "rating").rows()
            displayed = sum((shown_change(*both, rated.system.digits) for both in ends), Decimal(0))
            assert Decimal(str(totals.shown)) == shown(float(displayed), 1)
            assert totals.events == deltas.len()


def test_each_kind_contains_its_own_duels():
    table = [
        {"event_id": "e1", "player": "a", "position": 1}, {"event_id": "e1", "player": "b", "position": 2},
        {"event_id": "e2", "player": "a", "position": 1}, {"event_id": "e2", "player": "b", "position": 1},
        {"event_id": "e3", "player": "a", "position": 2}, {"event_id": "e3", "player": "b", "position": 1},
        {"event_id": "e4", "player": "a", "status": "quit"}, {"event_id": "e4", "player": "b", "position": 1},
        {"event_id": "e5", "player": "a", "position": 1}, {"event_id": "e5", "player": "b", "status": "quit"},
    ]  # fmt: skip
    rated = podium.rate(table, "elo")
    totals = rated.reasons("a")
    kinds = {each.reason: (each.events, each.count) for each in totals.reasons}
    assert kinds == {
        WON: (("e1",), 1), DRAWN: (("e2",), 1), LOST: (("e3",), 1), BEAT_QUITTERS: (("e5",), 1), QUIT: (("e4",), 1)
    }  # fmt: skip
    deltas = dict(rated.history.filter(player="a").select("event_id", "delta").iter_rows())
    assert {each.events[0]: each.points for each in totals.reasons} == pytest.approx(deltas)
    assert totals.won == 2
    assert [each.events for each in rated.reasons("a", last=1).reasons] == [("e5",)]


def test_the_summary_names_the_main_reason():
    season = podium.rate(season_path(), "trials")
    totals = season.reasons("Dragana", pool="bikes")
    assert totals.summary == "Dragana won 7 of the last 10 events and still lost 86.0 points: quitting cost 81.2."
    one = podium.rate(rows(1, "ab"), "elo").reasons("b")
    assert one.summary == "b won 0 of the last 1 event and lost 12.0 points."


def test_invalid_counts_and_unknown_players_are_rejected():
    rated = podium.rate(rows(1, "ab"), "elo")
    with pytest.raises(podium.ParameterError, match="last is 0"):
        rated.reasons("a", last=0)
    with pytest.raises(podium.UnknownError, match="'nobody' is not rated"):
        rated.reasons("nobody")


def test_the_service_gives_the_same_reasons_and_counts_seasons(store):
    store.create_pool("main", find("elo")())
    table = [row for number in range(1, 6) for row in rows(number, "abc" if number % 2 else "bca")]
    store.submit("main", table)
    in_file = podium.rate(table, "elo").reasons("b", last=3)
    with calling(store, role="read") as client:
        assert client.get("/api/v1/pools/main/players/b/reasons?events=3").json()["reasons"] == [
            {"reason": each.reason, "points": each.points, "shown": each.shown, "count": each.count}
            | {"events": [*each.events]}
            for each in in_file.reasons
        ]
        assert client.get("/api/v1/pools/main/players/nobody/reasons").status_code == 404
    store.begin_season("main", "2026", datetime(2025, 1, 1, 0, 4, 30, tzinfo=UTC), keep=0.5)
    with_season = store.reasons("main", "b", 3)
    whole = store.player("main", "b").history
    assert SEASON in {each.reason for each in with_season.reasons}
    assert with_season.change == pytest.approx(whole[0].rating - whole[3].rating_before, abs=1e-9)
    assert Decimal(str(with_season.shown)) == shown_change(whole[3].rating_before, whole[0].rating, 1)
    (season,) = [each.shown for each in with_season.reasons if each.reason == SEASON]
    assert season in [change.shown for change in store.player_changes("main", "b").rows if change.event_id is None]


def test_a_later_event_leaves_earlier_reasons_in_the_cache_and_a_correction_does_not(store):
    store.create_pool("main", find("elo")())
    orders = ["abc", "bca", "cab", "bac"]
    store.submit("main", [row for number, order in enumerate(orders, 1) for row in rows(number, order)])
    with mock.patch("podium.views.events.divide_change", wraps=divide_change) as divide:
        for change, number, order, divided in (
            (store.submit, 4, "bac", 4), (store.submit, 5, "cba", 1), (store.amend, 1, "cba", 5)
        ):  # fmt: skip
            change("main", rows(number, order))
            divide.reset_mock()
            found = store.reasons("main", "b")
            assert divide.call_count == divided
            assert found == store.reasons("main", "b")
    orders = ["cba", *orders[1:], "cba"]
    table = [row for number, order in enumerate(orders, 1) for row in rows(number, order)]
    assert found == podium.rate(table, "elo").reasons("b")


def test_the_command_prints_and_writes_reasons(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["podium", "explain", str(season_path()), *CHOSEN])
    with pytest.raises(SystemExit) as end:
        main()
    text = capsys.readouterr().out
    assert not end.value.code
    lines = text.splitlines()
    assert lines[0].startswith("Dragana won ")
    assert max(map(len, lines[1:])) <= 80
    assert any(line.startswith("  Duels won ") and "+" in line for line in lines)
    assert lines[-1].startswith("  5 events")
    monkeypatch.setattr("sys.argv", ["podium", "explain", str(season_path()), *CHOSEN, "-f", "json"])
    with pytest.raises(SystemExit):
        main()
    assert json.loads(capsys.readouterr().out)["events"] == 5


def test_every_kind_of_reason_has_a_label():
    assert tuple(LABELS) == KINDS


def test_a_systems_scale_does_not_depend_on_earlier_calls():
    system = find("adaptive")()
    bound = system.within([0.9 * number for number in system.new_pool()])
    scales = []
    for first, second in ((system, bound), (bound, system)):
        measure_scale.cache_clear()
        scales += [first.points_per_logit, second.points_per_logit]
    assert len(set(scales)) == 1
