"""Sentences about a change, with as many digits as the system's scale needs."""

import re
from decimal import Decimal

import polars as pl
import pytest

import podium
from podium.ledger.reasons.wording import Phrases, Tally, band_result, cause, rated_words, verdict
from podium.systems import find, names

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
def test_a_rating_is_called_kept_only_if_the_shown_rating_is_equal(name):
    rated = podium.rate(duels(range(0, 60, 7)), name)
    for event_id, player, delta in rated.history.select("event_id", "player", "delta").tail(20).iter_rows():
        why = rated.explain(event_id, player)
        words = why.summary
        assert ("kept your rating" in words) == (why.shown_before == why.shown_after), words
        found = re.search(r"(gained|lost) ([0-9.]+) points", words)
        if found:
            assert Decimal(found[2]) == abs(why.shown_change)
            assert (found[1] == "gained") == (delta > 0)


def test_a_small_trueskill_change_is_not_called_kept():
    """With fewer digits, 16 % of TrueSkill's changes in a long tennis history were called kept."""
    rated = podium.rate(duels(()), "trueskill")
    small = rated.history.filter(pl.col("delta").abs().is_between(0.001, 0.05))
    assert small.height > 0
    for event_id, player in small.select("event_id", "player").iter_rows():
        assert "kept" not in rated.explain(event_id, player).summary


@pytest.mark.parametrize(
    ("outcome", "change", "others", "player"),
    [
        ("won", "-40.5", "Ana won, but lost 40.5 points.", "Ana: you won, but lost 40.5 points."),
        ("lost", "-0.1", "Ana was beaten and lost 0.1 points.", "Ana: you were beaten and lost 0.1 points."),
        ("lost", "3.0", "Ana was beaten, but gained 3.0 points.", "Ana: you were beaten, but gained 3.0 points."),
        ("drew", "0.0", "Ana drew and kept the rating.", "Ana: you drew and kept your rating."),
        ("", "0.043", "Ana gained 0.043 points.", "Ana: you gained 0.043 points."),
        ("came last", "1.0", "Ana came last, but gained 1.0 points.", "Ana: you came last, but gained 1.0 points."),
    ],
)
def test_verdict_sentences(outcome, change, others, player):
    assert verdict("Ana", outcome, Decimal(change)) == others
    assert verdict("Ana", outcome, Decimal(change), you=True) == player


@pytest.mark.parametrize(
    ("parts", "change", "words"),
    [
        ((("heat 1", "-11.7"), ("quitting it", "-33.4"), ("heat 4", "4.6")), "-40.5", "Quitting it cost 33.4 of them."),
        ((("heat 1", "-45.0"), ("heat 2", "4.5")), "-40.5", "Heat 1 cost 45.0; everything else brought 4.5."),
        ((("heat 1", "-10.0"), ("heat 2", "-10.1"), ("heat 3", "-10.2")), "-30.3", "No one heat decided it."),
        ((("heat 1", "5.0"), ("heat 2", "5.0")), "10.0", "No one heat decided it."),
        ((("heat 1", "5.0"), ("heat 2", "0.0")), "5.0", "Heat 1 brought them all."),
        ((("heat 1", "5.0"), ("heat 2", "-1.0"), ("heat 3", "1.0")), "5.0", "Heat 1 brought as much."),
        ((("heat 1", "5.0"), ("heat 2", "-5.0")), "0.0", "Gains and losses are equal."),
        ((("heat 1", "0.0"),), "0.0", ""),
        ((), "0.0", ""),
    ],
)  # fmt: skip
def test_cause_sentences(parts, change, words):
    phrases = [Phrases("heat", Decimal(points), subject, subject) for subject, points in parts]
    assert cause(phrases, Decimal(change)) == words


def test_rating_gaps_have_the_systems_digits():
    assert rated_words(0.4, 1, you=True) == "rated as you are"
    assert rated_words(0.4, 1, you=False) == "rated the same"
    assert rated_words(0.4, 3, you=True) == "rated 0.40 above you"
    assert rated_words(-0.004, 3, you=True) == "rated as you are"
    assert rated_words(-723.4, 1, you=False) == "rated 723 below"


@pytest.mark.parametrize(
    ("duels", "words"),
    [
        ((1, 0, 0), "beat the one"),
        ((0, 0, 12), "lost to all 12"),
        ((0, 2, 0), "drew with all 2"),
        ((3, 1, 8), "beat 3 of 12, drew with 1"),
        ((0, 1, 2), "drew with 1 of 3, lost to 2"),
    ],
)
def test_duels_of_a_band_in_words(duels, words):
    assert band_result(Tally(*duels)) == words


def test_a_system_without_a_slope_has_elos_scale(monkeypatch):
    monkeypatch.setattr("podium.engine.system.expect", lambda *_: 0.5)
    assert find("elo")().digits == 1


def test_outcomes_do_not_depend_on_the_players_name():
    field = [{"event_id": "e", "player": name, "position": k} for k, name in enumerate("abcd", start=1)]
    duel = [{"event_id": "f", "player": name, "position": k} for k, name in enumerate(("a", "you won"), start=1)]
    draw = [{"event_id": "g", "player": name, "position": 1} for name in "ab"]
    rated = podium.rate(field + duel + draw, "elo")
    entries = [("e", "a"), ("e", "b"), ("e", "d"), ("f", "you won"), ("g", "a")]
    outcomes = [rated.explain(event_id, player).outcome for event_id, player in entries]
    assert outcomes == ["won", "beat 2 of 3", "came last", "lost", "drew"]
