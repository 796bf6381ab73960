"""The pages of players' links, where players report results; and a ladder that its players run with them."""

import re
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from extent import FULL, times
from races import calling, ratings
from starlette.testclient import TestClient
from test_admin import Admin, words

from podium.client import Client
from podium.errors import UnknownError
from podium.service import app, create_app
from podium.store import Store
from podium.store.keys import create_key
from podium.store.writing import reports as made
from podium.systems import find

NAMES = ["ana", "ben", "cleo"]
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def store(tmp_path):
    with closing(Store(str(tmp_path / "podium.db"))) as opened:
        for pool in ("main", "other"):
            opened.create_pool(pool, find("elo")(), public=pool == "other", reports="50% 48h")
            opened.change_links(pool, "give", NAMES)
        opened.app = create_app(opened)
        yield opened


@pytest.fixture
def browser(store):
    return TestClient(
        store.app, base_url="https://podium.test", headers={"Accept": "text/html"}, follow_redirects=False
    )


def path_of(store, name, pool="main"):
    return next(link.path for link in store.links(pool) if link.player == name)


def fields(places, form="1", start=NOW, **more):
    """The form of the page with these places by name, as a browser without a script sends it."""
    sent = {"event_id": form, "lines": str(len(places)), "date": "2026-01-01", "today": "2026-01-01"}
    for k, (name, place) in enumerate(places.items()):
        sent |= {f"name-{k}": name, f"place-{k}": str(place)}
    return sent | {"at": start.isoformat()} | more


def test_a_link_shows_its_player_and_nobody_else_and_is_kept_to_oneself(store, browser):
    start = NOW - timedelta(days=1)
    rows = [{"event_id": "e", "started_at": start, "player": name, "position": 1} for name in NAMES]
    for pool in ("main", "other"):
        store.submit(pool, rows)
    answer = browser.get(path_of(store, "ana"))
    assert "ana" in answer.text
    assert not re.search("ben|cleo", answer.text)
    assert (answer.headers["cache-control"], answer.headers["referrer-policy"]) == ("no-store", "same-origin")
    assert answer.headers["x-robots-tag"] == "noindex, nofollow"
    public = browser.get(path_of(store, "ana", "other").replace("/p/", "/"))
    assert words(public.text).count("ben") == 1
    path = path_of(store, "ana")
    for wrong in (
        f"{path}x",
        path[:-1],
        path_of(store, "ana", "other").replace("other", "main"),
        "/p/no/report/a.b",
    ):
        assert browser.get(wrong).status_code == browser.post(wrong, data=fields({"ana": 1})).status_code == 404
    statuses = {browser.get(f"/main/report/{k}.x").status_code for k in range(40)}
    assert statuses == {404, 429}


def test_a_player_reports_and_another_confirms(store, browser):
    paths = {name: path_of(store, name) for name in NAMES}
    assert browser.post(paths["ana"], data=fields({"ana": 1, "ben": 2}, act="look")).status_code == 204
    foreign = browser.post(paths["ana"], data=fields({"ana": 1, "ben": 2}), headers={"Origin": "https://evil.test"})
    assert foreign.status_code == 403
    wrong = browser.post(paths["ana"], data=fields({"ana": 1, "Bem": 2}))
    assert (wrong.status_code, "Bem: nobody here has this name" in words(wrong.text)) == (422, True)
    assert 'value="Bem"' in wrong.text
    assert browser.post(paths["ana"], data=fields({"ana": 1, "ben": 2})).status_code == 303
    (report,) = store.list_reports("main")
    page = words(browser.get(paths["ben"]).text)
    assert "1. ana, 2. ben Reported by ana" in page
    assert "Confirm Object" in page
    assert "Withdraw" in words(browser.get(paths["ana"]).text)
    assert "1. ana" not in words(browser.get(paths["cleo"]).text)
    answer = {"report": report.report_id, "act": "confirm"}
    assert browser.post(paths["cleo"], data=answer).status_code == 404
    done = browser.post(paths["ben"], data=answer)
    assert (done.status_code, done.headers["location"]) == (303, paths["ben"])
    assert [event.event_id for event in store.event_list("main").events] == [report.report_id]
    assert "counted" in words(browser.get(paths["ana"]).text)


