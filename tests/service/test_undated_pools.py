"""Undated results through commands, uploads and the API, and no dates on any page."""

import re
from contextlib import closing
from datetime import UTC, datetime

import polars as pl
import pytest
from commands import run
from races import calling
from test_admin import Admin, form_of, words

import podium
from podium.results.reading import read_results
from podium.service import create_app
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

PAGES = (
    "", "?active=90d", "/events", "/events/{event}", "/events/{event}/{player}", "/players/{player}",
    "/players/{player}?range=1y", "/players/{player}/changes", "/players/{player}/rivals", "/system", "/distribution",
    "/embed", "/predict", "/compare?player={player}&other={other}",
)  # fmt: skip
MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
DATE = re.compile(rf"<time|19[67]\d-|20\d\d-\d\d|\b\d{{1,2}}.(?:{MONTHS})\b|None|\bnan\b")


@pytest.fixture(scope="module")
def history():
    """Return thirty undated races of a few of seven players."""
    orders = ["abcdefg", "gfa", "bdca", "ceg", "fab", "dcbag"]
    return pl.DataFrame(
        [
            {"event_id": f"R{number}", "player": name * 3, "position": place}
            for number in range(30)
            for place, name in enumerate(orders[number % 6], 1)
        ]
    )


@pytest.fixture
def store(tmp_path):
    with closing(Store(str(tmp_path / "podium.db"))) as opened:
        for pool in ("ingested", "uploaded", "posted"):
            opened.create_pool(pool, find("adaptive")(), public=True)
        opened.app = create_app(opened)
        yield opened


def number(store):
    """Order the events of all pools by their sequence numbers."""
    for pool in store.pools():
        store.set_order(pool.name, "sequence")


def bits(history):
    return history.drop("pool").rows()


def send_all(store, table, path):
    """Send the same results with a command, an upload and the API."""
    file = path / "races.parquet"
    table.write_parquet(file)
    database = str(path / "podium.db")
    run("ingest", file, "--pool", "ingested", "--db", database)
    admin = Admin(store, "write", "uploaded")
    action, fields = form_of(admin.client.get("/admin/uploaded/upload").text, "/upload")
    dry = admin.client.post(action, data=dict(fields), files={"file": (file.name, file.read_bytes())})
    assert dry.status_code == 200, words(dry.text)
    assert admin.send(dry, "/apply").status_code == 303
    events = []
    for (event_id,), rows in table.group_by("event_id", maintain_order=True):
        entries = [
            {name: value for name, value in row.items() if value is not None}
            for row in rows.drop("event_id", "pool", "started_at", strict=False).to_dicts()
        ]
        mode = entries[0].get("mode")
        shared = {"event_id": event_id} | ({} if mode is None else {"mode": mode})
        events.append(shared | {"entries": [{k: v for k, v in each.items() if k != "mode"} for each in entries]})
    with calling(store) as client:
        for first in range(0, len(events), 100):
            answer = client.post("/api/v1/pools/posted/events", json={"events": events[first : first + 100]})
            assert answer.status_code == 201, answer.text
        again = client.post("/api/v1/pools/posted/events", json=events[3])
        assert again.json()[0]["duplicate"]


def test_every_way_of_sending_gives_the_librarys_ratings(store, history, tmp_path):
    number(store)
    send_all(store, history, tmp_path)
    expected = bits(podium.rate(history, "adaptive").history)
    for pool in ("ingested", "uploaded", "posted"):
        assert bits(store.history(pool)) == expected
    assert store.verify() == []


def test_every_way_of_sending_zakstunts_gives_the_librarys_ratings(store, shared, tmp_path):
    number(store)
    table = read_results(shared("data/zakstunts.parquet")).frame
    send_all(store, table.drop("pool"), tmp_path)
    expected = bits(podium.rate(shared("data/zakstunts.parquet"), "adaptive").history)
    for pool in ("ingested", "uploaded", "posted"):
        assert bits(store.history(pool)) == expected
    assert store.verify() == []


def test_pages_of_an_undated_pool_have_no_dates(store, history):
    number(store)
    store.submit("posted", history)
    store.begin_season("posted", "late", 28.0, keep=0.5)
    names = {"event": "R20", "player": "bbb", "other": "aaa"}
    with calling(store) as client:
        for page in PAGES:
            answer = client.get("/posted" + page.format_map(names))
            assert answer.status_code == 200
            text = re.sub(r"<(script|style)\b.*?</\1>", "", answer.text, flags=re.DOTALL)
            assert not DATE.search(text), (page, DATE.search(text))
        for page in ("", "/players/bbb", "/events", "/events/R20"):
            assert "no.\N{NO-BREAK SPACE}" in client.get("/posted" + page).text
        assert "No.\N{NO-BREAK SPACE}21." in client.get("/posted/feed.xml").text
        assert "1970" not in client.get("/posted/feed.xml").text
        assert "numbers instead of dates" in words(client.get("/posted").text)


