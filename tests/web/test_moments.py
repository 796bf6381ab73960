"""A page shows one version of its pool, names that version, and matches its API."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from random import Random

import pytest
from extent import times
from gates import Gate
from html_tree import as_number, tree
from races import calling, event
from starlette.testclient import TestClient

from podium.service import create_app
from podium.service.http.json import POOLS_PATH
from podium.service.http.requests import WROTE
from podium.store import Store
from podium.support.words import shown, shown_change
from podium.systems import find
from podium.views import cards

API = "/api/v1/pools/main"
START = datetime(2025, 1, 1, 10, tzinfo=UTC)
PLAYERS = ["ana", "ben", "cleo", "dov", "eva", "fay", "gil"]
LOOKS, MAX_LOOKS = times(10, 100), 1000  # compared and requested pages of each kind


def race(number):
    """Return the rows of an event of four players."""
    order = Random(number).sample(PLAYERS, 4)  # noqa: S311
    started_at = (START + timedelta(hours=number)).isoformat()
    return [
        {"event_id": f"e{number}", "started_at": started_at, "player": player, "position": place}
        for place, player in enumerate(order, start=1)
    ]


@pytest.fixture
def store(sqlite_store):
    with closing(sqlite_store):
        sqlite_store.create_pool("main", find("glicko")(), public=True)
        for number in range(30):
            sqlite_store.submit("main", race(number))
        yield sqlite_store


def tiles(root):
    cells = {each.first("dt").text: each.first("dd") for figures in root.every("dl") for each in figures.nodes}
    return {name: as_number(cell.text.removesuffix(cell.first("small").text).strip()) for name, cell in cells.items()}


def numbers(text):
    return [as_number(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text.replace(",", ""))]


def compare_board(root, api):
    board = api("/leaderboard?provisional=false&top=50")
    for row, known in zip(root.first("tbody").every("tr"), board["players"], strict=True):
        cells = [cell.text for cell in row.nodes]
        texts = (re.findall(r"\d+", cells[0])[0], row.first("th").first("a").text)  # an arrow may follow the rank
        assert texts == (str(known["rank"]), known["player"])
        rating = cells[2].split()[0]
        assert as_number(rating) == shown(known["rating"], 0)


def compare_player(root, api):
    card, found = api("/players/ana/card"), tiles(root)
    assert found["Rating"] == shown(card["rating"], 0)
    assert found["Rank"] == card["rank"]
    drawn = next(each for each in root.every("svg") if "Rating of ana" in each.attributes.get("aria-label", ""))
    assert numbers(drawn.attributes["aria-label"])[-1] == shown(card["rating"], 0)
    form = next(each for each in root.every("section") if each.attributes.get("aria-labelledby") == "form")
    rows = form.first("tbody").every("tr")
    for row, line in zip(rows, card["form"], strict=True):
        assert [row.nodes[2].number, row.nodes[4].number] == [
            shown_change(line["rating"] - line["change"], line["rating"], 1),
            shown(line["rating"], 0),
        ]


def compare_event(root, api):
    event, why = api("/events/e7"), api("/events/e7/players/" + race(7)[0]["player"])
    assert root.first("h2").text == why["verdict"]
    rows = {row.first("th").text: row.nodes[-1].number for row in root.first("table").first("tbody").every("tr")}
    assert rows == {each["player"]: shown_change(each["rating_before"], each["rating"], 1) for each in event["changes"]}


def compare_events(root, api):
    events = api("/events")["events"]
    rows = list(root.first("tbody").every("tr"))
    assert len(rows) == len(events)
    for row, known in zip(rows, events, strict=True):
        assert known["event_id"] in row.first("th").text
        texts = [cell.text for cell in row.every("td", "ends")]
        gains = [known["most_gained"], known["most_lost"]]
        assert [as_number(text.split()[-1]) for text in texts] == [each and shown(each["shown"], 1) for each in gains]


def compare_pair(root, api):
    pair = api("/compare?player=ana&other=ben")
    side = next(each for each in root.every("section") if each.attributes.get("aria-labelledby") == "side")
    figures = {row.first("th").text: [cell.text for cell in row.every("td")] for row in side.first("tbody").every("tr")}
    ratings = [numbers(each)[0] for each in figures["Rating"]]
    assert ratings == [shown(each["rating"], 0) for each in pair["players"]]
    (met,) = (name for name in figures if name.startswith("Ahead"))
    assert numbers(met) == [len(pair["meetings"])]
    assert [numbers(each)[0] for each in figures[met]] == [pair["wins"], pair["losses"]]


KINDS = {
    "/main": compare_board,
    "/main/players/ana": compare_player,
    f"/main/events/e7/{race(7)[0]['player']}": compare_event,
    "/main/events": compare_events,
    "/main/compare?player=ana&other=ben": compare_pair,
}


def write(store, turns):
    """Send an event at each turn, and correct old ones, until the turns end."""
    for number in iter(turns.get, None):
        store.submit("main", race(number))
        if number % 3 == 0:
            (store.void if number % 6 else store.unvoid)("main", "e5")


def test_pages_match_the_api_of_their_version_while_others_write(store):
    turns, counts, versions = SimpleQueue(), dict.fromkeys(KINDS, 0), set()
    writer = threading.Thread(target=write, args=(store, turns))
    with TestClient(create_app(store)) as client:
        writer.start()
        try:
            for number in range(30, 30 + MAX_LOOKS):
                turns.put(number)
                for path in [each for each in KINDS if counts[each] < LOOKS]:
                    answer = client.get(path)
                    version = answer.headers["pool-version"]
                    seen = set()

                    def api(path, seen=seen):
                        found = client.get(API + path)
                        seen.add(found.headers["pool-version"])
                        return found.json()

                    try:
                        KINDS[path](tree(answer.text), api)
                    except AssertionError:
                        if seen == {version}:
                            raise
                    if seen == {version}:
                        counts[path] += 1
                        versions.add(version)
                if min(counts.values()) >= LOOKS:
                    break
        finally:
            turns.put(None)
            writer.join()
    assert min(counts.values()) >= LOOKS
    assert len(versions) > LOOKS  # the writer made changes meanwhile


def test_a_change_during_a_page_appears_in_no_part_of_it(store, monkeypatch):
    """The chart is read after the figures."""
    whole, later = cards.career_of, iter([100])

    def career_then_write(*arguments):
        career = whole(*arguments)
        for number in later:
            store.submit("main", [row | {"player": name} for row, name in zip(race(number), PLAYERS, strict=False)])
        return career

    monkeypatch.setattr(cards, "career_of", career_then_write)
    with TestClient(create_app(store)) as client:
        before = client.get(API).json()["version"]
        answer = client.get("/main/players/ana")
        assert client.get(API).json()["version"] > before == int(answer.headers["pool-version"])
        assert client.get(f"{API}/players/ana/curve").json()[-1]["event_id"] == "e100"
        root = tree(answer.text)
        drawn = next(each for each in root.every("svg") if "Rating of ana" in each.attributes.get("aria-label", ""))
        assert numbers(drawn.attributes["aria-label"])[-1] == tiles(root)["Rating"]


def test_responses_name_their_version(store):
    with TestClient(create_app(store)) as client:
        version = str(client.get(API).json()["version"])
        for path in (
            "",
            "/leaderboard",
            "/leaderboard?min_events=1",
            "/leaderboard/newest",
            "/events/e1",
            "/players/ana/curve",
        ):
            assert client.get(API + path).headers["pool-version"] == version, path
        assert client.post(f"{API}/predict", json={"entrants": ["ana", "ben"]}).headers["pool-version"] == version
        assert "pool-version" not in client.get("/api/v1/pools").headers
        assert {client.get(path).headers["pool-version"] for path in KINDS} == {version}


@pytest.fixture
def corrected(store, monkeypatch):
    """Yield a client whose pool another process corrects. Reading the correction waits at the gate."""
    with closing(Store(str(store.engine.url.database))) as other, TestClient(create_app(store)) as client:
        before = client.get(f"{API}/leaderboard").json()
        other.follow("main")
        with Gate(monkeypatch) as gate:
            other.void("main", "e3")
            client.gate, client.before, client.newest = gate, before, other.version("main")
            yield client


def version_of(answer):
    return int(answer.headers["pool-version"])


def test_during_a_long_correction_responses_name_the_older_version(corrected):
    board = corrected.get(f"{API}/leaderboard")
    assert (board.json(), version_of(board)) == (corrected.before, corrected.newest - 1)
    assert board.headers["etag"] == f'"{corrected.newest - 1}"'
    assert {version_of(corrected.get(path)) for path in KINDS} == {corrected.newest - 1}
    assert corrected.get(API).json()["version"] == corrected.newest  # the version to wait for


@pytest.mark.parametrize("path", [f"{API}/leaderboard", f"{API}/players/ana/card", "/main"])
def test_a_response_waits_for_the_requested_version(corrected, path):
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(corrected.get, path, params={"since": corrected.newest})
        assert corrected.gate.has_come()
        assert version_of(corrected.get(path, params={"since": corrected.newest - 1})) == corrected.newest - 1
        assert not waiting.done()
        corrected.gate.opened.set()
        assert version_of(waiting.result()) == corrected.newest


def test_a_browser_waits_for_its_own_change(corrected):
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(corrected.get, "/main", headers={"Cookie": f"{WROTE}=1"})
        assert corrected.gate.has_come()
        assert not waiting.done()
        corrected.gate.opened.set()
        assert version_of(waiting.result()) == corrected.newest


def test_the_response_to_a_change_names_the_new_version(store):
    with calling(store) as client:
        sent = client.put(f"{API}/events/e3", json=event(3, ["ana", "ben"]))
        assert sent.status_code == 200
        assert version_of(sent) == store.version("main") > sent.json()["seq"]
        assert version_of(client.post(f"{API}/events/e3/void")) == store.version("main")
        assert version_of(client.get(f"{API}/leaderboard")) == store.version("main")


NOT_IN_LOG = ("/stream", "/keys", "/webhooks")  # always the newest, or not part of the log


def test_every_reading_route_of_a_pool_accepts_since(store):
    paths = create_app(store).openapi()["paths"]
    reading = {path: each["get"] for path, each in paths.items() if path.startswith(f"{POOLS_PATH}/{{pool}}")
               and "get" in each and not path.endswith(NOT_IN_LOG)}  # fmt: skip
    assert len(reading) > 30
    without = [path for path, route in reading.items() if "since" not in {each["name"] for each in route["parameters"]}]
    assert without == []
    with TestClient(create_app(store)) as client:
        assert client.get(f"{API}/leaderboard?since=-1").status_code == 422
        assert client.get(f"{API}/leaderboard?since={10**30}").status_code == 422
        assert client.get(f"{API}/leaderboard?since={2**62}").status_code == 200