def test_a_player_reports_the_result_of_a_planned_race(store, browser):
    fields_of = {"gp": ["ana", "ben"], "cup": ["ben", "cleo"], "open": None}
    for race, entrants in fields_of.items():
        store.plan_fixture("other", race, starts_at=NOW - timedelta(days=2), entrants=entrants, title=f"The {race}")
    store.plan_fixture("other", "later", starts_at=NOW + timedelta(days=1), entrants=["ana", "ben"])
    paths = {name: path_of(store, name, "other").replace("/p/", "/") for name in NAMES}
    assert re.findall(r"race=(\w+)", browser.get(paths["ana"]).text) == ["gp", "open"]
    page = browser.get(f"{paths['ana']}?race=gp").text
    assert 'name="race" value="gp"' in page
    assert re.findall(r"place-\d+\W+bdi\W+(\w+)", page) == ["ana", "ben"]
    for race in ("cup", "later", "none"):
        assert "value=" + f'"{race}"' not in browser.get(f"{paths['ana']}?race={race}").text
        sent = fields({"ana": 1, "ben": 2}, race=race)
        assert browser.post(paths["ana"], data=sent).status_code == (404 if race == "none" else 422)
    assert browser.post(paths["ana"], data=fields({"ana": 2, "ben": 1}, race="gp")).status_code == 303
    (report,) = store.list_reports("other")
    assert report.event_id == "gp"
    browser.post(paths["ben"], data={"report": report.report_id, "act": "confirm"})
    event = store.event("other", "gp")
    assert (event.started_at, event.title) == (NOW - timedelta(days=2), "The gp")
    assert {entry.player: entry.position for entry in event.entries} == {"ana": 2, "ben": 1}
    assert store.fixture("other", "gp").status == "reported"
    assert browser.get("/other/matches/gp").headers["location"] == "/other/events/gp"
    assert browser.post(paths["ben"], data=fields({"ana": 1, "ben": 2}, race="gp")).status_code == 422


def test_the_service_counts_a_report_to_which_nobody_objects(store, browser, monkeypatch):
    browser.post(path_of(store, "ana"), data=fields({"ana": 1, "ben": 2}))
    (report,) = store.list_reports("main")
    due = made.now() + 49 * made.HOUR_US
    monkeypatch.setattr(made, "now", lambda: due)
    monkeypatch.setattr(app, "CHECK_INTERVAL_S", 0.02)
    end = time.monotonic() + 60
    with TestClient(create_app(store, daily=True)):
        while not store.event_list("main").events and time.monotonic() < end:
            time.sleep(0.02)
    assert [event.event_id for event in store.event_list("main").events] == [report.report_id]


def test_an_admin_gives_links_and_decides_on_pages(store, browser):
    admin = Admin(store)
    assert "Reported results" in admin.client.get("/admin/main").text
    page = admin.client.get("/admin/main/reports")
    assert f"https://podium.test{path_of(store, 'ben')}" in page.text
    first = path_of(store, "ben")
    assert admin.send(page, "/reports", act="renew", players="ben, Dan", until="2100-01-01").status_code == 303
    assert browser.get(first).status_code == 404
    assert browser.get(path_of(store, "Dan")).status_code == 200
    assert admin.send(page, "/reports", act="renew", until="2000-01-01").status_code == 422
    for form, answer in enumerate(("accept", "refuse")):
        browser.post(path_of(store, "ana"), data=fields({"ana": 1, "ben": 2}, form=str(form)))
        (report,) = store.list_reports("main")
        browser.post(path_of(store, "ben"), data={"report": report.report_id, "act": "object"})
        page = admin.client.get("/admin/main/reports")
        assert "Objections by ben." in words(page.text)
        assert admin.send(page, f"/{answer}").status_code == 303
    assert store.list_reports("main") == ()
    assert [entry.actor for entry in store.log("main") if entry.kind == "submit"] == ["admin key"]
    assert admin.send(page, "/reports", act="revoke").status_code == 303
    assert store.links("main") == ()


