"""Names over HTTP are ordinary text, with one rule for bodies and addresses."""

import threading
import time

import pytest
import uvicorn
from races import calling
from races import event as race

from podium.client import Client
from podium.service import create_app
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

POOL = "/api/v1/pools/main"
HONEST = [
    "<b>x</b>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "&#60;b&#62;",
    "Robert'); DROP TABLE players", "'; DROP TABLE log; --", "' OR '1'='1", "x'; DELETE FROM event", '" or 1=1 --',
    "') UNION SELECT digest FROM api_key --", "[bold]x[/bold]", "{{7*7}}", ".", "..", "a/b", "a%2Fb", "%2E%2E", "a?b#c",
    "雪", "می\u200cخواهم", "👩\u200d🚀", "a\u3164b",
]  # fmt: skip


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    return sqlite_store


@pytest.fixture
def client(store):
    with calling(store) as opened:
        yield opened


@pytest.fixture(scope="module")
def listening(tmp_path_factory):
    """Return a client of a listening service, with a pool for each name."""
    store = Store(str(tmp_path_factory.mktemp("names") / "podium.db"))
    server = uvicorn.Server(uvicorn.Config(create_app(store), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    with Client(address, create_key(store.engine, "admin", "admin"), patience_s=0) as client:
        yield client
    server.should_exit = True
    thread.join()
    store.close()


def test_any_text_can_be_a_name(client, store):
    sent = client.post(f"{POOL}/events", json=race(1, HONEST, mode="<b>", event_id="'; DROP TABLE log"))
    assert sent.status_code == 201, sent.text
    assert [each["player"] for each in sent.json()[0]["changes"]] == HONEST
    assert {each["player"] for each in client.get(f"{POOL}/leaderboard").json()["players"]} == set(HONEST)
    assert client.post(f"{POOL}/predict", json={"entrants": HONEST}).status_code == 200
    renamed = client.post(f"{POOL}/players/雪/rename", json={"name": "<i>y</i>"})
    assert (renamed.status_code, renamed.json()) == (200, {"name": "<i>y</i>"})
    match = {"match_id": "<m>", "entrants": [{"player": each} for each in HONEST[:3]]}
    assert client.post(f"{POOL}/matches", json=match).json()["entrants"] == HONEST[:3]
    assert store.verify() == []


@pytest.mark.parametrize("name", HONEST)
def test_the_client_finds_players_with_unusual_names(name, listening):
    listening.create_pool(name, "elo")
    listening.submit(name, race(1, [name, "zoe"], event_id=name))
    assert listening.player(name, name)["player"] == name
    assert listening.event(name, name)["event_id"] == name
    assert listening.explain(name, name, name)["player"] == name
    assert listening.compare(name, name, "zoe")["players"][0]["player"] == name
    listening.rename(name, name, "new")
    assert listening.player(name, "new")["events"] == 1


def test_every_unicode_form_of_a_name_is_the_same_name(client, store):
    assert client.post(f"{POOL}/events", json=race(1, ["José", "ben"])).status_code == 201
    assert client.post(f"{POOL}/events", json=race(2, [" Jose\u0301", "ben\u3000"])).status_code == 201
    board = client.get(f"{POOL}/leaderboard").json()["players"]
    assert {each["player"]: each["events"] for each in board} == {"José": 2, "ben": 2}
    assert client.get(f"{POOL}/players/Jose\u0301").json()["player"] == "José"
    twice = client.post(f"{POOL}/predict", json={"entrants": ["José", "Jose\u0301"]})
    assert twice.status_code == 422
    assert client.post(f"{POOL}/merge", json={"player": "Jose\u0301", "into": " ben"}).status_code == 422  # they met
    renamed = client.post(f"{POOL}/players/ben/rename", json={"name": " Be\u0301n "})
    assert renamed.json() == {"name": "Bén"}
    assert client.post(f"{POOL}/players/Bén/rename", json={"name": "Jose\u0301"}).status_code == 409
    assert client.post(f"{POOL}/players/Bén/rename", json={"name": "a\u202eb"}).status_code == 422
    assert store.verify() == []


@pytest.mark.parametrize("again", [race(1, "cd"), race(1, "ab")])
def test_a_batch_with_two_events_of_one_id_is_rejected(again, client, store):
    before = store.version("main")
    answer = client.post(f"{POOL}/events", json={"events": [race(1, "ab"), race(2, "ab"), again]})
    assert answer.status_code == 422
    assert answer.json()["field"] == "events[2].event_id"
    assert store.version("main") == before
