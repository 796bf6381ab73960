"""What a player is told of a change: to so many digits as the system's scale needs."""

import re

import polars as pl
import pytest

import podium
from podium.ledger.wording import explain_in_words
from podium.systems import find, names

TEXTS = ("opponent", "heat", "cause")
ROW = dict.fromkeys(TEXTS, pl.String) | {"result": pl.Float64, "contribution": pl.Float64}
PLAYED = {"played_s": 600.0, "duration_s": 600.0}


def duels(upsets):
    return [
        {"event_id": f"{number:03}", "player": player, "position": place}
        | {"time_s": 60.0 + place, "score": 3.0 - place}
        | PLAYED
        for number in range(60)
        for place, player in enumerate(("ben", "ana") if number in upsets else ("ana", "ben"), start=1)
    ]


@pytest.mark.parametrize("name", names())
def test_the_last_digit_is_worth_no_more_than_elos(name):
    system = find(name)()
    assert 10.0**-system.digits / system.points_per_logit <= 1.13 * 0.1 / find("elo")().points_per_logit
    assert system.digits == {"trueskill": 3, "xonstat": 1, "stk": 1}.get(name, 3 if name.startswith("open") else 1)


@pytest.mark.parametrize("name", names())
def test_nothing_that_is_shown_is_called_kept(name):
    rated = podium.rate(duels(range(0, 60, 7)), name)
    for event_id, player, delta in rated.history.select("event_id", "player", "delta").tail(20).iter_rows():
        words = rated.explain(event_id, player).summary
        assert ("kept your rating" in words) == (round(delta, rated.system.digits) == 0.0), words
        found = re.search(r"(gained|lost) ([0-9.]+) points", words)
        if found:
            assert float(found[2]) == round(abs(delta), rated.system.digits)
            assert (found[1] == "gained") == (delta > 0)


def test_a_change_of_a_small_scale_is_not_called_kept():
    """Of TrueSkill's changes in a long history of tennis 16 % were."""
    rated = podium.rate(duels(()), "trueskill")
    small = rated.history.filter(pl.col("delta").abs().is_between(0.001, 0.05))
    assert small.height > 0
    for event_id, player in small.select("event_id", "player").iter_rows():
        assert "kept" not in rated.explain(event_id, player).summary


@pytest.mark.parametrize(
    ("digits", "delta", "gap", "words"),
    [
        (1, 0.04, 0.4, "kept your rating"),
        (1, 0.06, 0.6, "gained 0.1 points: against ben, rated 1 above you, brought 0.1."),
        (3, 0.0434, 0.3, "gained 0.043 points: against ben, rated 0.30 above you, brought 0.043."),
        (3, -0.0434, 0.004, "lost 0.043 points: against ben, rated as you are, cost 0.043."),
        (3, -0.0004, 0.004, "kept your rating"),
        (1, -0.0, 0.0, "kept your rating"),
    ],
)
def test_words_for_changes_of_all_sizes(digits, delta, gap, words):
    row = {"opponent": "ben", "heat": None, "result": 0.5, "contribution": delta, "cause": "opponent"}
    rows = pl.DataFrame([row], schema=ROW)
    assert words in explain_in_words("ana", delta, rows, {"ben": gap}, digits)


def test_a_system_without_a_slope_has_elos_scale(monkeypatch):
    monkeypatch.setattr("podium.engine.system.expect", lambda *_: 0.5)
    assert find("elo")().digits == 1


def test_an_explanation_has_the_outcome_whatever_the_player_is_called():
    field = [{"event_id": "e", "player": name, "position": k} for k, name in enumerate("abcd", start=1)]
    duel = [{"event_id": "f", "player": name, "position": k} for k, name in enumerate(("a", "you won"), start=1)]
    draw = [{"event_id": "g", "player": name, "position": 1} for name in "ab"]
    rated = podium.rate(field + duel + draw, "elo")
    entries = [("e", "a"), ("e", "b"), ("e", "d"), ("f", "you won"), ("g", "a")]
    outcomes = [rated.explain(event_id, player).outcome for event_id, player in entries]
    assert outcomes == ["won", "beat 2 of 3", "came last", "lost", "drew"]