def test_the_api_and_the_client_give_links_and_decide(store, browser):
    with calling(store, "write") as writer:
        for path in ("links", "reports"):
            assert writer.get(f"/api/v1/pools/main/{path}").status_code == 403
    with calling(store) as http:
        client = Client("http://testserver", create_key(store.engine, "api", "admin"), transport=http._transport)
        until = datetime(2100, 1, 1, tzinfo=UTC)
        links = client.change_links("main", "renew", names=["ana", "ben"], until=until)
        assert [link["until"] for link in links] == [until, until, None]
        assert client.links("main") == links
        for form, status in enumerate(("refused", "counted")):
            browser.post(links[0]["path"], data=fields({"ana": 1, "ben": 2}, form=str(form)))
            (report,) = client.reports("main")
            assert report["result"] == "1. ana, 2. ben"
            decided = client.decide_report("main", report["report_id"], "refuse" if status == "refused" else "accept")
            assert decided["status"] == status
        assert len(client.events("main")["events"]) == 1
        assert client.change_links("main", "revoke") == []


def test_the_command_line_gives_links_and_decides(store, podium_command):
    where = "main", "--db", store.engine.url.database, "--format", "csv"
    status, output, _ = podium_command("pool", "links", *where, "--address", "https://x.org")
    assert (status, output.splitlines()[1]) == (0, f"ana,https://x.org{path_of(store, 'ana')}")
    first = path_of(store, "ana")
    assert podium_command("pool", "links", *where, "ana", "--act", "renew", "--until", "2100-01-01")[0] == 0
    assert path_of(store, "ana") != first
    assert podium_command("pool", "links", *where, "--act", "give", "--until", "2000-01-01")[0] == 2
    assert "Use one of give" in podium_command("pool", "links", *where, "--act", "lose")[2]
    rows = [{"event_id": "1", "player": name, "position": place} for place, name in enumerate(NAMES, 1)]
    rows = [row | {"started_at": NOW.isoformat()} for row in rows]
    with pytest.raises(UnknownError):
        store.player_with("main", first)
    player = store.player_with("main", path_of(store, "ana").rpartition("/")[2])
    found, _ = store.add_report("main", player, rows, form="1")
    assert found.report_id in podium_command("pool", "reports", *where)[1]
    assert podium_command("pool", "reports", *where, "--accept", found.report_id, "--actor", "me")[0] == 0
    assert store.log("main")[-1].actor == "me"
    assert podium_command("pool", "reports", *where, "--refuse", "report x")[0] == 2


