"""Leaderboards and event lists as pages: their content and their cost."""

import random
import re
from datetime import timedelta
from html import unescape

import pytest
import sqlalchemy as sa
from leagues import HOSTILE, START
from page_words import lines, main_of, names, people, words
from races import rows

from podium.pages.numbers import rating
from podium.service.web import boards
from podium.store import Store
from podium.support.words import part, shown_change, signed
from podium.systems import find
from podium.views.player_models import Listing

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


def test_a_leaderboard_page_matches_the_api(season, visitor):
    html = main_of(visitor.get("/bikes"))
    board = season.leaderboard("bikes", Listing())
    shown = [[rank, name.partition(" last ")[0], *cells] for rank, name, *cells in lines(html)]
    assert [(each[0].split()[0], each[1]) for each in shown] == [(str(row.rank), row.player) for row in board.players]
    assert [each[2].split()[0] for each in shown] == [rating(row.rating) for row in board.players]
    newest = season.event("bikes", board.newest.event_id)
    changes = {each.player: signed(shown_change(each.rating_before, each.rating, 1)) for each in newest.changes}
    moved = {each[1]: each[4].split()[0] for each in shown}
    own = {player: season.player_changes("bikes", player, top=1).rows[0].shown for player in moved}
    assert moved == {player: signed(shown_change(0.0, points, 1)) for player, points in own.items()}
    assert set(re.findall(r'aria-label="Why did (.*?) (?:gain|lose)', html)) == changes.keys()
    assert changes.items() <= moved.items()
    assert f"After bikes-060 on 16 Dec 2025 : biggest gain Chidi +67.3 , biggest loss Esteban {MINUS}41.5 ." in words(
        html
    )
    by_move = lines(main_of(visitor.get("/bikes?sort=move")))
    assert [each[1] for each in by_move] == [
        each.player for each in sorted(newest.changes, key=lambda each: each.delta, reverse=True)
    ]
    assert {each[1]: each[0] for each in by_move} == {each[1]: each[0] for each in shown if each[1] in changes}


def test_filters_are_a_form_and_describe_the_listed_players(season, visitor):
    html = main_of(visitor.get("/bikes?active=90d&min=10"))
    newest = max(row.last_played_at for row in season.leaderboard("bikes").players)
    wanted = [
        row.player
        for row in season.leaderboard("bikes").players
        if row.events >= 10 and row.last_played_at >= newest - timedelta(days=90)
    ]
    assert names(html) == wanted
    assert 0 < len(wanted) < 30
    assert (
        f"{len(wanted)} of 30 riders: established rating, played in the last 90 days, at least 10 events. Show all"
        in words(html)
    )
    assert '<option value="90d" selected>' in html
    assert '<option value="10" selected>' in html
    assert len(names(main_of(visitor.get("/bikes?all=1")))) == 30
    assert "No one is listed" in words(main_of(visitor.get("/bikes?min=1000")))
    for bad in ("active=week", "min=-1", "sort=name", "cursor=x", "all=maybe"):
        assert visitor.get(f"/bikes?{bad}").status_code == 422, bad


def test_a_mostly_inactive_pool_lists_players_of_the_last_year(sqlite_store):
    sqlite_store.create_pool("main", find("elo")(), public=True)
    year = 60 * 24 * 365
    sqlite_store.submit(
        "main", rows(1, ["Ana", "Ben", "Cleo", "Dora", "Eve"]) + rows(2, ["Eve", "Dora"], minute=2 * year)
    )
    with people(sqlite_store) as client:
        html = main_of(client.get("/main"))
        assert set(names(html)) == {"Eve", "Dora"}
        assert "2 of 5 players: played in the last year. Show all" in words(html)
        assert '<option value="1y" selected>' in html
        assert len(names(main_of(client.get("/main?active=any")))) == 5
        assert len(names(main_of(client.get("/main?all=1")))) == 5
    sqlite_store.submit("main", rows(3, ["Ana", "Ben", "Cleo"], minute=2 * year + 1))
    assert boards.default_span(sqlite_store, sqlite_store.pool("main")) == "1y"  # the cached value can be a minute old
    sqlite_store.answers.keep(("default span", sqlite_store.pool("main").id), None, None)
    assert boards.default_span(sqlite_store, sqlite_store.pool("main")) == "any"


