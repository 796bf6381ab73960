"""What-if results: each alternative is the event rated with changed results."""

import json

import polars as pl
import pytest

import podium
from podium.cli.demo import season_path

PLAYED = {"played_s": 300.0, "duration_s": 300.0}
EARLIER = [
    {"event_id": f"before {k}", "started_at": f"2025-01-0{k}", "player": player, "position": place, "heat": "1"}
    | PLAYED
    | {"time_s": 60.0 + place, "score": 30.0 - place}
    for k, order in enumerate(("abcd", "bacd", "cabd"), 1)
    for place, player in enumerate(order, 1)
]


def heat(order, name="1", *, day="2025-02-10", **more):
    """Return a heat with this order of finish, in which players with capital letters quit."""
    places = [player for player in order if player.islower()]
    lines = {player: {"position": k, "time_s": 60.0 + k * k, "score": 30.0 - k} for k, player in enumerate(places, 1)}
    shared = {"event_id": "e", "started_at": day, "heat": name} | PLAYED | more
    return [
        shared | {"player": player.lower()} | lines.get(player, {"status": "quit", "played_s": 9.0}) for player in order
    ]


def change(rows, system, player="c", **settings):
    rated = podium.rate([*EARLIER, *rows], system, **settings)
    return rated.history.filter(event_id="e", player=player)["delta"].item()


def deltas(rows, system, player="c", **settings):
    imagined = podium.rate([*EARLIER, *rows], system, **settings).what_if("e", player)
    assert imagined.delta == change(rows, system, player, **settings)
    for each in imagined.alternatives:
        assert each.better == each.shown - imagined.shown
    return {each.words: each.delta for each in imagined.alternatives}


@pytest.mark.parametrize("system", ["elo", "stk", "trueskill", "xonstat-2015"])
def test_a_player_who_wins_instead_gets_the_winners_measures(system):
    """Systems that compare times or scores use those of the place, but the playing time stays the player's own."""

    def came_late(order):
        return [row | ({"played_s": 150.0} if row["player"] == "c" else {}) for row in heat(order)]

    found = deltas(came_late("abcd"), system)
    assert found == {"won instead of finishing third": pytest.approx(change(came_late("cabd"), system), abs=1e-9)}


@pytest.mark.parametrize("system", ["elo", "trials", "stk-rd", "codeforces"])
def test_alternatives_for_lost_and_quit_heats(system):
    rows = [*heat("abcd"), *heat("abdC", "2"), *heat("acbd", "3")]
    third = heat("abcd", "2")
    third[3] |= {"time_s": 69.0, "score": 27.0}  # the additional finisher has the last one's measures
    expected = {
        "not quit heat 2 but finished third, as usual": [*rows[:4], *third, *rows[8:]],
        "won heat 1 instead of finishing third": [*heat("cabd"), *rows[4:]],
        "won heat 3 instead of finishing second": [*rows[:8], *heat("cabd", "3")],
    }
    found = deltas(rows, system)
    assert list(found) == [
        *list(expected)[:2],
        "won heat 2 instead of quitting",
        "won heat 3 instead of finishing second",
        "won all 3 heats",
    ]
    for words, altered in expected.items():
        assert found[words] == pytest.approx(change(altered, system), abs=1e-9), words


def test_teams_win_together():
    def match(x, y):
        return [
            {"event_id": "e", "started_at": "2025-02-10", "player": player, "team": team, "team_score": score}
            for team, members, score in (("x", "ab", x), ("y", "cd", y))
            for player in members
        ]

    found = deltas(match(3.0, 1.0), "trueskill")
    assert found == {"won instead of losing": pytest.approx(change(match(1.0, 3.0), "trueskill"), abs=1e-9)}
    mine = match(1.0, 3.0)
    mine[2] = {name: each for name, each in mine[2].items() if name != "team_score"} | {"status": "quit"}
    found = deltas(mine, "trueskill")
    words = "not quit but finished with the team"
    assert found == {words: pytest.approx(change(match(1.0, 3.0), "trueskill"), abs=1e-9)}