def test_responses_have_numbers_instead_of_dates(store, history):
    number(store)
    store.submit("posted", history)
    with calling(store) as client:
        base = "/api/v1/pools/posted"
        assert client.get(base).json()["order"] == "sequence"
        event = client.get(f"{base}/events/R4").json()
        assert (event["started_at"], event["sequence"]) == (None, 5.0)
        player = client.get(f"{base}/players/aaa?most=1").json()
        assert (player["last_played_at"], player["history"][0]["started_at"]) == (None, None)
        assert player["history"][0]["sequence"] == player["last_sequence"]
        whole = client.get(f"{base}/leaderboard?at=10").json()["players"]
        assert {each["last_sequence"] for each in whole} <= set(map(float, range(1, 11)))
        recent = client.get(f"{base}/leaderboard?active_within=3").json()["players"]
        assert {each["last_sequence"] for each in recent} <= {27.0, 28.0, 29.0, 30.0}
        assert client.get(f"{base}/leaderboard?at=2025-01-01").status_code == 422
        season = {"name": "second", "sequence": 20, "keep": 0.5}
        assert client.post(f"{base}/seasons", json=season).status_code == 201
        assert client.get(f"{base}/seasons").json()[0]["sequence"] == 20.0
        assert client.post(f"{base}/seasons", json={"name": "third", "keep": 0.5}).status_code == 422
        assert client.get(f"{base}/snapshots").json() == [*range(2, 32)]
        assert client.get(f"{base}/snapshots/7").json()[0]["rank"] == 1
        entries = [{"player": name, "position": place} for place, name in enumerate(("aaa", "bbb"), 1)]
        late = {"event_id": "late", "sequence": 4.5, "entries": entries}
        assert client.post(f"{base}/events", json=late).status_code == 201
        assert client.get(f"{base}/events/late").json()["sequence"] == 4.5
        limited = create_key(store.engine, "limited", "write", "posted", backdating_limit_s=60.0)
        refused = client.post(f"{base}/events", json=late, headers={"Authorization": f"Bearer {limited}"})
        assert (refused.status_code, "backdating limit" in refused.text) == (403, True)
        assert (
            client.post(
                f"{base}/events", json=late | {"event_id": "x", "started_at": "2025-01-01T00:00:00Z"}
            ).status_code
            == 422
        )
    assert store.verify() == []


def test_made_up_dates_are_mentioned(store, history, tmp_path):
    file, database = tmp_path / "races.csv", str(tmp_path / "podium.db")
    history.write_csv(file)
    dates = ("--started-at", "2001-01-01", "--every", "1mo")
    run("ingest", file, "--pool", "ingested", *dates, "--db", database)
    run("ingest", file, "--pool", "ingested", *dates, "--db", database)  # a repetition
    admin = Admin(store, "write", "uploaded")
    action, fields = form_of(admin.client.get("/admin/uploaded/upload").text, "/upload")
    sent = dict(fields) | {"started_at": "2001-01-01", "every": "1mo"}
    dry = admin.client.post(action, data=sent, files={"file": (file.name, file.read_bytes())})
    assert "Dates made up: the first 2001-01-01, then one every 1mo" in words(dry.text)
    assert admin.send(dry, "/apply").status_code == 303
    assert bits(store.history("uploaded")) == bits(store.history("ingested"))
    assert store.event("ingested", "R1").started_at.isoformat() == "2001-02-01T00:00:00+00:00"
    with calling(store) as client:
        for pool in ("ingested", "uploaded"):
            for page in ("", "/system"):
                assert "Dates made up: the first 2001-01-01" in words(client.get(f"/{pool}{page}").text)

    refused = run("import", "csv", file, "-o", tmp_path / "out.csv", "--every", "1mo", status=2)
    assert "--started-at" in refused
    run("import", "csv", file, "-o", tmp_path / "out.csv", "--started-at", "2001-01-01")
    assert read_results(tmp_path / "out.csv").frame["started_at"].n_unique() == 1
    run("import", "csv", file, "-o", tmp_path / "out.csv", *dates)
    assert read_results(tmp_path / "out.csv").frame["started_at"].n_unique() == 30
    assert store.verify() == []


def test_a_post_without_a_date_gets_its_arrival_time(store):
    entries = [{"player": name, "position": place} for place, name in enumerate("ab", 1)]
    with calling(store) as client:
        base = "/api/v1/pools/posted/events"
        begun = datetime.now(UTC)
        first = {"event_id": "first", "started_at": "2025-01-01T00:00:00Z", "entries": entries}
        assert client.post(base, json=first).status_code == 201
        late = {"event_id": "live", "entries": entries}
        seen = client.post(f"{base}?dry_run=true", json=late).json()
        assert seen[0]["status"] == "rated"
        assert client.post(base, json=late).status_code == 201
        again = client.post(base, json=late)
        assert (again.status_code, again.json()[0]["duplicate"]) == (200, True)
        assert begun <= datetime.fromisoformat(client.get(f"{base}/live").json()["started_at"]) <= datetime.now(UTC)
        numbered = client.post(base, json=late | {"event_id": "numbered", "sequence": 4})
        assert numbered.status_code == 422
        assert "have dates" in numbered.text
        assert client.put(f"{base}/live", json=late | {"entries": entries[::-1]}).status_code == 200  # the date stays
    assert store.verify() == []
