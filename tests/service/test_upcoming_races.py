"""Upcoming races and stakes with the API, the client and the commands."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from races import calling, rows

import podium
from podium.cli import main
from podium.store import Store
from podium.systems import find, make_system

SOON = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)
POOL = "/api/v1/pools/main"


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    for number, order in enumerate(("abcd", "bacd", "cabd", "abdc")):
        sqlite_store.submit("main", rows(number, order))
    return sqlite_store


def test_a_race_is_planned_changed_and_cancelled(store):
    with calling(store, "write") as client:
        sent = {"fixture_id": "gp", "starts_at": SOON.isoformat(), "entrants": [{"player": "a"}, {"player": "b"}]}
        made = client.post(f"{POOL}/fixtures", json=sent)
        assert made.status_code == 201
        assert made.json()["entrants"] == [{"player": "a", "team": None}, {"player": "b", "team": None}]
        later = (SOON + timedelta(hours=1)).isoformat()
        moved = client.put(f"{POOL}/fixtures/gp", json={"starts_at": later, "title": "Großer Preis"}).json()
        assert (moved["title"], len(moved["entrants"])) == ("Großer Preis", 2)
        assert datetime.fromisoformat(moved["starts_at"]) == SOON + timedelta(hours=1)
        assert client.put(f"{POOL}/fixtures/gp", json={"anybody": True}).json()["entrants"] is None
        assert client.get(f"{POOL}/fixtures", params={"ahead": "true"}).json()[0]["status"] == "planned"
        assert client.post(f"{POOL}/fixtures/gp/cancel").json()["status"] == "cancelled"
        assert client.get(f"{POOL}/fixtures", params={"ahead": "true"}).json() == []
        assert client.get(f"{POOL}/fixtures/gp").json()["status"] == "cancelled"
        assert client.put(f"{POOL}/fixtures/other", json={"title": "x"}).status_code == 404
        assert client.post(f"{POOL}/fixtures", json=sent | {"fixture_id": "e1"}).status_code == 409
        assert client.post(f"{POOL}/fixtures", json=sent | {"starts_at": "soon"}).status_code == 422
    with calling(store, "read") as client:
        assert client.post(f"{POOL}/fixtures/gp/cancel").status_code == 403
    assert store.verify() == []


def test_the_entrants_of_a_race_are_seeded(store):
    store.plan_fixture("main", "gp", starts_at=SOON, entrants=["=new", "c", "a", "b"])
    with calling(store, "read") as client:
        found = client.get(f"{POOL}/fixtures/gp/seeds?groups=2").json()
        assert [(row["player"], row["line"], row["group"]) for row in found] == [
            ("a", 1, 1), ("b", 3, 2), ("c", 4, 2), ("=new", 2, 1),
        ]  # fmt: skip
        assert [row["opponent"] for row in found] == ["b", "a", "=new", "c"]
        assert client.get(f"{POOL}/fixtures/gp/seeds?groups=0").status_code == 422
        assert client.get(f"{POOL}/fixtures/gp/seeds?protect=5").status_code == 422
        store.set_details("main", [{"player": name, "club": "North"} for name in ("b", "c")])
        found = client.get(f"{POOL}/fixtures/gp/seeds?protect=1").json()
        assert [(row["player"], row["line"]) for row in found] == [("a", 1), ("b", 3), ("c", 2), ("=new", 4)]
        assert client.get(f"{POOL}/fixtures/none/seeds").status_code == 404
    store.describe_pool("main", public=True)
    with calling(store) as client:
        assert "Seeds and pairs" in client.get("/main/matches/gp").text
        page = client.get("/main/matches/gp/seeds?groups=2").text
        assert "a\nb\nc\n=new\n</textarea>" in page
        assert "4,'=new,,2,,c\n" in client.get("/main/matches/gp/seeds.csv").text
        lines = client.get("/main/matches/gp/seeds.trf").text.splitlines()
        assert lines[:4] == ["012 gp", f"042 {SOON:%Y/%m/%d}", "XXR 2", "XXC white1"]
        assert [line[14:52] for line in lines[4::3]] == [f"a{'1530':>37}", f"{'=new':38}"]
        assert client.get("/main/matches/gp/seeds.pdf").status_code == 422


def test_stakes_match_the_store_and_are_at_most_a_minute_old(store):
    store.plan_fixture("main", "gp", starts_at=SOON, entrants=["a", "b", "c"])
    with calling(store, "read") as client:
        address = f"{POOL}/fixtures/gp/stakes"
        found = client.get(address, params={"player": "b"}).json()
        assert [line["delta"] for line in found["stakes"]] == store.stakes("main", fixture="gp", player="b").frame[
            "delta"
        ].to_list()
        assert found["headline"] == store.stakes("main", fixture="gp", player="b").headline()
        assert found["age_s"] == 0.0
        assert {each["player"] for each in found["entrants"]} == {"a", "b", "c"}
        store.submit("main", rows(20, "cba"))
        kept = client.get(address, params={"player": "b"}).json()
        assert kept["stakes"] == found["stakes"]
        assert 0.0 < kept["age_s"] <= 60.0
        store.answers.__init__(store.answers.most_bytes)
        fresh = client.get(address, params={"player": "b"}).json()
        assert fresh["age_s"] == 0.0
        assert fresh["stakes"] != found["stakes"]
        late = store.plan_fixture("main", "gp", entrants=["a", "b", "c", "d"])
        assert len(client.get(address, params={"player": "b"}).json()["entrants"]) == len(late.entrants)
        free = client.get(f"{POOL}/stakes", params={"entrants": ["a", "b"], "player": "b"}).json()
        assert [line["place"] for line in free["stakes"]] == [1.0, 2.0]
        crowd = client.get(f"{POOL}/stakes", params={"entrants": [f"p{k}" for k in range(201)]})
        assert crowd.status_code == 422
        assert client.get(f"{POOL}/stakes", params={"entrants": ["a"]}).status_code == 422


IN_CARS = [{"player": "a", "shared": {"car": "r"}, "side": "home"}, {"player": "b", "shared": {"car": "s"}}, "c"]


IN_TWO_CARS = [
    row | {"shared:car": "ssrr"[place]}
    for number, order in enumerate(("abcd", "bacd", "cabd", "dbac") * 2)
    for place, row in enumerate(rows(number, order))
]


@pytest.fixture
def cars(tmp_path):
    """Return a store with eight races in two cars, of which s is faster."""
    with closing(Store(str(tmp_path / "cars.db"))) as opened:
        opened.create_pool("main", make_system("adaptive", {"shared": "car"}))
        for first in range(0, len(IN_TWO_CARS), 4):
            opened.submit("main", IN_TWO_CARS[first : first + 4])
        yield opened


def expected_deltas(results, entrants, player):
    """Return the library's rating change for each place on the race day."""
    rated = podium.rate(results, make_system("adaptive", {"shared": "car"}))
    return rated.stakes(entrants, player, at=SOON).frame["delta"].to_list()


