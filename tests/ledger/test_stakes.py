"""Stakes are a mean over all orders of the other players, each rated as a real result and weighted by its chance."""

import functools
import json
from itertools import permutations, product

import numpy as np
import polars as pl
import pytest
from extent import several, times

import podium
from podium.cli.commands import build
from podium.ledger import stakes as definition
from podium.probability.ranks import GumbelPerformances, order_chances, rank_distribution, sample_orders
from podium.systems import names

FIELD = ("ana", "ben", "cleo", "dov")
CIRCLE = (*FIELD, "eli", "fay", "gus", "hal")
every_system = pytest.mark.parametrize("name", names())


def line(place):
    """Return the measures of a place in any heat, unevenly spaced so that places differ."""
    return {"time_s": 60.0 + place * place, "score": 40.0 - 3.0 * place, "played_s": 600.0, "duration_s": 600.0}


def heat(event, order, day=1, **more):
    shared = {"event_id": event, "started_at": f"2025-01-{day:02}"} | more
    return [shared | {"player": player, "position": k} | line(k) for k, player in enumerate(order, 1)]


EARLIER = [
    row
    for day, order in enumerate((CIRCLE, CIRCLE[::-1], CIRCLE[3:] + CIRCLE[:3], ("fay", *FIELD)), 1)
    for row in heat(f"e{day}", order, day)
]


@functools.cache
def rated_by(name):
    return podium.rate(EARLIER, name)


def result(order, quitter=None):
    """Return the race's rows in the order of the field, as the stakes rate it."""
    rows = {row["player"]: row for row in heat("race", order, 4)}
    if quitter is not None:
        rows[quitter] = {"event_id": "race", "started_at": "2025-01-04", "player": quitter, "status": "quit"}
    return [rows[player] for player in FIELD if player in rows]


def chances_of(field):
    """Return the chance of each order of three, by integrating over the second player's performance."""
    low, high = field.support()
    u = np.linspace(low.min(), high.max(), 4_001)
    ahead, there = field.cdf(u), field.pdf(u) * (u[1] - u[0])
    return {
        (first, second, third): float((there[:, second] * ahead[:, first] * (1.0 - ahead[:, third])).sum())
        for first, second, third in permutations(range(3))
    }


@pytest.mark.parametrize("name", several(names()))
def test_a_table_is_the_mean_over_results_of_every_order(name):
    rated = rated_by(name)
    found = rated.stakes(FIELD, "cleo")
    others = [player for player in FIELD if player != "cleo"]
    system, states = rated._standing_of(others, None)
    race = definition.Race(system, "default", tuple((each,) for each in others), np.array(states))
    field = race.performances(range(3))
    chances = chances_of(field)
    forecast = rated.predict(FIELD)
    rows = found.frame.to_dicts()
    quits = 0 if name == "xonstat-2015" else 1  # that system ignores players without a time
    assert [row["place"] for row in rows] == [1.0, 2.0, 3.0, 4.0, *[None] * quits]
    for row in rows:
        mine, rivals, total = 0.0, dict.fromkeys(others, 0.0), sum(chances.values())
        for order, chance in chances.items():
            finish = [others[k] for k in order]
            if row["place"] is not None:
                finish.insert(int(row["place"]) - 1, "cleo")
            after = podium.rate(result(finish, None if row["place"] else "cleo"), rated.system, start=rated)
            deltas = dict(after.history.select("player", "delta").iter_rows())
            mine += chance / total * deltas["cleo"]
            for player in others:
                rivals[player] += chance / total * deltas[player]
        now = dict(rated.ratings.select("player", "rating").iter_rows())
        then = now | {player: now[player] + moved for player, moved in rivals.items()} | {"cleo": now["cleo"] + mine}
        assert row["delta"] == pytest.approx(mine, abs=1e-9)
        assert row["rating"] == pytest.approx(then["cleo"], abs=1e-9)
        assert row["rank"] == 1 + sum(other > then["cleo"] + 1e-9 for player, other in then.items() if player != "cleo")
        assert row["error"] == 0.0
        if row["place"] is not None:
            chance = forecast.ranks.filter(player="cleo", rank=int(row["place"]))["chance"].item()
            assert row["chance"] == pytest.approx(chance, abs=1e-9)


@every_system
def test_a_duels_stakes_equal_its_rated_results(name):
    rated = rated_by(name)
    lines = rated.stakes(["ana", "ben"], "ben").frame
    assert lines["place"].to_list() == [1.0, 2.0]
    for place, order in ((1.0, ("ben", "ana")), (2.0, ("ana", "ben"))):
        rows = [row for row in heat("race", order, 4) if row["player"] in order]
        after = podium.rate(sorted(rows, key=lambda row: row["player"]), rated.system, start=rated)
        assert lines.filter(place=place)["delta"].item() == after.history.filter(player="ben")["delta"].item()