def test_a_visitors_chosen_player_is_marked(visitor):
    assert "Are you on this list?" in words(main_of(visitor.get("/bikes")))
    headers = {"Cookie": f"me={part('Zoë')}"}
    html = main_of(visitor.get("/bikes", headers=headers))
    assert '<a class="end" href="#me">Find me</a>' in html
    assert words(re.search(r'<tr [^>]*aria-current="true" id="me">.*?</tr>', html, re.DOTALL)[0]).startswith(
        "1 Zoë you 1951 ±89 +27.0"
    )
    html = main_of(visitor.get("/bikes?min=10", headers=headers))
    assert '<a href="/bikes/players/Zo%C3%AB">You</a> are not listed.' in html
    for stranger in ("nobody", "%", "%ff", '"><script>'):
        html = main_of(visitor.get("/bikes", headers={"Cookie": f"me={part(stranger)}"}))
        assert "Find me" not in html
        assert "<script>" not in html


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Return a store with pools of 600 and 2,400 players, ten in each event."""
    opened = Store(str(tmp_path_factory.mktemp("crowd") / "podium.db"))
    for pool, players in (("small", 600), ("large", 2400)):
        opened.create_pool(pool, find("elo")(), public=True)
        events = []
        dice, crowd = random.Random(pool), [f"{number:04}" for number in range(players)]  # noqa: S311
        for number in range(players // 5):
            events += rows(number, dice.sample(crowd, 10))
        opened.submit(pool, events)
    yield opened
    opened.close()


def test_leaderboard_pages_list_everybody_once(crowd):
    with people(crowd) as client:
        address, seen, ranks = "/small", [], []
        while address:
            html = main_of(client.get(address))
            seen += names(html)
            ranks += [int(each[0]) for each in lines(html)]
            following = re.search(r'<a data-more rel="next" href="([^"]*)"', html)
            address = unescape(following[1]) if following else ""
        assert seen == [row.player for row in crowd.leaderboard("small", top=1000).players]
        assert ranks == [row.rank for row in crowd.leaderboard("small", top=1000).players]
        me = {"Cookie": f"me={part(seen[-1])}"}
        found = unescape(re.search(r'href="([^"]*)#me"', main_of(client.get("/small", headers=me)))[1])
        assert names(main_of(client.get(found, headers=me)))[-1] == seen[-1]
        pages, address = 0, "/small/events"
        while address:
            html = main_of(client.get(address))
            pages += len(lines(html))
            following = re.search(r'<a data-more rel="next" href="([^"]*)"', html)
            address = unescape(following[1]) if following else ""
        assert pages == 120


class Steps:
    """Counts how many steps SQLite takes for a request, in units of 100."""

    def __init__(self, store):
        self.count = 0
        sa.event.listen(store.engine, "checkout", self.watch)

    def watch(self, connection, _record, _proxy):
        connection.set_progress_handler(self.add, 100)

    def add(self):
        self.count += 1
        return 0

    def of(self, client, address):
        """Return the steps for a page that was requested before."""
        main_of(client.get(address))
        self.count = 0
        main_of(client.get(address))
        return self.count


@pytest.mark.parametrize("path", ["", "/events", "/find?q=05", "?sort=move"])
def test_a_page_costs_the_same_in_a_larger_pool(crowd, path):
    steps = Steps(crowd)
    with people(crowd) as client:
        for pool in ("small", "large"):
            main_of(client.get(f"/{pool}{path}"))
        counts = []
        for pool in ("small", "large"):
            steps.count = 0
            client.get(f"/{pool}{path}")
            counts.append(steps.count)
    assert counts[1] <= 1.5 * counts[0] + 20, counts


def test_empty_pools_have_clear_messages(visitor, sqlite_store):
    empty = words(main_of(visitor.get("/empty")))
    assert "Nobody is rated in empty yet" in empty
    assert "empty has no events yet" in words(main_of(visitor.get("/empty/events")))
    assert "Too few players for a chart" in words(main_of(visitor.get("/empty/distribution")))
    assert visitor.get("/empty/find?q=a").status_code == 404
    with people(sqlite_store) as client:
        assert "No leaderboards yet" in words(main_of(client.get("/")))
    sqlite_store.create_pool("one", find("elo")(), public=True)
    sqlite_store.submit("one", [{"event_id": "e1", "started_at": START.isoformat(), "player": "Ana", "position": 1}])
    with people(sqlite_store) as client:
        for path in ("/one", "/one/events", "/one/distribution", "/one/find?q=x&list=1"):
            assert client.get(path).status_code in {200, 404}, path
        assert "e1 unrated" in words(main_of(client.get("/one/events")))
        assert "Nobody is rated in one yet" in words(main_of(client.get("/one")))  # although Ana has played


def test_rank_changes_count_from_the_start_of_the_newest_day(sqlite_store):
    sqlite_store.create_pool("main", find("elo")(), public=True)
    long_ago = 60 * 24 * 10
    for number in range(3):
        sqlite_store.submit("main", rows(number, ["Ana", "Ben", "Cleo"]))
    for number in range(3, 20):
        sqlite_store.submit("main", rows(number, ["Cleo", "Dora", "Ben", "Ana"], minute=long_ago + number))
    with people(sqlite_store) as client:
        html = main_of(client.get("/main"))
        assert "Arrows: ranks since 11 Jan." in words(html)
        moves = {each[1]: each[0].partition(" ")[2] for each in lines(html)}
        assert moves == {"Cleo": "▲ up 2", "Dora new": "", "Ben": "▼ down 1", "Ana": "▼ down 3"}
        assert "Arrows:" not in main_of(client.get("/main?min=2"))
        for number in range(2):
            sqlite_store.void("main", f"e{number}")
        sqlite_store.amend("main", rows(2, ["Cleo", "Ben", "Ana"]))
        moves = {each[1]: each[0].partition(" ")[2] for each in lines(main_of(client.get("/main")))}
        assert moves["Ana"] == "▼ down 1"


def test_provisional_ratings_are_listed_separately_without_a_rank(sqlite_store):
    sqlite_store.create_pool("main", find("folyami")(), public=True)
    for number in range(6):
        sqlite_store.submit("main", rows(number, ["Ana", "Ben", "Cleo", "Dora"]))
    sqlite_store.submit("main", rows(40, ["Eve", "Ana"]))
    with people(sqlite_store) as client:
        html = main_of(client.get("/main"))
        established = [row.player for row in sqlite_store.leaderboard("main", Listing()).players]
        assert names(html) == established
        assert "Eve" not in established
        assert [each[:2] for each in lines(html, "provisional")] == [[DASH, "Eve"]]
        assert "Provisional ratings" in words(html)
        everybody = main_of(client.get("/main?all=1"))
        assert set(names(everybody)) == {*established, "Eve"}
        assert "Eve provisional" in words(everybody)


@pytest.mark.parametrize(
    "path", ["/bikes", "/bikes/events", "/bikes/distribution", "/find?q=a", "/names", "/names/events"]
)
def test_unchanged_pages_are_304_and_head_has_no_body(visitor, path):
    answer = visitor.get(path)
    assert answer.status_code == 200
    assert visitor.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    head = visitor.head(path)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", answer.headers["etag"])
    assert len(answer.content) <= 60_000


def test_names_are_escaped_on_every_list(season, visitor):
    for path in ("/", "/names", "/names/events", "/names/find?q=%22&list=1", "/names/distribution"):
        text = visitor.get(path).text
        assert re.findall(r"<script[^>]*>", text) == [re.search(r"<script[^>]*>", text)[0]], path
        assert "<img" not in text, path
        assert "49{" not in text, path
    assert set(names(main_of(visitor.get("/names")))) == set(HOSTILE)


def test_a_large_event_is_split_into_compressed_pages(sqlite_store):
    client = people(sqlite_store)
    sqlite_store.create_pool("field", find("trueskill")(), public=True)
    names = [f"Entrant {number:03d}" for number in range(200)]
    sqlite_store.submit("field", rows(1, names))
    listed = []
    for first in (1, 76, 151):
        page = client.get(f"/field/events/e1?from={first}", headers={"Accept-Encoding": "gzip"})
        assert page.headers["content-encoding"] == "gzip"
        assert len(page.content) <= 60_000
        listed += re.findall(r'scope="row" class="name"><a href="/field/players/[^"]*"><bdi>(Entrant \d+)', page.text)
    assert set(listed) == set(names)
    own = client.get("/field/events/e1/Entrant%20180").text
    assert 'aria-current="page">151 to 200' in own
    assert 'aria-current="true"' in own
    plain = client.get("/field/events/e1", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert "Accept-Encoding" in page.headers["vary"]
