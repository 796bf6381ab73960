"""Forecasts and stakes with given cars and sides match a replay of the same line-up."""

import csv
import json
import random
from contextlib import closing

import pytest
from commands import run, streams
from races import calling

import podium
from podium.store import Store
from podium.systems import make_system

RATED_CARS = make_system("adaptive", {"shared": "car"})


def races(count=40, seed=3):
    """Return undated races of six in two cars. The newest race has three players and unusual cars."""
    rng = random.Random(seed)  # noqa: S311
    rows = []
    for number in range(count):
        cars = {player: rng.choice("rs") for player in "abcdef"}
        order = sorted(cars, key=lambda player: rng.gauss(("abcdef".index(player) + 4 * (cars[player] == "s")) / 3, 1))
        rows += [
            {"event_id": f"e{number:03}", "player": player, "position": place, "shared:car": cars[player]}
            for place, player in enumerate(order, start=1)
        ]
    return rows


LINE_UP = {"a": "s", "b": "r", "c": "r", "d": "new"}


def line_up(field=LINE_UP):
    return [{"player": player, "shared": {"car": car}} for player, car in field.items()]


def next_race(order, cars=LINE_UP):
    return [
        {"event_id": "next", "player": player, "position": place, "shared:car": cars[player]}
        for place, player in enumerate(order, start=1)
    ]


def test_a_forecast_matches_a_replays_expected_results():
    rated = podium.rate(races(), RATED_CARS)
    forecast = rated.predict(line_up())
    pairs = {(a, b): chance for a, b, chance in forecast.pairs.iter_rows()}
    replayed = podium.rate(races() + next_race("dbca"), RATED_CARS).predictions().filter(event_id="next")
    assert replayed.height == 6
    for player, opponent, expected in replayed.select("player", "opponent", "expected").iter_rows():
        assert pairs[player, opponent] == pytest.approx(expected, abs=1e-12)
        assert pairs[player, opponent] + pairs[opponent, player] == pytest.approx(1.0, abs=1e-12)
    assert forecast.newcomers == ("new (car)",)
    plain = rated.predict(list("abcd"))
    assert plain.entrants["win"].to_list() != forecast.entrants["win"].to_list()
    without = [{name: value for name, value in row.items() if name != "shared:car"} for row in next_race("dbca")]
    bare = podium.rate(races() + without, RATED_CARS).predictions().filter(event_id="next")
    of_bare = {(a, b): chance for a, b, chance in plain.pairs.iter_rows()}
    for player, opponent, expected in bare.select("player", "opponent", "expected").iter_rows():
        assert of_bare[player, opponent] == pytest.approx(expected, abs=1e-12)  # as with a car of 0 points


def test_a_shared_car_adds_no_uncertainty_to_a_duel():
    rated = podium.rate(races(), RATED_CARS)
    same = rated.predict(line_up({"a": "r", "b": "r"}))
    duel = podium.rate(races() + next_race("ab", dict.fromkeys("ab", "r")), RATED_CARS).predictions()
    row = duel.filter(event_id="next").to_dicts()[0]
    chance = same.pairs.filter(player="a")["expected"].item()
    assert same.pairs.filter(player=row["player"])["expected"].item() == pytest.approx(row["expected"], abs=1e-12)
    assert same.entrants.filter(player="a")["win"].item() == pytest.approx(chance, abs=1e-9)


def test_white_has_an_advantage():
    rng = random.Random(5)  # noqa: S311
    games = []
    for number in range(60):
        white, black = rng.sample("abcd", 2)
        won = rng.random() < 0.7
        games += [
            {"event_id": f"g{number:02}", "player": white, "position": 1 + (not won), "side": "white"},
            {"event_id": f"g{number:02}", "player": black, "position": 1 + won, "side": "black"},
        ]
    rated = podium.rate(games, "adaptive")
    field = [{"player": "a", "side": "white"}, {"player": "b", "side": "black"}]
    forecast = rated.predict(field)
    game = [
        {"event_id": "next", "player": "a", "position": 1, "side": "white"},
        {"event_id": "next", "player": "b", "position": 2, "side": "black"},
    ]
    row = podium.rate(games + game, "adaptive").predictions().filter(event_id="next").to_dicts()[0]
    assert forecast.pairs.filter(player=row["player"])["expected"].item() == pytest.approx(row["expected"], abs=1e-12)
    ahead, level = (each.entrants.filter(player="a")["win"].item() for each in (forecast, rated.predict(["a", "b"])))
    assert ahead > level
    moved = podium.rate(games + game, "adaptive").history.filter(event_id="next", player="a")["delta"].item()
    assert rated.stakes(field, "a").frame.filter(place=1.0)["delta"].item() == moved
    with pytest.raises(podium.ParameterError, match="'a' and 'b' are both marked as home or white"):
        rated.predict([{"player": "a", "side": "white"}, {"player": "b", "side": "home"}])


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_stakes_with_cars_equal_dry_runs(order):
    """With two players the other's place is fixed."""
    rated = podium.rate(races(), RATED_CARS)
    cars = {"a": "s", "b": "new"}
    found = rated.stakes(line_up(cars), "a").frame.filter(place=1.0 + order.index("a"))["delta"].item()
    after = podium.rate(sorted(next_race(order, cars), key=lambda row: row["player"]), RATED_CARS, start=rated)
    assert found == after.history.filter(player="a")["delta"].item()