def test_a_quit_without_other_heats_ends_at_the_expected_place():
    assert list(deltas(heat("abdC"), "stk")) == [
        "not quit but finished second, as expected",
        "won instead of quitting",
    ]
    assert deltas(heat("cabd"), "elo") == {}
    assert deltas(heat("cABD"), "elo") == {}


def test_an_imagined_finish_is_not_behind_the_actual_finishers_and_quitters():
    rows = [*heat("abdc", "1"), *heat("badc", "2"), *heat("aC", "3")]
    words = "not quit heat 3 but finished second, as usual"
    assert words in deltas(rows, "elo")


def test_ties_are_broken():
    tied = [row | {"position": 1} if row["player"] in "ac" else row for row in heat("acbd")]
    tied[1]["time_s"], tied[1]["score"] = tied[0]["time_s"], tied[0]["score"]
    found = deltas(tied, "elo")
    assert found == {"won instead of sharing first place": pytest.approx(change(heat("cabd"), "elo"), abs=1e-9)}


def test_there_are_at_most_eight_alternatives():
    rows = [row for k in range(1, 13) for row in heat("abcD" if k == 12 else "abdc" if k % 2 else "abcd", f"{k}")]
    assert len(deltas(rows, "elo", "c")) == 8
    found = list(deltas(rows, "elo", "d"))
    assert found[0].startswith("not quit heat 12 but finished ")
    assert found[-1] == "won all 12 heats"


@pytest.mark.parametrize(
    ("system", "settings"),
    [("trueskill", {"idle_growth": 0.3}), ("glicko2", {"period": "1w"}), ("glicko", {"idle_growth": 9.0})],
)
def test_idle_time_and_periods_count_as_in_the_history(system, settings):
    rows = [*heat("abcd"), *[row | {"event_id": "later"} for row in heat("bcad", day="2025-02-11")]]
    altered = [*heat("cabd"), *rows[4:]]
    event = "later" if "period" in settings else "e"
    rated = podium.rate([*EARLIER, *rows], system, **settings)
    other = podium.rate([*EARLIER, *altered], system, **settings)
    (found,) = rated.what_if("e", "c").alternatives
    assert found.delta == pytest.approx(other.history.filter(event_id=event, player="c")["delta"].item(), abs=1e-9)


def test_live_alternatives_equal_those_of_rate():
    live = podium.Live("elo")
    live.rate(EARLIER)
    rated = podium.rate([*EARLIER, *heat("abcd")], "elo")
    imagined = rated.what_if("e", "c")
    assert live.what_if(heat("abcd"), "e", "c") == imagined
    plain = json.loads(json.dumps(imagined.to_dict()))
    assert (plain["event_id"], plain["player"], plain["delta"]) == ("e", "c", imagined.delta)
    (first,) = [each for each in plain["alternatives"] if each["words"] == imagined.alternatives[0].words]
    assert first["better"] == float(imagined.alternatives[0].better)
    assert first["delta"] == imagined.alternatives[0].delta
    assert first["shown"] - plain["shown"] == pytest.approx(first["better"])
    with pytest.raises(podium.UnknownError, match="did not take part"):
        rated.what_if("e", "nobody")


def test_the_example_seasons_winner_who_quit_a_heat():
    frame = podium.read_results(season_path()).frame
    rated = podium.rate(podium.Results(frame.filter(pl.col("pool") == "bikes"), "season"), "trials")
    imagined = rated.what_if("bikes-058", "Dragana")
    assert [(each.words, str(each.shown), str(each.better)) for each in imagined.alternatives] == [
        ("not quit heat 2 but finished first, as usual", "-4.3", "36.2"),
        ("won heat 1 instead of finishing third", "-26.0", "14.5"),
        ("won heat 3 instead of sharing first place", "-36.8", "3.7"),
        ("won all 4 heats", "13.7", "54.2"),
    ]