class Ladder:
    """Players who report results of a private pool on their pages, and what must become of each report."""

    def __init__(self, store, browser, players, seed):
        self.store, self.browser, self.random = store, browser, Random(seed)  # noqa: S311  (a simulation)
        self.players = [f"player {k}" for k in range(players)]
        store.create_pool("ladder", find("elo")(), reports="50% 48h")
        self.paths = {}
        self.read_links(store.change_links("ladder", "give", self.players))
        self.counting, self.silent, self.seen, self.drawn = [], [], Counter(), set()

    def read_links(self, links):
        self.paths = {link.player: link.path for link in links}

    def post(self, player, sent):
        return self.browser.post(self.paths[player], data=sent).status_code

    def play(self, number):
        """Report a result, and answer it in one of many ways."""
        reporter, random = self.players[number % len(self.players)], self.random
        places, teams = self.draw_places(reporter)
        start = NOW - timedelta(days=3) + timedelta(minutes=number)
        sent = fields(places, f"form {number}", start, teams=teams)
        if random.random() < 0.2:
            self.report_wrongly(reporter, places, number)
        if random.random() < 0.1:
            old = self.paths[reporter]
            self.read_links(self.store.change_links("ladder", "renew", [reporter]))
            assert self.browser.post(old, data=sent).status_code in (404, 429)
            self.seen["revoked"] += 1
        assert {self.post(reporter, sent) for _ in range(random.choice((1, 2)))} == {303}
        report = next(each for each in self.store.list_reports("ladder") if each.started_at == start)
        team = {name: places[name] if teams else name for name in places}
        self.answer(report, reporter, team, sent)

    def draw_places(self, reporter):
        """Draw a result that nobody has reported: players who report the same result of a day confirm each other."""
        random, size = self.random, self.random.choice((1, 1, 1, 2, 3, 4))
        while True:
            others = random.sample([each for each in self.players if each != reporter], size)
            field = random.sample([reporter, *others], len(others) + 1)
            teams = "teams" if len(field) == 4 and random.random() < 0.7 else ""
            places = {name: k % 2 + 1 if teams else k + 1 for k, name in enumerate(field)}
            if frozenset(places.items()) not in self.drawn:
                self.drawn.add(frozenset(places.items()))
                return places, teams

    def report_wrongly(self, reporter, places, number):
        without = {name: place for name, place in places.items() if name != reporter}
        for wrong in (without | {"nobody": 9}, places | {"nobody": 9}, {reporter: 1}):
            assert self.post(reporter, fields(wrong, f"wrong {number}")) == 422
        self.seen["wrong"] += 1

    def answer(self, report, reporter, team, sent):
        random, agreeing, status = self.random, set(), "open"
        others = [name for name in team if name != reporter]
        for name in random.sample(others, random.randrange(len(others) + 1)):
            agrees = random.random() < 0.85
            answer = {"report": report.report_id, "act": "confirm" if agrees else "object"}
            assert {self.post(name, answer) for _ in range(random.choice((1, 2)))} == {303}
            if status == "open" and agrees:
                agreeing.add(name)
                is_consent = any(team[each] != team[reporter] for each in agreeing)
                status = "counted" if is_consent and len(agreeing) >= len(others) / 2 else "open"
            elif status == "open":
                status = "disputed"
        stranger = next(name for name in self.players if name not in team)
        assert self.post(stranger, {"report": report.report_id, "act": "confirm"}) == 404
        if status == "disputed":
            accepts = random.random() < 0.5
            self.store.answer_report("ladder", report.report_id, agrees=accepts, actor="referee")
            status = "counted" if accepts else "refused"
        elif status == "open" and random.random() < 0.3:
            assert self.post(reporter, {"report": report.report_id, "act": "object"}) == 303
            status = "withdrawn"
        self.seen[status] += 1
        {"counted": self.counting, "open": self.silent}.get(status, []).append(sent)
        self.post(reporter, sent)  # the form once more
        assert len(self.events()) == len(self.counting)

    def events(self):
        return {entry.subject for entry in self.store.log("ladder", most=10_000) if entry.kind == "submit"}


def rows_of(sent, event_id):
    """The same result as an admin sends it."""
    for k in range(int(sent["lines"])):
        place = int(sent[f"place-{k}"])
        row = {"event_id": event_id, "started_at": sent["at"], "player": sent[f"name-{k}"], "position": place}
        yield row | ({"team": str(place)} if sent["teams"] else {})


def changes(store, pool):
    return store.history(pool).drop("pool", "event_id").sort("started_at", "player").rows()


@pytest.mark.parametrize("seed", range(times(1, 3)))
def test_a_ladder_run_by_its_players_equals_the_same_results_sent_by_an_admin(store, browser, monkeypatch, seed):
    ladder = Ladder(store, browser, 40, seed)
    for number in range(times(40, 400)):
        ladder.play(number)
    kinds = {"wrong", "revoked", "counted", "refused", "withdrawn", "open"}
    assert {*ladder.seen} >= (kinds if FULL else kinds - {"refused"})
    later = made.now() + 48 * made.HOUR_US
    monkeypatch.setattr(made, "now", lambda: later)
    for _ in range(2):
        store.count_reports("ladder")
    assert len(ladder.events()) == len(ladder.counting) + len(ladder.silent)
    store.create_pool("sent", find("elo")())
    for number, sent in enumerate([*ladder.counting, *ladder.silent]):
        store.submit("sent", [*rows_of(sent, f"e{number}")])
    assert ratings(store, "ladder") == ratings(store, "sent")
    assert changes(store, "ladder") == changes(store, "sent")
    assert store.list_reports("ladder") == ()
    assert store.verify() == []