def test_unrated_equipment_is_ignored_and_a_wrong_kind_rejected():
    elo = podium.rate(races(), "elo")
    assert elo.predict(line_up()).entrants.equals(elo.predict(list("abcd")).entrants)
    assert elo.stakes(line_up(), "a").frame.equals(elo.stakes(list("abcd"), "a").frame)
    rated = podium.rate(races(), RATED_CARS)
    with pytest.raises(
        podium.ParameterError, match=r"tyres: the system does not rate this kind of equipment. Use car."
    ):
        rated.predict([{"player": "a", "shared": {"tyres": "soft"}}, "b"])
    with pytest.raises(podium.ParameterError, match=r"has no 'cars'. The keys are player, shared, side and new"):
        rated.predict([{"player": "a", "cars": "r"}, "b"])
    with pytest.raises(podium.ParameterError, match="needs a player"):
        rated.predict([{"shared": {"car": "r"}}, "b"])


def test_commands_accept_cars_and_reject_unclear_ones(tmp_path):
    file = tmp_path / "races.csv"
    with file.open("w", newline="", encoding="utf-8") as written:
        writer = csv.DictWriter(written, races()[0])
        writer.writeheader()
        writer.writerows(races())
    given = [word for player, car in LINE_UP.items() for word in ("--with", f"{player},car={car}")]
    rates_cars = [file, "-s", "adaptive:shared=car"]
    rated = podium.rate(races(), RATED_CARS)
    found = json.loads(run("predict", *rates_cars, *given, "--format", "json"))
    assert [row["win"] for row in found["entrants"]] == rated.predict(line_up()).entrants["win"].to_list()
    found = json.loads(run("stakes", *rates_cars, *given, "-p", "b", "--format", "json"))
    assert [row["delta"] for row in found["stakes"]] == rated.stakes(line_up(), "b").frame["delta"].to_list()
    err, _ = streams("predict", *rates_cars, "--with", "Nobody,car=X", "--with", "a")
    assert "Nobody is not in" in err
    assert "X (car) is not in" in err
    for wrong, words in (
        ("a,car", "a: 'car' is not in the form car=Ferrari or side=white"),
        ("a,=s", "a: '=s' is not in the form car=Ferrari"),
        ("a,car=s,Car=r", "a: 'Car=r' is a second car"),
        ("b", "'b' is given twice"),
        ("", "'' is nobody"),
        ("a,tyres=soft", "tyres: the system does not rate this kind of equipment. Use car."),
        ("a,side=weiss", "a: the side 'weiss' does not exist. Use one of home, white, away, black"),
    ):
        assert words in run("predict", *rates_cars, "--with", "b", "--with", wrong, status=2)
    err, ignoring = streams("predict", file, "-s", "elo", "--with", "a,car=s,side=white", "--with", "b")
    assert err.count("podium: elo does not rate ") == 2
    assert ignoring == streams("predict", file, "-s", "elo", "--entrants", "a,b")[1]
    err, _ = streams("predict", file, "--with", "a,car=s,side=white", "--with", "b", "-s", "adaptive")
    assert "adaptive does not rate car; predicted without it" in err
    assert "rate side" not in err


@pytest.mark.portable
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_all_interfaces_give_the_same_forecast(kind, new_url):
    rated, live = podium.rate(races(), RATED_CARS), podium.Live(RATED_CARS)
    expected = rated.predict(line_up())
    with closing(Store(new_url(kind))) as store:
        store.create_pool("main", RATED_CARS, order="sequence")
        for number in range(40):
            rows = [row for row in races() if row["event_id"] == f"e{number:03}"]
            live.rate(rows)
            store.submit("main", rows)
        assert live.predict(line_up()).pairs.equals(expected.pairs)
        assert store.predict("main", line_up()).pairs.equals(expected.pairs)
        moved = rated.stakes(line_up(), "a").frame["delta"].to_list()
        assert store.stakes("main", line_up(), "a").frame["delta"].to_list() == moved
        store.rename("main", "s", "Sauber", kind="car")
        renamed = line_up({**LINE_UP, "a": "Sauber"})
        assert store.predict("main", renamed).pairs.equals(expected.pairs)
        assert store.predict("main", line_up()).pairs.equals(expected.pairs)  # under the former name
        with calling(store) as client:
            sent = client.post("/api/v1/pools/main/predict", json={"entrants": renamed}).json()
            assert [(row["player"], row["opponent"], row["expected"]) for row in sent["pairs"]] == expected.pairs.rows()
            assert "new (car)" in sent["newcomers"]
            wrong = client.post("/api/v1/pools/main/predict", json={"entrants": [{"player": "a", "car": "r"}, "b"]})
            assert wrong.status_code == 422
