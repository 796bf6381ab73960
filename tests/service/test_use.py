"""End-to-end use of the service by game servers, players and pages."""

import asyncio
import io
import json
import math
from datetime import UTC, date, datetime

import polars as pl
import pytest
from extent import several
from races import calling
from races import event as race

import podium
from podium.service import watchers
from podium.service.api import dependencies, status
from podium.service.http import requests
from podium.service.metrics import Metrics
from podium.systems import find, names

POOL = "/api/v1/pools/main"


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("glicko2")())
    return sqlite_store


@pytest.fixture
def client(store):
    with calling(store) as opened:
        opened.post(
            f"{POOL}/events", json={"events": [race(number, "abc" if number % 3 else "cab") for number in range(9)]}
        )
        yield opened


def json_of(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


def test_a_match_is_registered_and_gets_its_result(client, store):
    match = {"match_id": "m", "entrants": [{"player": "a"}, {"player": "b"}, {"player": "z"}], "expires_in_s": 600}
    assert json_of(client.post(f"{POOL}/matches", json=match), 201)["status"] == "open"
    assert json_of(client.get(f"{POOL}/matches")) == ["m"]
    (receipt,) = json_of(client.post(f"{POOL}/events", json=race(20, "ab", match_id="m")), 201)
    assert [each["player"] for each in receipt["changes"]] == ["a", "b", "z"]
    split = json_of(client.post(f"{POOL}/events", json=race(21, "z", match_id="m")), 201)
    assert (split[0]["status"], split[0]["reason"]) == ("superseded", "superseded")
    assert json_of(client.get(f"{POOL}/matches/m"))["results"] == ["e20", "e21"]
    assert json_of(client.post(f"{POOL}/events", json=race(22, "ab", match_id="x")), 404)["detail"]
    assert json_of(client.put(f"{POOL}/events/e20", json=race(20, "ab", match_id="m")), 422)["field"] == "match_id"
    assert store.verify() == []


def test_an_event_is_returned_in_its_current_state(client):
    event = json_of(client.get(f"{POOL}/events/e3"))
    assert [(each["player"], each["position"]) for each in event["entries"]] == [("c", 1.0), ("a", 2.0), ("b", 3.0)]
    assert (event["status"], event["corrected"], len(event["changes"])) == ("rated", False, 3)
    client.put(f"{POOL}/events/e3", json=race(3, "bca"))
    assert json_of(client.get(f"{POOL}/events/e3"))["corrected"] is True
    assert json_of(client.get(f"{POOL}/events/none"), 404)["title"] == "Not Found"


def test_a_dry_run_returns_effects_and_stores_nothing(client, store):
    before, version = json_of(client.get(f"{POOL}/leaderboard")), store.version("main")
    dry_run = json_of(client.post(f"{POOL}/events/e2/void?dry_run=true"))
    assert len(dry_run["effects"]) > 10
    assert json_of(client.post(f"{POOL}/events?dry_run=true", json=race(40, "xy")))[0]["changes"][0]["player"] == "x"
    assert json_of(client.put(f"{POOL}/events/e1?dry_run=true", json=race(1, "ba")))["effects"]
    assert (json_of(client.get(f"{POOL}/leaderboard")), store.version("main")) == (before, version)
    receipt = json_of(client.post(f"{POOL}/events/e2/void"))
    assert receipt["rerated"] == dry_run["rerated"]
    last = {each["player"]: each["rating"] for each in dry_run["effects"]}
    assert last == {each["player"]: each["rating"] for each in json_of(client.get(f"{POOL}/leaderboard"))["players"]}


RERATING = {
    "merge": ("post", "merge", {"player": "x", "into": "a"}),
    "season": ("post", "seasons", {"name": "two", "starts_at": "2025-01-01T00:02:30Z", "keep": 0.5}),
    "system": ("put", "system", {"system": "elo", "parameters": {}}),
}


@pytest.mark.parametrize("what", RERATING)
def test_every_recalculation_has_a_dry_run(client, store, what):
    client.post(f"{POOL}/events", json=race(40, "xy"))
    method, path, body = RERATING[what]
    before, version = json_of(client.get(f"{POOL}/leaderboard")), store.version("main")
    answer = client.request(method, f"{POOL}/{path}?dry_run=true", json=body)
    dry_run = json_of(answer, answer.status_code)
    assert (json_of(client.get(f"{POOL}/leaderboard")), store.version("main")) == (before, version)
    assert dry_run["totals"]["changes"] >= dry_run["rerated"] > 0
    assert len(dry_run["effects"]) == dry_run["totals"]["changes"]
    answer = client.request(method, f"{POOL}/{path}", json=body)
    done = json_of(answer, answer.status_code)
    assert done == {"rerated": dry_run["rerated"]}
    board = {each["player"]: each["rating"] for each in json_of(client.get(f"{POOL}/leaderboard"))["players"]}
    after = {each["player"]: each["rating"] for each in dry_run["effects"] if each["rating"] is not None}
    assert {name: board[name] for name in after} == after
    if what == "merge":
        undone = client.post(f"{POOL}/players/x/unmerge?dry_run=true").json()
        assert undone["rerated"] == client.post(f"{POOL}/players/x/unmerge").json()["rerated"] > 0
        assert json_of(client.get(f"{POOL}/leaderboard")) == before


def test_the_leaderboard_has_filters_and_a_date(client):
    client.post(f"{POOL}/events", json=race(30, "xa"))
    everyone = json_of(client.get(f"{POOL}/leaderboard"))["players"]
    assert [each["rank"] for each in everyone] == [1, 2, 3, 4]
    regulars = json_of(client.get(f"{POOL}/leaderboard", params={"min_events": 2}))["players"]
    assert {each["player"] for each in regulars} == set("abc")
    early = json_of(client.get(f"{POOL}/leaderboard", params={"at": "2025-01-01T00:00:30Z"}))["players"]
    assert [each["events"] for each in early] == [1, 1, 1]
    assert json_of(client.get(f"{POOL}/leaderboard", params={"active_within": "1d"}))["players"]
    assert json_of(client.get(f"{POOL}/leaderboard", params={"max_deviation": 0.0}))["players"] == []
    for params in (
        {"active_within": "soon"},
        {"active_within": "99999999999999y"},
        {"at": "then"},
        {"min_events": -1},
        {"max_deviation": 1.0, "cursor": "1.0,1"},
    ):
        json_of(client.get(f"{POOL}/leaderboard", params=params), 422)


def test_a_leaderboard_is_sent_again_only_after_a_change(client, store):
    first = client.get(f"{POOL}/leaderboard")
    tag = {"If-None-Match": first.headers["etag"]}
    assert client.get(f"{POOL}/leaderboard", headers=tag).status_code == 304
    client.post(f"{POOL}/events", json=race(31, "cb"))
    after = client.get(f"{POOL}/leaderboard", headers=tag)
    assert after.status_code == 200
    assert after.json() != first.json()
    assert [each["player"] for each in after.json()["players"]] == [
        each.player for each in store.leaderboard("main").players
    ]


def test_players_can_be_compared_predicted_and_matched(client):
    assert [each["rank"] for each in json_of(client.get(f"{POOL}/players/b/neighbours?each=1"))]
    meeting = json_of(client.get(f"{POOL}/compare", params={"player": "a", "other": "c"}))
    assert meeting["wins"] + meeting["losses"] == 9
    assert sum(each["expected"] for each in meeting["players"]) == pytest.approx(1.0)
    assert sum(each["players"] for each in json_of(client.get(f"{POOL}/distribution"))) == 3
    chances = json_of(client.post(f"{POOL}/predict", json={"entrants": ["a", "b", "stranger"], "top": 2}))
    assert sum(each["win"] for each in chances["entrants"]) == pytest.approx(1.0)
    tickets = [{"player": name, "waited_s": 100.0} for name in "abc"] + [{"player": "new", "waited_s": 100.0}]
    matches = json_of(client.post(f"{POOL}/matchmaking", json={"tickets": tickets, "size": 2}))
    assert sorted(name for each in matches for name in each["players"]) == ["a", "b", "c", "new"]
    for path, body in (("predict", {"entrants": ["a", "a"]}), ("matchmaking", {"tickets": tickets * 2, "size": 2})):
        json_of(client.post(f"{POOL}/{path}", json=body), 422)


def test_players_without_results_are_newcomers(client):
    chances = json_of(client.post(f"{POOL}/predict", json={"entrants": ["a", "stranger", "b", "new"]}))
    assert sorted(chances["newcomers"]) == ["new", "stranger"]
    assert json_of(client.post(f"{POOL}/predict", json={"entrants": ["a", "b"]}))["newcomers"] == []


@pytest.mark.parametrize("name", several(names()))
def test_a_pairings_quality_follows_from_its_prediction(sqlite_store, name):
    """The unit of the pool's ratings does not matter, unless the request gives a scale."""
    sqlite_store.create_pool("main", find(name)())
    with calling(sqlite_store) as client:
        events = [race(number, "ab") for number in range(30)]
        for event in events:
            for entry, time_s in zip(event["entries"], (100.0, 101.0), strict=True):
                entry |= {"time_s": time_s, "score": 200.0 - time_s, "played_s": 600.0, "duration_s": 600.0}
        json_of(client.post(f"{POOL}/events", json={"events": events}), 201)
        for pair in ("ab", ["a", "new"]):
            body = {"tickets": [{"player": player, "waited_s": 100.0} for player in pair], "size": 2}
            (match,) = json_of(client.post(f"{POOL}/matchmaking", json=body))
            chances = json_of(client.post(f"{POOL}/predict", json={"entrants": list(pair), "top": 1}))
            wins = [each["win"] for each in chances["entrants"]]
            entropy = -sum(win * math.log(win) for win in wins if win > 0.0) / math.log(2.0)
            assert match["quality"] == pytest.approx(entropy, abs=1e-9)
            (match,) = json_of(client.post(f"{POOL}/matchmaking", json=body | {"scale": 1e9}))
            assert match["quality"] == pytest.approx(1.0, abs=1e-6)


def test_seasons_daily_snapshots_and_renames_work_over_http(client, store):
    season = {"name": "2025b", "starts_at": "2025-01-02T00:00:00Z", "keep": 0.5}
    assert json_of(client.post(f"{POOL}/seasons", json=season), 201)["rerated"] == 3
    json_of(client.post(f"{POOL}/seasons", json=season | {"keep": 0.25}), 409)
    assert json_of(client.get(f"{POOL}/seasons"))[0]["keep"] == 0.5
    assert len(json_of(client.get(f"{POOL}/seasons/2025b/leaderboard"))) == 3
    days = json_of(client.get(f"{POOL}/snapshots"))
    assert (days[0], days[-1]) == ("2025-01-02", str(datetime.now(UTC).date()))
    assert len(days) == (datetime.now(UTC).date() - date(2025, 1, 1)).days
    assert len(json_of(client.get(f"{POOL}/snapshots/2025-01-02"))) == 3
    assert json_of(client.get(f"{POOL}/players/a/ranks"))[0]["day"] == "2025-01-02"
    for day in ("2025-02-30", "x"):
        json_of(client.get(f"{POOL}/snapshots/{day}"), 422)
    assert json_of(client.post(f"{POOL}/players/a/rename", json={"name": "anna"})) == {"name": "anna"}
    seen = json_of(client.post(f"{POOL}/players/anna/anonymize", params={"dry_run": True}))
    assert (seen["player"], seen["ids"], seen["reasons"]) == ("anna", {}, 0)
    pseudonym = json_of(client.post(f"{POOL}/players/anna/anonymize"))["name"]
    assert pseudonym == seen["name"]
    assert json_of(client.get(f"{POOL}/players/{pseudonym}"))["player"] == pseudonym
    assert json_of(client.get(f"{POOL}/players/anna"), 404)
    kinds = [each["kind"] for each in json_of(client.get(f"{POOL}/log", params={"after": 10}))]
    assert kinds == ["season", "rename", "anonymize"]
    assert json_of(client.put(f"{POOL}/system", json={"system": "elo"}))["rerated"] > 0
    assert store.verify() == []


def test_tables_can_be_exported(client, store):
    for table, frame in (("results", store.results("main").frame), ("history", store.history("main"))):
        parquet = client.get(f"{POOL}/export/{table}.parquet")
        assert pl.read_parquet(io.BytesIO(parquet.content)).equals(frame)
        text = client.get(f"{POOL}/export/{table}.csv?guard=false")
        assert text.headers["content-type"].startswith("text/csv")
        assert pl.read_csv(io.BytesIO(text.content)).height == frame.height
    rated = podium.rate(pl.read_csv(io.BytesIO(client.get(f"{POOL}/export/results.csv").content)), "glicko2")
    assert rated.history["rating"].to_list() == store.history("main")["rating"].to_list()
    json_of(client.get(f"{POOL}/export/secrets.csv"), 422)


def test_a_stream_resumes_after_the_last_entry(client, store):
    start = store.version("main")
    client.post(f"{POOL}/events", json=race(40, "ab"))
    client.post(f"{POOL}/events/e40/void")
    text = client.get(f"{POOL}/stream?seconds=0", headers={"Last-Event-ID": str(start)}).text
    _, *sent, end, _ = text.split("\n\n")
    assert end == ": the time is over"
    blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in sent]
    assert [each["event"] for each in blocks] == ["submit", "void"]
    assert json.loads(blocks[1]["data"])["status"] == "voided"
    again = client.get(f"{POOL}/stream?seconds=0", headers={"Last-Event-ID": blocks[0]["id"]}).text
    assert again.count("event: ") == 1
    assert client.get(f"{POOL}/stream?seconds=0").text.count("event: ") == 0