@every_system
def test_orders_of_five_have_the_ranks_of_the_systems_model(name):
    rated = rated_by(name)
    system, states = rated._standing_of(CIRCLE[:5], None)
    field = definition.Race(system, "default", tuple((each,) for each in CIRCLE[:5]), np.array(states)).performances(
        range(5)
    )
    orders, chances = order_chances(field)
    found = np.array([[chances[orders[:, rank] == k].sum() for rank in range(5)] for k in range(5)])
    assert found == pytest.approx(rank_distribution(field), abs=1e-9)
    assert chances.sum() == pytest.approx(1.0, abs=1e-11)


def test_orders_of_gumbel_performances_follow_plackett_luce():
    field = GumbelPerformances(np.array([-0.3, 0.0, 1.5, -2.0]), np.ones(4))
    orders, chances = order_chances(field)
    strength = np.exp(-field.location)
    for order, chance in zip(orders, chances, strict=True):
        expected = np.prod([strength[each] / strength[order[k:]].sum() for k, each in enumerate(order)])
        assert chance == pytest.approx(expected, abs=1e-12)


def test_sampled_orders_have_their_exact_frequencies():
    field = GumbelPerformances(np.array([-0.3, 0.0, 1.5]), np.array([1.0, 0.5, 2.0]))
    drawn = sample_orders(field, np.random.default_rng(5).random((200_000, 3)))
    for order, chance in zip(*order_chances(field), strict=True):
        assert (drawn == order).all(axis=1).mean() == pytest.approx(chance, abs=0.005)


@pytest.mark.parametrize("name", times(["trueskill", "stk"], ["trueskill", "codeforces", "stk"]))
def test_sampled_tables_are_as_accurate_as_stated(name, monkeypatch):
    rated = rated_by(name)
    for each in ("BUDGET_S", "MAX_BUDGET_S"):  # on a busy machine, there would be fewer draws
        monkeypatch.setattr(definition, each, 60.0)
    drawn = rated.stakes(CIRCLE, "cleo")
    assert not drawn.is_exact
    assert "sampled as the system predicts them, ±" in drawn.method
    monkeypatch.setattr(definition, "MAX_EXACT", 8)
    exact = rated.stakes(CIRCLE, "cleo")
    assert (exact.draws, exact.is_exact) == (5040, True)
    off = (drawn.frame["delta"] - exact.frame["delta"]).abs()
    assert (off <= 2.0 * drawn.frame["error"] + 1e-9).all()
    spread = exact.frame["delta"].max() - exact.frame["delta"].min()
    assert drawn.error <= 0.01 * spread or drawn.draws == definition.MAX_DRAWS
    assert drawn.field["break_even"].to_list() == exact.field["break_even"].to_list()


@every_system
def test_break_even_places_equal_those_of_each_players_own_table(name):
    rated = rated_by(name)
    everyone = rated.stakes(FIELD).frame
    places = dict(rated.stakes(FIELD, "dov").field.select("player", "break_even").iter_rows())
    for player in FIELD:
        deltas = everyone.filter(pl.col("place").is_not_null(), player=player)["delta"].to_list()
        gains = [delta >= -1e-9 for delta in deltas]
        assert gains == sorted(gains, reverse=True)
        assert places[player] == (sum(gains) or None)


def test_a_player_outside_the_field_joins_it():
    rated = rated_by("elo")
    joined = rated.stakes(FIELD[:3], "dov")
    assert joined.frame.equals(rated.stakes(FIELD, "dov").frame)
    stranger = rated.stakes(FIELD, "nobody yet")
    assert stranger.sides == 5
    assert stranger.field.filter(player="nobody yet")["rank"].to_list() == [None]


def test_draws_have_a_line_if_the_pool_has_draws():
    drawn = [row | {"position": 1} for row in heat("drawn", ("ana", "ben"), 3)]
    rated = podium.rate([*EARLIER, *drawn], "elo")
    lines = rated.stakes(["ana", "ben"], "ana").frame
    assert lines["place"].to_list() == [1.0, 1.5, 2.0]
    tie = [row | {"event_id": "race", "started_at": "2025-01-04"} for row in drawn]
    after = podium.rate(tie, "elo", start=rated)
    assert lines["delta"][1] == after.history.filter(player="ana")["delta"].item()
    assert lines["chance"][1] == rated.predict(["ana", "ben"]).draw
    assert lines["chance"].sum() == pytest.approx(1.0)
    assert rated.stakes(FIELD, "ana").frame["place"].to_list() == [1.0, 2.0, 3.0, 4.0, None]


