"""The first page, boards, events and searches as they are served: what they show, and what they cost."""

import random
import re
from datetime import date, timedelta
from html import unescape

import pytest
import sqlalchemy as sa
from leagues import HOSTILE, START, add_names, add_season, add_states
from races import rows
from starlette.testclient import TestClient

from podium.pages.addresses import part
from podium.pages.numbers import rating
from podium.rounding import shown_change, signed
from podium.service import create_app
from podium.service.web.boards import leaderboard
from podium.service.web.boards.distribution import bar_width, rating_at, rating_ranges
from podium.service.web.front import texts
from podium.store import Store
from podium.store.derive.snapshots import day_of
from podium.store.insights.board_models import Listing
from podium.store.keys import create_key
from podium.store.read.models import RatingCount
from podium.systems import find

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
TAG = re.compile(r"<[^>]*>")


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    """A store with the season's bikes, names of all kinds, and pools in every state."""
    opened = Store(str(tmp_path_factory.mktemp("pages") / "podium.db"))
    add_season(opened, ("bikes",))
    add_names(opened)
    add_states(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def visitor(season):
    with people(season) as client:
        yield client


def people(store, **headers):
    """Somebody with a browser."""
    return TestClient(create_app(store), headers={"Accept": "text/html"} | headers, follow_redirects=False)


def words(html):
    """What is read of HTML."""
    return " ".join(unescape(TAG.sub(" ", html)).split())


def main_of(answer, status=200):
    assert answer.status_code == status, words(answer.text)
    return answer.text.partition("<main")[2].partition("</main>")[0]


def lines(html, table="board"):
    """The rows of a table, each as its cells are read."""
    body = re.search(rf'<table[^>]* id="{table}".*?<tbody[^>]*>(.*?)</tbody>', html, re.DOTALL)
    assert body is not None, words(html)
    return [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", body[1], re.DOTALL)
    ]


def names(html, table="board"):
    body = re.search(rf'<table[^>]* id="{table}".*?</table>', html, re.DOTALL)[0]
    return [unescape(each) for each in re.findall(r'class="name"><a [^>]*><bdi>(.*?)</bdi>', body)]


def test_a_board_shows_what_the_api_says(season, visitor):
    html = main_of(visitor.get("/bikes"))
    board = season.listed_board("bikes", Listing())
    shown = lines(html)
    assert [each[:2] for each in shown] == [[str(row.rank), row.player] for row in board.rows]
    assert [each[2].split()[0] for each in shown] == [rating(row.rating) for row in board.rows]
    newest = season.event("bikes", board.newest.event_id)
    changes = {each.player: signed(shown_change(each.rating_before, each.rating, 1)) for each in newest.changes}
    assert {each[1]: each[4] for each in shown if each[4] != DASH} == changes
    assert f"After bikes-060 , 16 Dec 2025 : biggest gain Chidi +67.3 , biggest loss Esteban {MINUS}41.5 ." in words(
        html
    )
    by_move = lines(main_of(visitor.get("/bikes?sort=move")))
    assert [each[1] for each in by_move] == [
        each.player for each in sorted(newest.changes, key=lambda each: each.delta, reverse=True)
    ]
    assert {each[1]: each[0] for each in by_move} == {each[1]: each[0] for each in shown if each[1] in changes}


def test_filters_are_a_form_and_say_who_is_listed(season, visitor):
    html = main_of(visitor.get("/bikes?active=90d&min=10"))
    newest = max(row.last_played_at for row in season.leaderboard("bikes").players)
    wanted = [
        row.player
        for row in season.leaderboard("bikes").players
        if row.events >= 10 and row.last_played_at >= newest - timedelta(days=90)
    ]
    assert names(html) == wanted
    assert 0 < len(wanted) < 30
    assert f"{len(wanted)} of 30 riders: settled, played in the last 90 days, at least 10 events. Show all" in words(
        html
    )
    assert '<option value="90d" selected>' in html
    assert '<option value="10" selected>' in html
    assert len(names(main_of(visitor.get("/bikes?all=1")))) == 30
    assert "Nobody is listed" in words(main_of(visitor.get("/bikes?min=1000")))
    for bad in ("active=week", "min=-1", "sort=name", "cursor=x", "all=maybe"):
        assert visitor.get(f"/bikes?{bad}").status_code == 422, bad


def test_a_board_whose_players_have_stopped_lists_those_of_the_last_year(tmp_path):
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool("main", find("elo")(), public=True)
    year = 60 * 24 * 365
    store.submit("main", rows(1, ["Ana", "Ben", "Cleo", "Dora", "Eve"]) + rows(2, ["Eve", "Dora"], minute=2 * year))
    with people(store) as client:
        html = main_of(client.get("/main"))
        assert set(names(html)) == {"Eve", "Dora"}
        assert "2 of 5 players: played in the last year. Show all" in words(html)
        assert '<option value="1y" selected>' in html
        assert len(names(main_of(client.get("/main?active=any")))) == 5
        assert len(names(main_of(client.get("/main?all=1")))) == 5
    store.submit("main", rows(3, ["Ana", "Ben", "Cleo"], minute=2 * year + 1))
    assert leaderboard.default_span(store, store.pool("main")) == "1y"  # it may be old by a minute
    store.answers.keep(("default span", store.pool("main").id), None, None)
    assert leaderboard.default_span(store, store.pool("main")) == "any"
    store.close()


def test_a_visitor_who_chose_a_player_finds_the_row(visitor):
    assert "Which one are you?" in words(main_of(visitor.get("/bikes")))
    headers = {"Cookie": f"me={part('Zoë')}"}
    html = main_of(visitor.get("/bikes", headers=headers))
    assert '<a class="end" href="#me">Find me</a>' in html
    assert words(re.search(r'<tr [^>]*aria-current="true" id="me">.*?</tr>', html, re.DOTALL)[0]).startswith(
        "1 Zoë you"
    )
    html = main_of(visitor.get("/bikes?min=10", headers=headers))
    assert '<a href="/bikes/players/Zo%C3%AB">You</a> are not listed.' in html
    for stranger in ("nobody", "%", "%ff", '"><script>'):
        html = main_of(visitor.get("/bikes", headers={"Cookie": f"me={part(stranger)}"}))
        assert "Find me" not in html
        assert "<script>" not in html


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Pools of 600 and of 2,400 players, ten in each event."""
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


def test_pages_of_a_board_hold_everybody_once(crowd):
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
    """How many steps SQLite takes for a request, in thousands."""

    def __init__(self, store):
        self.count = 0
        sa.event.listen(store.engine, "checkout", self.watch)

    def watch(self, connection, _record, _proxy):
        connection.set_progress_handler(self.add, 100)

    def add(self):
        self.count += 1
        return 0

    def of(self, client, address):
        """The steps of a page that was read before."""
        main_of(client.get(address))
        self.count = 0
        main_of(client.get(address))
        return self.count


@pytest.mark.parametrize("path", ["", "/events", "/find?q=05", "?sort=move"])
def test_a_page_costs_no_more_in_a_larger_pool(crowd, path):
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


def test_a_search_shows_the_one_player_lists_several_and_names_who_is_near(season, visitor):
    one = visitor.get("/bikes/find?q=dragan")
    assert (one.status_code, one.headers["location"]) == (303, "/bikes/players/Dragana")
    assert "1 rider for “ dragan ”" in words(main_of(visitor.get("/bikes/find?q=dragan&list=1")))
    several = words(main_of(visitor.get("/find?q=A")))
    assert "3 players for" in several
    assert "Ana Club 1" in several
    assert "Amélie Bikes 26 1296" in several
    none = words(main_of(visitor.get("/bikes/find", params={"q": "Draganna"}), 404))
    assert "No rider called “ Draganna ”" in none
    assert "Did you mean Dragana ?" in none
    markup = visitor.get("/find", params={"q": '"><script>alert(1)</script>'})
    assert markup.status_code == 404
    assert "<script>alert" not in markup.text
    assert "&#34;&gt;&lt;script&gt;alert(1)" in markup.text
    assert visitor.get("/find", params={"q": "x" * 5000}).status_code == 422
    for empty in ("", "?q=", "?q=%20", "?q=%E2%80%8F"):
        assert "Find a player" in words(main_of(visitor.get(f"/find{empty}"), 404 if empty.endswith("8F") else 200))
    for name in HOSTILE:
        answer = visitor.get("/names/find", params={"q": name})
        assert answer.headers["location"] == f"/names/players/{part(name)}", name


def test_nobody_finds_who_plays_in_a_private_pool(tmp_path):
    store = Store(str(tmp_path / "podium.db"))
    for pool in ("open", "secret"):
        store.create_pool(pool, find("elo")(), public=pool == "open")
        store.submit(pool, rows(1, [f"Ana of {pool}", f"Ben of {pool}"]))
    key = create_key(store.engine, "Rosa", "read")
    with people(store) as client:
        texts_of_all = [
            client.get(each).text for each in ("/", "/find?q=ana", "/find?q=ana%20of%20secret", "/find?q=be&list=1")
        ]
        assert "secret" not in "".join(texts_of_all).replace("ana of secret", "")
        assert client.get("/secret").status_code == client.get("/nowhere").status_code == 401
        insider = {"Authorization": f"Bearer {key}"}
        assert "Ana of secret" in client.get("/", headers=insider).text
        assert "Ana of secret" in client.get("/find?q=ana", headers=insider).text
        assert "secret" not in client.get("/").text
    store.close()


def test_what_pages_say_where_there_is_nothing(visitor, tmp_path):
    empty = words(main_of(visitor.get("/empty")))
    assert "Nobody has played in empty yet" in empty
    assert "No event of empty yet" in words(main_of(visitor.get("/empty/events")))
    assert "Too few players for a picture" in words(main_of(visitor.get("/empty/distribution")))
    assert visitor.get("/empty/find?q=a").status_code == 404
    store = Store(str(tmp_path / "podium.db"))
    with people(store) as client:
        assert "No pools yet" in words(main_of(client.get("/")))
    store.create_pool("one", find("elo")(), public=True)
    store.submit("one", [{"event_id": "e1", "started_at": START.isoformat(), "player": "Ana", "position": 1}])
    with people(store) as client:
        for path in ("/one", "/one/events", "/one/distribution", "/one/find?q=x&list=1"):
            assert client.get(path).status_code in {200, 404}, path
        assert "is not rated" in words(main_of(client.get("/one/events")))
    store.close()


def test_ranks_are_compared_with_a_day_and_not_with_a_stale_one(tmp_path):
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool("main", find("elo")(), public=True)
    long_ago = 60 * 24 * 10
    for number in range(3):
        store.submit("main", rows(number, ["Ana", "Ben", "Cleo"]))
    store.snapshot("main", day_of(date(2025, 1, 5)))
    for number in range(3, 20):
        store.submit("main", rows(number, ["Cleo", "Dora", "Ben", "Ana"], minute=long_ago + number))
    with people(store) as client:
        html = main_of(client.get("/main"))
        assert ">Since 5\N{NO-BREAK SPACE}Jan<" in html
        assert {each[2]: each[1] for each in lines(html)} == {
            "Cleo": "▲ up 2",
            "Dora": "new",
            "Ben": "▼ down 1",
            "Ana": "▼ down 3",
        }
        assert "Since" not in main_of(client.get("/main?min=2"))
        store.amend("main", rows(1, ["Ben", "Ana", "Cleo"]))
        assert "Since" not in main_of(client.get("/main"))
    store.close()


def test_those_who_are_settling_stand_apart_and_without_a_rank(tmp_path):
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool("main", find("folyami")(), public=True)
    for number in range(6):
        store.submit("main", rows(number, ["Ana", "Ben", "Cleo", "Dora"]))
    store.submit("main", rows(40, ["Eve", "Ana"]))
    with people(store) as client:
        html = main_of(client.get("/main"))
        settled = [row.player for row in store.listed_board("main", Listing()).rows]
        assert names(html) == settled
        assert "Eve" not in settled
        assert [each[:2] for each in lines(html, "unsettled")] == [[DASH, "Eve"]]
        assert "Still settling" in words(html)
        everybody = main_of(client.get("/main?all=1"))
        assert set(names(everybody)) == {*settled, "Eve"}
        assert "Eve settling" in words(everybody)
    store.close()


def test_the_first_page_shows_each_pool_and_why_the_surprise_came(season, visitor):
    answer = visitor.get("/")
    html = main_of(answer)
    assert "Dragana won, but lost 40.5 points." in words(html)
    assert "Quitting heat 2 cost 33.4 of them." in words(html)
    assert '<a class="plain" href="/bikes/events/bikes-058/Dragana">' in html
    assert "Bikes 30 riders · 60 events" in words(html)
    top = [row.player for row in season.leaderboard("bikes", top=3).players]
    assert re.findall(r'class="name half"><a [^>]*><bdi>(.*?)</bdi>', html)[:3] == top
    newest = lines(html, "newest-events")
    assert newest[0][:3] == [
        "Zoë won. Chidi gained most, +67.3. Bikes , bikes-060 , 16 Dec 2025",
        "Bikes",
        "16 Dec 2025",
    ]
    assert visitor.get("/", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    head = visitor.head("/")
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", answer.headers["etag"])
    program = visitor.get("/", headers={"Accept": "application/json"})
    assert program.json()["reference"] == "/api/docs"


def test_the_first_page_is_kept_until_something_is_logged(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "MIN_VALID_S", 0.0)
    monkeypatch.setattr(texts, "SHARE", 0.0)
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool("main", find("elo")(), public=True)
    store.submit("main", rows(1, ["Ana", "Ben"]))
    written = []
    page_text = texts.page_text

    def write(*sent):
        written.append(sent)
        return page_text(*sent)

    monkeypatch.setattr(texts, "page_text", write)
    with people(store) as client:
        first = client.get("/")
        assert client.get("/").text == first.text
        assert len(written) == 1
        store.submit("main", rows(2, ["Ben", "Ana"]))
        second = client.get("/")
        assert "2 events" in words(second.text)
        assert second.headers["etag"] != first.headers["etag"]
        monkeypatch.setattr(texts, "MIN_VALID_S", 3600.0)
        monkeypatch.setattr(texts, "MAX_VALID_S", 3600.0)
        store.submit("main", rows(3, ["Ben", "Ana"]))
        assert "3 events" in words(client.get("/").text)
        store.submit("main", rows(4, ["Ben", "Ana"]))
        assert "3 events" in words(client.get("/").text)
        assert len(written) == 3
    store.close()


@pytest.mark.parametrize(
    "path", ["/bikes", "/bikes/events", "/bikes/distribution", "/find?q=a", "/names", "/names/events"]
)
def test_a_page_is_sent_once_and_its_head_alone_where_wanted(visitor, path):
    answer = visitor.get(path)
    assert answer.status_code == 200
    assert visitor.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    head = visitor.head(path)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", answer.headers["etag"])
    assert len(answer.content) <= 60_000


def test_names_are_text_on_every_page_that_lists(season, visitor):
    for path in ("/", "/names", "/names/events", "/names/find?q=%22&list=1", "/names/distribution"):
        text = visitor.get(path).text
        assert re.findall(r"<script[^>]*>", text) == [re.search(r"<script[^>]*>", text)[0]], path
        assert "<img" not in text, path
        assert "49{" not in text, path
    assert set(names(main_of(visitor.get("/names")))) == set(HOSTILE)


def test_a_distribution_counts_everybody(season, visitor):
    html = main_of(visitor.get("/bikes/distribution", headers={"Cookie": f"me={part('Zoë')}"}))
    body = re.search(r"<tbody>(.*?)</tbody>", html, re.DOTALL)[1]
    counts = [int(each) for each in re.findall(r'<td class="n">(\d+)</td>', body)]
    assert sum(counts) == len(season.leaderboard("bikes").players)
    assert words(re.search(r'<tr class="me".*?</tr>', body, re.DOTALL)[0]).startswith("1950 to 2000 you 1")
    assert "You have 1951." in words(html)


def test_bars_hold_all_ratings_and_are_not_too_many():
    for low, high in ((0, 0), (-7, 3), (1000, 1040), (999, 2999), (-(10**9), 10**9)):
        counts = [RatingCount(low, 3), *([RatingCount(high, 5)] if high > low else [])]
        ranges = rating_ranges(counts, bar_width(counts), float(low))
        assert sum(each.players for each in ranges) == sum(each.players for each in counts)
        assert len(ranges) <= 41
        assert all(each.low % (each.high - each.low) == 0 for each in ranges)
        assert [each.is_own for each in ranges] == [True] + [False] * (len(ranges) - 1)
    assert rating_ranges([], 1, None) == ()
    quarters = [RatingCount(1, 1), RatingCount(2, 2), RatingCount(9, 1)]
    assert [rating_at(quarters, share) for share in (0.25, 0.5, 0.75)] == [1, 2, 2]
    assert rating_at([], 0.5) == 0