def test_one_query_feeds_all_open_streams(client, store, monkeypatch):
    """A listener who joins later or falls behind misses nothing."""
    monkeypatch.setattr(watchers, "LOOK_S", 0.01)
    state, queries = client.app.state, []
    news = store.news

    def counting(*sent):
        queries.append(sent)
        return news(*sent)

    store.news = counting

    async def listened():
        looks = watchers.Announcements(store, requests.Threads(), Metrics())
        async with looks.running():
            return await listen_to(watchers.Watchers(store, requests.Threads(), looks))

    async def listen_to(fan_out):

        def listen(after):
            return status.server_sent_events(store, fan_out, state.metrics, "main", 1, after, 9.0)

        first = [listen(store.version("main")) for _ in range(20)]
        for each in first:
            assert (await anext(each)).startswith(b":")
        waiting = [asyncio.ensure_future(anext(each)) for each in first]
        await asyncio.sleep(0.1)
        queries.clear()
        store.submit("main", [{"event_id": "late", "started_at": "2024-01-01", "player": name, "position": place}
                              for place, name in enumerate("ab", start=1)])  # fmt: skip
        blocks = await asyncio.wait_for(asyncio.gather(*waiting), 5.0)
        with_entries = [sent for sent in queries if sent[1] == store.version("main") - 1]
        late = listen(store.version("main") - 1)
        await anext(late)
        blocks.append(await asyncio.wait_for(anext(late), 5.0))
        fan_out.close()
        for each in (late, *first):
            assert [block async for block in each] == [b": the service is stopping\n\n"]
        return blocks, with_entries

    blocks, with_entries = asyncio.run(listened())
    assert all(b'"event_id": "late"' in each for each in blocks)
    assert len(blocks) == 21
    assert len({*with_entries}) == 1
    assert len(queries) < 40


