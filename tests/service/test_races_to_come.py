"""Fixtures and stakes by the API, the client and the commands."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from races import calling, rows

from podium.cli import main
from podium.store import Store
from podium.systems import find

SOON = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)
POOL = "/api/v1/pools/main"


@pytest.fixture
def store(tmp_path):
    opened = Store(str(tmp_path / "podium.db"))
    opened.create_pool("main", find("elo")())
    for number, order in enumerate(("abcd", "bacd", "cabd", "abdc")):
        opened.submit("main", rows(number, order))
    yield opened
    opened.close()


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


def test_stakes_are_the_stores_and_a_minute_old_at_most(store):
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
        client.app.state.stakes.__init__()
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


def test_the_commands(store, tmp_path, capsys, monkeypatch):
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