def heats_of_race(order, heats, system, quitter=None, **more):
    """Return the race's rows with the same places in every heat, and with times if the system needs them."""
    shared = {"event_id": "race", "started_at": "2025-01-04"} | more
    rows = [
        shared | {"player": player, "position": k, "heat": str(number)} | (line(k) if system.needs else {})
        for number in range(1, heats + 1)
        for k, player in enumerate(order, 1)
    ]
    quits = [shared | {"player": quitter, "status": "quit", "heat": str(number)} for number in range(1, heats + 1)]
    return rows + (quits if quitter else [])


@every_system
def test_a_race_of_heats_is_rated_as_one_event(name):
    """Each line equals the change for the same result in all four heats, not four times the change of one heat."""
    rated = rated_by(name)
    lines = rated.stakes(("ana", "ben"), "ana", heats=4).frame
    for delta, order in zip(lines["delta"], (("ana", "ben"), ("ben", "ana")), strict=True):
        after = podium.rate(heats_of_race(order, 4, rated.system), name, start=rated)
        assert delta == pytest.approx(after.history.filter(player="ana")["delta"].item(), abs=1e-9)
    now = rated.ratings.filter(player="ana")["rating"].item()
    assert lines["rating"].to_list() == pytest.approx([now + delta for delta in lines["delta"]])


@pytest.mark.parametrize("name", ["glicko2", "adaptive", "stk", "trueskill"])
def test_heats_of_a_field_are_the_mean_over_the_orders(name):
    rated = rated_by(name)
    lines = rated.stakes(FIELD[:3], "ana", heats=3).frame
    deltas = {
        (order, place): podium.rate(
            heats_of_race((*order[:place], "ana", *order[place:]), 3, rated.system), name, start=rated
        )
        .history.filter(player="ana")["delta"]
        .item()
        for order in (("ben", "cleo"), ("cleo", "ben"))
        for place in range(3)
    }
    for place, delta in enumerate(lines["delta"][:3]):
        low, high = sorted(deltas[order, place] for order in (("ben", "cleo"), ("cleo", "ben")))
        assert low - 1e-9 <= delta <= high + 1e-9
    if lines.height > 3:
        quits = [
            podium.rate(heats_of_race(order, 3, rated.system, "ana"), name, start=rated)
            .history.filter(player="ana")["delta"]
            .item()
            for order in (("ben", "cleo"), ("cleo", "ben"))
        ]
        assert min(quits) - 1e-9 <= lines["delta"][3] <= max(quits) + 1e-9


def test_heats_with_cars_and_in_rating_periods():
    """Cars come after the players in the arrays. In a rating period every race is already a heat."""
    cars = ["red", "blue"]
    race = heats_of_race(("ana", "ben"), 2, podium.systems.find("adaptive")())
    driven = [row | {"shared:car": cars[row["position"] - 1]} for row in race]
    rated = podium.rate(EARLIER, "adaptive", shared="car")
    field = [{"player": name, "shared": {"car": car}} for name, car in zip(("ana", "ben"), cars, strict=True)]
    won = rated.stakes(field, "ana", heats=2).frame["delta"][0]
    after = podium.rate(driven, "adaptive", shared="car", start=rated).history
    assert won == pytest.approx(after.filter(player="ana")["delta"].item(), abs=1e-9)
    monthly = podium.rate(EARLIER, "glicko2", period="1mo")
    for heats in (1, 2):
        found = monthly.stakes(("ana", "ben"), "ana", heats=heats, at="2025-02-04").frame["delta"]
        for delta, order in zip(found, (("ana", "ben"), ("ben", "ana")), strict=True):
            rows = heats_of_race(order, heats, monthly.system, started_at="2025-02-04")
            after = podium.rate(rows, "glicko2", period="1mo", start=monthly).history
            assert delta == pytest.approx(after.filter(player="ana")["delta"].item(), abs=1e-9)


@pytest.mark.parametrize("heats", [-1, 0, 101])
def test_an_invalid_number_of_heats_is_an_error(heats):
    with pytest.raises(podium.ParameterError, match="Choose a whole number from 1 to 100"):
        rated_by("glicko2").stakes(FIELD, "ana", heats=heats)