def test_prometheus_can_read_the_counters(client):
    client.get(f"{POOL}/leaderboard")
    client.get(f"{POOL}/players/nobody")
    text = client.get("/metrics").text
    assert 'podium_events_total{pool="main",status="rated"} 9.0' in text
    assert 'route="/api/v1/pools/{pool}/players/{player}",status="404"} 1.0' in text
    assert "podium_request_seconds_bucket" in text


def test_a_key_over_its_rate_limit_gets_429(store):
    with calling(store, "read", 1.0) as client:
        answers = [client.get(f"{POOL}/leaderboard") for _ in range(5)]
    assert [each.status_code for each in answers[:2]] == [200, 200]
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    problem = answers[-1].json()
    assert (problem["type"], problem["title"]) == ("about:blank", "Too Many Requests")
    assert problem["detail"].startswith("rate limit: 1 request per second. ")


def test_concurrent_results_share_a_transaction(store):
    """An invalid result does not affect the others."""
    intake = dependencies.Intake(store, requests.Threads())
    transactions = []
    store_each = store.submit_each

    def counting(pool, sent, **options):
        transactions.append(len(sent))
        return store_each(pool, sent, **options)

    store.submit_each = counting

    def rows(number, position=1.0):
        return [{"event_id": f"e{number}", "started_at": "2025-01-01", "player": name, "position": position + place}
                for place, name in enumerate("ab")]  # fmt: skip

    async def everyone():
        sent = [intake.submit("main", rows(number), "k", {}) for number in range(20)]
        sent.append(intake.submit("main", rows(3), "k", {}))
        sent.append(intake.submit("main", rows(99, position=-1.0), "k", {}))
        return await asyncio.gather(*sent, return_exceptions=True)

    answers = asyncio.run(everyone())
    assert [each[0].event_id for each in answers[:20]] == [f"e{number}" for number in range(20)]
    assert answers[20][0].duplicate
    assert isinstance(answers[21], podium.ResultsError)
    assert len(transactions) <= 4
    assert store.verify() == []


def test_too_many_waiting_events_are_rejected(store, monkeypatch):
    monkeypatch.setattr(dependencies, "MAX_WAITING_EVENTS", 3)
    intake = dependencies.Intake(store, requests.Threads())
    rows = [[{"event_id": f"e{number}", "started_at": "2025-01-01", "player": name, "position": place}
             for place, name in enumerate("ab", start=1)] for number in range(8)]  # fmt: skip

    async def everyone():
        return await asyncio.gather(*(intake.submit("main", each, "k", {}) for each in rows), return_exceptions=True)

    answers = asyncio.run(everyone())
    assert sum(isinstance(each, podium.PodiumError) for each in answers) == 5
    assert store.results("main").frame["event_id"].n_unique() == 3