def deltas(answer):
    assert answer.status_code == 200, answer.text
    return [line["delta"] for line in answer.json()["stakes"]]


def test_planned_cars_and_sides_affect_predictions(cars):
    sent = [each if isinstance(each, dict) else {"player": each} for each in IN_CARS]
    with calling(cars, "write") as client:
        body = {"fixture_id": "gp", "starts_at": SOON.isoformat(), "entrants": sent}
        made = client.post(f"{POOL}/fixtures", json=body).json()
        assert made["entrants"] == [{"team": None, **each} for each in sent]
        assert made == client.get(f"{POOL}/fixtures/gp").json()
        address = f"{POOL}/fixtures/gp/stakes"
        in_cars = deltas(client.get(address, params={"player": "b"}))
        assert in_cars == expected_deltas(IN_TWO_CARS, IN_CARS, "b")
        chosen = expected_deltas(IN_TWO_CARS, [*IN_CARS, "d"], "d")  # who joins without a car
        assert deltas(client.get(address, params={"player": "d"})) == chosen

        swapped = [sent[0] | {"shared": {"car": "s"}}, sent[1] | {"shared": {"car": "r"}}, sent[2]]
        changed = client.put(f"{POOL}/fixtures/gp", json={"entrants": swapped})
        assert changed.json()["entrants"][0]["shared"] == {"car": "s"}
        other = deltas(client.get(address, params={"player": "b"}))
        assert max(abs(mine - before) for mine, before in zip(other, in_cars, strict=True)) > 0.5  # not cached
        both_home = [sent[0], sent[1] | {"side": "white"}, sent[2]]
        refused = client.put(f"{POOL}/fixtures/gp", json={"entrants": both_home})
        assert (refused.status_code, "both marked as home or white" in refused.json()["detail"]) == (422, True)
    assert cars.verify() == []


def test_a_pool_that_does_not_rate_cars_ignores_them(cars):
    cars.create_pool("plain", make_system("elo"))
    for first in range(0, len(IN_TWO_CARS), 4):
        cars.submit("plain", IN_TWO_CARS[first : first + 4])
    bare = [each["player"] if isinstance(each, dict) else each for each in IN_CARS]
    plain = POOL.replace("main", "plain")
    with calling(cars, "write") as client:
        given, without = (client.post(f"{plain}/predict", json={"entrants": each}) for each in (IN_CARS, bare))
        assert (given.status_code, given.json()) == (200, without.json())
        named = {"entrants": bare, "player": "b"}
        stakes = [client.get(f"{plain}/stakes", params=named | more) for more in ({"with": ["a,car=r,side=home"]}, {})]
        assert deltas(stakes[0]) == deltas(stakes[1])
        refused = client.post(f"{POOL}/predict", json={"entrants": [{"player": "a", "shared": {"tyre": "x"}}, "b"]})
        assert (refused.status_code, refused.json()["detail"]) == (
            422,
            "tyre: the system does not rate this kind of equipment. Use car.",
        )