@pytest.mark.parametrize("name", ["trueskill", "openskill-pl", "elo", "adaptive"])
def test_team_members_share_their_teams_place(name):
    sides = (("ana", "ben"), ("cleo",), ("dov", "eli", "fay"))
    rated = rated_by(name)
    found = rated.stakes(sides=sides, player="ben")
    others = [1, 2]
    system, states = rated._standing_of([name for side in sides for name in side], None)
    field = definition.Race(system, "default", sides, np.array(states)).performances(others)
    ahead = rank_distribution(field)[0, 0]
    for place, (chance, order) in product((1, 2, 3), ((ahead, [1, 2]), (1.0 - ahead, [2, 1]))):
        order.insert(place - 1, 0)
        found_places = {side: k for k, side in enumerate(order, 1)}
        rows = [
            {"event_id": "race", "started_at": "2025-01-04", "player": player, "team": f"{side}"}
            | {"position": found_places[side]}
            for side, members in enumerate(sides)
            for player in members
        ]
        after = podium.rate(rows, rated.system, start=rated)
        expected = after.history.filter(player="ben")["delta"].item()
        order.remove(0)
        line_of_place = found.frame.filter(place=float(place))["delta"].item()
        if order == [1, 2]:
            first = chance * expected
        else:
            assert line_of_place == pytest.approx(first + chance * expected, abs=1e-9)


NO_RESULTS = podium.read_results(pl.DataFrame(schema={"event_id": pl.String, "player": pl.String}))


def test_times_come_from_the_last_heat_and_its_event_is_named():
    found = rated_by("stk").stakes(FIELD, "ana")
    assert found.lines_from == "e4"
    assert "of the same place in e4" in found.method
    wider = rated_by("stk").stakes(CIRCLE, "ana")
    assert wider.lines_from == "e3"  # the last with eight players
    none = podium.rate(EARLIER, "elo").states.select("pool", "player", rating=pl.lit(2000.0))
    empty = podium.rate(NO_RESULTS, "stk", start=none)
    lacking = empty.stakes(FIELD, "ana")
    assert lacking.frame.is_empty()
    assert lacking.notice == lacking.headline() == lacking.method
    assert "no earlier race" in lacking.notice
    assert lacking.outlook() is None


def test_idle_time_counts_up_to_the_start():
    rated = podium.rate(EARLIER, "glicko", idle_growth=20.0)
    late = rated.stakes(FIELD[:2], "ben", at="2025-06-01").frame
    rows = [row | {"started_at": "2025-06-01"} for row in heat("race", ("ana", "ben"))]
    after = podium.rate(rows, rated.system, start=rated)
    assert late["delta"][1] == after.history.filter(player="ben")["delta"].item()
    assert late["delta"][1] != rated.stakes(FIELD[:2], "ben").frame["delta"][1]


def test_stakes_have_a_headline_and_an_outlook():
    rated = rated_by("elo")
    found = rated.stakes(FIELD, "ana")
    assert found.headline() == "A place in the top 2 gains points."
    assert found.outlook().startswith("Winning ")
    assert found.to_dict()["stakes"] == found.frame.to_dicts()
    assert repr(found) == f"Stakes(4 sides, 1 player: {found.method})"
    duel = rated.stakes(["ana", "ben"], "ana")
    assert duel.headline() == "A win gains points."
    assert podium.rate(EARLIER, "stk").stakes(FIELD, "ana").headline() == "Every place gains points."


def test_invalid_fields_are_rejected():
    rated = rated_by("elo")
    for field in ([], ["ana"], ["ana", "ana"]):
        with pytest.raises(podium.ParameterError):
            rated.stakes(field)
    with pytest.raises(podium.UnknownError):
        rated.stakes(FIELD, pool="elsewhere")


def test_an_empty_pool_has_only_newcomers():
    rated = podium.rate(NO_RESULTS, "elo")
    found = rated.stakes(["ana", "ben", "cleo"], "ana")
    assert found.frame["rank"].to_list() == [1, 1, 3, 3]


def test_the_command_prints_stakes(tmp_path, capsys):
    table = tmp_path / "results.json"
    table.write_text(json.dumps(EARLIER))
    command = ["stakes", str(table), "--system", "elo", "--entrants", "ana,ben"]

    def printed(*more):
        build()([*command, *more], standalone_mode=False)
        return capsys.readouterr()

    found = json.loads(printed("--entrant", "cleo", "--player", "ana", "--format", "json").out)
    assert found["stakes"] == rated_by("elo").stakes(FIELD[:3], "ana").frame.to_dicts()
    text = printed("--entrant", "cleo", "--player", "ana").out
    assert text.startswith("ana: Only a win gains points. Winning ")
    assert "\n1st " in text
    assert "\nquit " in text
    assert text.endswith(
        "The mean over all 2 possible orders of the others, weighted by their probability in the system.\n"
    )
    assert printed("--entrant", "nobdy").err.startswith("podium: nobdy is not in ")
    assert "\nana     win  " in printed().out
    assert len(printed("--format", "csv").out.splitlines()) == 5
    heats = printed("--player", "ana", "--heats", "2", "--format", "csv").out.splitlines()
    assert len(heats) == 3