def test_the_address_of_stakes_can_name_cars(cars):
    with calling(cars, "read") as client:
        given = ["a,car=r,side=home", '"b",car=s']
        found = client.get(f"{POOL}/stakes", params={"entrants": ["a", "b", "c"], "with": given, "player": "b"})
        assert deltas(found) == cars.stakes("main", IN_CARS, "b").frame["delta"].to_list()
        joined = client.get(f"{POOL}/stakes", params={"entrants": ["c"], "with": given, "player": "b"})
        assert {each["player"] for each in joined.json()["entrants"]} == set("abc")
        for wrong, words in (
            (["a,car"], "a: 'car' is not in the form car=Ferrari or side=white"),
            (["a,car=s,Car=r"], "is a second car"),
            (["a,car=s", "a,side=home"], "'a' is given twice"),
            ([""], "is nobody"),
            (["a,tyres=soft"], "tyres: the system does not rate this kind of equipment. Use car."),
            (["a,side=left"], "the side 'left' does not exist. Use one of home, white, away, black"),
        ):
            refused = client.get(f"{POOL}/stakes", params={"entrants": ["a", "b"], "with": wrong})
            assert refused.status_code == 422
            assert words in refused.json()["detail"]


def test_a_planned_races_cars_follow_renames_and_merges(cars):
    cars.plan_fixture("main", "gp", starts_at=SOON, entrants=IN_CARS)
    cars.rename("main", "s", "Sauber", kind="car")
    assert cars.fixture("main", "gp").entrants[1].shared == {"car": "Sauber"}
    cars.merge("main", "Sauber", "r", kind="car")
    assert [each.shared for each in cars.fixture("main", "gp").entrants] == [{"car": "r"}, {"car": "r"}, None]
    named = [[{"player": "a", "shared": {"car": name}}, "c"] for name in ("r", "Sauber", "s")]
    first, *others = (cars.predict("main", each).pairs for each in named)
    assert all(each.equals(first) for each in others)  # every former name works
    assert not cars.predict("main", ["a", "c"]).pairs.equals(first)
    first, *others = (cars.stakes("main", each, "a").frame for each in named)
    assert all(each.equals(first) for each in others)
    with calling(cars, "read") as client:
        found = deltas(client.get(f"{POOL}/fixtures/gp/stakes", params={"player": "b"}))
    one_car = [{"player": "a", "shared": {"car": "r"}, "side": "home"}, {"player": "b", "shared": {"car": "r"}}, "c"]
    assert found == expected_deltas([row | {"shared:car": "r"} for row in IN_TWO_CARS], one_car, "b")
    assert cars.verify() == []


def test_matchmaking_takes_a_tickets_car_into_account(cars):
    with calling(cars, "read") as client:

        def qualities(*given):
            tickets = [{"player": name, "waited_s": 99.0} | more for name, more in zip("ab", given, strict=True)]
            sent = {"tickets": tickets, "size": 2}
            (found,) = client.post(f"{POOL}/matchmaking", json=sent).json()
            return found["quality"]

        quick, slow = {"shared": {"car": "s"}}, {"shared": {"car": "r"}}
        by_cars = [qualities(*each) for each in (({}, {}), (quick, slow), (slow, quick))]
        assert len(set(by_cars)) == 3
        assert qualities({"shared": {"car": "new"}}, {}) == pytest.approx(by_cars[0], abs=0.02)
        wrong = {"tickets": [{"player": "a", "waited_s": 1.0, "shared": {"tyres": "x"}}]}
        refused = client.post(f"{POOL}/matchmaking", json=wrong)
        assert (
            refused.status_code,
            "tyres: the system does not rate this kind of equipment. Use car." in refused.json()["detail"],
        ) == (422, True)


def test_races_can_be_managed_with_commands(store, tmp_path, capsys, monkeypatch):
    url = str(tmp_path / "podium.db")

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["podium", *arguments, "--pool", "main", "--db", url])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    starts = SOON.isoformat()
    assert run("fixture", "plan", "gp", "--starts", starts, "--entrants", 'a,"b"')[0] == 0
    assert run("fixture", "change", "gp", "--title", "Grand Prix")[1].out.startswith("gp, Grand Prix: planned, ")
    listed = json.loads(run("fixture", "list", "--ahead", "--format", "json")[1].out)
    assert [(each["id"], each["entrants"], each["status"]) for each in listed] == [("gp", 2, "planned")]
    assert "cancelled" in run("fixture", "cancel", "gp")[1].out
    assert run("fixture", "list", "--ahead")[0] == 0
    code, output = run("fixture", "plan", "other")
    assert code != 0
    assert "--starts" in output.err
