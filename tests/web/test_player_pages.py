"""Player pages match the API, use one rounding rule, and link to every reason."""

import json
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from urllib.parse import quote, unquote

import pytest
from html_tree import as_number, tree
from starlette.testclient import TestClient

from podium.service import create_app
from podium.service.web.player_tiles import encounter_words
from podium.service.web.players import rank_tile
from podium.service.web.rendering import PoolHeader
from podium.store import Store
from podium.support.words import shown, shown_change, signed
from podium.systems import find
from podium.views.player_models import Encounters

API = "/api/v1/pools"
START = datetime(1950, 1, 1, 10, tzinfo=UTC)


class InProcess:
    """The pages of a test's own store, read without a server."""

    def __init__(self, client):
        self.client = client

    def get(self, path, accept="text/html"):
        found = self.client.get(path, headers={"Accept": accept})
        return found.status_code, found.headers, found.text


def events(name, count, days, players, spoil=()):
    """Yield events in which the players finish in this order or its reverse."""
    for number in range(1, count + 1):
        order = players[::-1] if number in spoil else players
        started_at = (START + timedelta(days=days * number)).isoformat()
        for place, player in enumerate(order, start=1):
            yield {"event_id": f"{name}{number}", "started_at": started_at, "player": player, "position": place}


@pytest.fixture(scope="module")
def lives(tmp_path_factory):
    """Yield stores of a long history, a new player and a season."""
    store = Store(str(tmp_path_factory.mktemp("lives") / "podium.db"))
    for pool, system in (("long", "elo"), ("fresh", "trials"), ("weekly", "elo")):
        store.create_pool(pool, find(system)(), public=True)
    store.submit("long", list(events("y", 38, 731, ["Ana", "Ben"], spoil=range(1, 38, 2))))
    store.submit("fresh", list(events("f", 12, 1, ["Ana", "Ben", "Cleo"])))
    store.submit("fresh", list(events("z", 1, 40, ["Zed", "Ana"])))
    store.submit("weekly", list(events("w", 120, 7, ["Ana", "Ben"])))
    store.begin_season("weekly", "summer", store.event("weekly", "w60").when, keep=0.5)
    store.create_pool("eras", find("elo")(), public=True, player_word="driver")
    store.submit("eras", list(events("old", 9, 1, ["Ada", "Bob", "Cy", "Dee", "Edo"])))
    store.submit("eras", list(events("odd", 1, 30, ["Ida", "Cy"])))  # one event long ago
    store.submit("eras", list(events("new", 1, 20_000, ["Gus", "Hal"])))
    with closing(store), TestClient(create_app(store)) as client:
        yield InProcess(client)


def read(site, path):
    status, _, text = site.get(path)
    assert status == 200, text[-2000:]
    return tree(text)


def answer(site, path):
    status, _, text = site.get(f"{API}{path}", accept="application/json")
    assert status == 200, text
    return json.loads(text)


def tiles(root):
    return {
        each.first("dt").text: each.first("dd").text.removesuffix(each.first("small").text).strip()
        for figures in root.every("dl")
        for each in figures.nodes
    }


def rows_of(section):
    return section.first("tbody").every("tr")


def section(root, heading):
    return next(each for each in root.every("section") if each.attributes.get("aria-labelledby") == heading)


@pytest.mark.parametrize(
    ("pool", "name", "digits"),
    [("bikes", "Dragana", 1), ("karts", "Tomás", 1), ("forty", "Entrant 02", 3), ("club", "Dan", 1)],
)
def test_the_figures_match_the_api(site, pool, name, digits):
    card = answer(site, f"/{pool}/players/{quote(name)}/card")
    root = read(site, f"/{pool}/players/{quote(name)}")
    found = tiles(root)
    assert as_number(found["Rating"]) == shown(card["rating"], digits - 1)
    assert f"{card['events']} events since" in root.first("main").text
    if card["rank"] is not None:
        assert as_number(found["Rank"]) == card["rank"]
    rows = list(rows_of(section(root, "form")))
    assert len(rows) == len(card["form"]) == min(10, card["events"])
    changes = []
    for row, line in zip(rows, card["form"], strict=True):
        event, place, change, _, rating = row.nodes
        assert event.first("a").text == line["event_id"]
        assert place.text.startswith(str(line["rank"]))
        assert change.number == shown(line["shown"], digits)
        assert rating.number == shown(line["rating"], digits - 1)
        assert unquote(change.first("a").attributes["href"]) == f"/{pool}/events/{line['event_id']}/{name}"
        changes.append(change.number)
    judged = changes[: max(0, min(10, card["events"] - 5))]
    assert card["last_ten_events"] == len(judged)
    assert sum(judged) == shown(card["last_ten_shown"], digits)
    assert card["deviation"] is None or f"±{shown(2 * card['deviation'], digits - 1)}" in root.first("dl", "key").text


@pytest.mark.parametrize("pool", ["bikes", "karts", "club", "forty"])
def test_sentences_never_contradict_the_history(site, pool):
    """The lead tells the distance to the next rank, and the chart the highest rating that it shows."""
    board = answer(site, f"/{pool}/leaderboard?min_events=0&top=12")
    for name in [row["player"] for row in board["players"]]:
        card, curve = (answer(site, f"/{pool}/players/{quote(name)}/{kind}") for kind in ("card", "curve"))
        root = read(site, f"/{pool}/players/{quote(name)}")
        lead = root.first("p", "lead").text if card["provisional"] or len(card["nearby"]) > 1 else ""
        later = [point for point in curve if point["event_id"]][5:]
        if len(curve) == card["events"]:
            peak = max(later, key=lambda each: each["rating"] - 2 * (each["deviation"] or 0.0), default=None)
            assert card["peak"] is None or card["peak"]["rating"] == peak["rating"]
        widest = 2.0 * (curve[-1]["deviation"] or 0.0)
        banded = [point for point in curve if (point["deviation"] or 0.0) <= widest]
        highest = max(banded, key=lambda point: point["rating"])
        labels = [each.text for each in root.every("text") if "highest" in each.text]
        digits = 0 if pool != "forty" else 2
        assert labels == ([f"highest {shown(highest['rating'], digits)}"] if highest["rating"] > card["rating"] else [])
        above = [each for each in card["nearby"] if each["ahead"] > 0]
        if card["provisional"]:
            assert "Provisional rating after" in lead
        elif above:
            gap = shown(above[-1]["rating"], digits) - shown(card["rating"], digits)
            assert gap != gap.to_integral() or lead.startswith(f"{gap} point" if gap else "Level with")
        elif lead:
            assert lead.startswith("Leads by ")
        assert (card["rank"] is None) <= card["provisional"]


def test_a_player_with_one_event_has_few_figures(site):
    root = read(site, "/club/players/Eve")
    assert root.first("p", "lead").text.startswith("Provisional rating after 1 event.")
    assert root.first("h2") is not None
    assert not [each for each in root.every("h2") if each.text == "Best and worst days"]
    assert len(list(root.every("nav", "pick"))) == 0  # no shorter range exists
    assert len(list(rows_of(section(root, "form")))) == 1
    assert section(root, "history").text.endswith("A chart needs at least two events.")
    assert len(list(section(root, "history").every("figure"))) == 0


def test_deviations_and_decimals_depend_on_the_system(site):
    karts = read(site, "/karts/players/Tom%C3%A1s")
    assert "±" not in karts.first("main").text
    assert not [each for each in karts.every("path") if "band" in each.classes]
    forty = read(site, "/forty/players/Entrant%2002")
    assert [each for each in forty.every("path") if "band" in each.classes]
    assert "." in tiles(forty)["Rating"]


def test_the_first_screen_answers_the_main_questions(site):
    """It shows the gap to the next rank, and marks the best and worst day and the highest rating."""
    card = answer(site, "/bikes/players/Dragana/card")
    root = read(site, "/bikes/players/Dragana")
    above = card["nearby"][1]
    gap = shown(above["rating"], 0) - shown(card["rating"], 0)
    assert root.first("p", "lead").text == f"{gap} points behind {above['player']}, 2nd."
    assert "established, certain to ±" in root.first("dl", "key").text
    newest = card["form"][0]
    last = f"Last: {newest['event_id']}, {newest['rank']}"
    assert any(each.text.startswith(last) and each.text.endswith("Why?") for each in root.every("p"))
    labels = [each.text for each in root.first("svg", "chart").every("text")]
    days = sorted(answer(site, "/bikes/players/Dragana/changes")["rows"], key=lambda day: day["shown"])
    for words, line in (("best day", days[-1]), ("worst day", days[0])):
        assert f"{words} {signed(shown(line['shown'], 1))}" in labels
        (link,) = [
            each for each in root.first("svg", "chart").every("a") if f"/{line['event_id']}/" in each.attributes["href"]
        ]
        assert "desk" not in link.classes
    first = card["encounters"][0]
    assert f"Beats {first['opponent']} in {first['ahead']} of {first['met']}" in root.first("main").text


def test_the_reasons_of_the_last_ten_events_add_up(site):
    totals = answer(site, "/bikes/players/Dragana/reasons?events=10")
    root = read(site, "/bikes/players/Dragana")
    (address,) = [each.attributes["data-fetch"] for each in root.every("section") if each.attributes.get("id") == "sum"]
    found = read(site, address)
    assert found.first("h2").text == totals["summary"]
    rows = list(rows_of(found))
    assert [row.nodes[-1].number for row in rows] == sorted(
        (shown(each["shown"], 1) for each in totals["reasons"]), key=lambda points: -abs(points)
    )
    total = found.first("tfoot").every("td")
    assert sum(row.nodes[-1].number for row in rows) == [*total][-1].number == shown(totals["shown"], 1)
    linked = {unquote(link.attributes["href"]) for row in rows for link in row.every("a")}
    few = [each["events"] for each in totals["reasons"] if len(each["events"]) <= 2]
    assert linked == {f"/bikes/events/{event}/Dragana" for events in few for event in events}
    assert len(linked) == 2


def test_an_opponents_name_can_contain_a_comma():
    pool = PoolHeader("karts", "Karts", "Elo", 1, "driver")
    words = encounter_words(pool, (Encounters("Doe, John", met=5, ahead=1, behind=4),))
    assert [tree(str(each)).text for each in words] == ["Beaten by Doe, John in 4 of 5"]


def test_the_next_race_shows_its_stakes_and_the_next_rank(site):
    root = read(site, "/bikes/players/Viktor")
    race = next(each for each in root.every("p") if each.attributes.get("id") == "first")
    assert race.first("a").attributes["href"] == "/bikes/matches/tonight"
    assert "6 riders. " in race.text
    assert " gain" in race.text
    assert " passes " not in race.text  # not even the first place would be
    forty = read(site, "/forty/players/Entrant%2002")  # this race's table is too slow for a page
    race = next(each for each in forty.every("p") if each.attributes.get("id") == "first")
    assert " gain" not in race.text
    late = read(site, race.attributes["data-fetch"])
    assert " gain" in next(each for each in late.every("p") if each.attributes.get("id") == "first").text


def test_players_see_what_is_new_once_per_visit(sqlite_store, monkeypatch):
    """The page can still be cached. The news starts at the end of the last visit, and survives a reload."""
    sqlite_store.create_pool("us", find("elo")(), public=True)
    sqlite_store.submit("us", list(events("e", 6, 1, ["Ana: Ben", "Cleo"])))
    page = f"/us/players/{quote('Ana: Ben')}"
    with closing(sqlite_store), TestClient(create_app(sqlite_store)) as client:
        assert 'id="since"' not in client.get(page).text
        client.post(f"{page}/me", data={"me": "yes"})
        first = client.get(page)
        assert f'data-fetch="{page}/news"' in first.text

        def news(minute):
            monkeypatch.setattr("podium.service.web.players.time.time", lambda: 60.0 * minute)
            return next(
                each
                for each in tree(client.get(f"{page}/news").text).every("p")
                if each.attributes.get("id") == "since"
            ).text

        assert news(1_000) == "Nothing new since you were last here."
        assert client.get(page, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
        sqlite_store.submit("us", list(events("f", 1, 30, ["Cleo", "Ana: Ben"])))
        sqlite_store.submit("us", list(events("g", 1, 31, ["Cleo", "Dov"])))
        sqlite_store.void("us", "e6")
        lost = signed(shown(sqlite_store.player_card("us", "Ana: Ben").form[0].shown, 1))
        for minute in (1_040, 1_060):  # the same visit
            text = news(minute)
            assert text.startswith(f"Since you were last here: {lost} in 1 event, f1 {lost}")
            assert text.endswith("2 new results in total, 1 correction.")
        assert news(1_100) == "Nothing new since you were last here."
        assert client.get("/us/players/Cleo/news", headers={"Cookie": "me=Cleo:1:x:-2"}).status_code == 200


def test_a_provisional_player_has_a_likely_rank(lives):
    card = answer(lives, "/fresh/players/Zed/card")
    assert card["rank"] is None
    root = read(lives, "/fresh/players/Zed")
    assert "once established; would be first" in root.first("dl", "key").text
    assert tiles(root)["Rank"] == "–"  # noqa: RUF001  (a dash)


def test_a_changed_rank_has_a_date(site):
    card = site.store.player_card("bikes", "Dragana")
    for move, word in ((2, "up"), (-3, "down")):
        tile = rank_tile(replace(card, move=move, since=date(2025, 12, 15)), "30 established riders")
        note = tree(str(tile.note)).text
        assert note == f"{'▲' if move > 0 else '▼'}{word}{abs(move)} since 15 Dec, of 30 established riders"


def test_the_history_chart_links_to_reasons(site):
    root = read(site, "/karts/players/Tom%C3%A1s")
    chart = root.first("svg", "chart")
    addresses = [each.attributes["href"] for each in chart.every("a")]
    assert addresses
    for address in (addresses[0], addresses[-1]):
        assert site.get(address)[0] == 200
    assert all(each.attributes["aria-label"].startswith("Why ") for each in chart.every("a"))
    curve = answer(site, "/karts/players/Tom%C3%A1s/curve")
    assert chart.attributes["aria-label"].endswith(f"{shown(curve[-1]['rating'], 0)} at the end")


def test_a_range_shortens_a_long_history(lives):
    whole, five = (read(lives, f"/long/players/Ana{query}") for query in ("", "?range=5y"))
    assert [each.text for each in whole.first("nav", "pick").every("a")] == ["1 year", "5 years", "All"]
    assert len(list(whole.first("svg", "chart").every("a"))) == 38
    assert len(list(five.first("svg", "chart").every("a"))) == 3
    assert whole.first("nav", "pick").nodes[2].attributes["aria-current"] == "true"
    assert "1960" in whole.first("svg", "chart").text
    assert lives.get("/long/players/Ana?range=2y")[0] == 422


def test_a_visitor_can_choose_a_player(site):
    name = "a/b?c=d#e&f%20"
    path = f"/names/players/{quote(name, safe='')}"
    with TestClient(create_app(site.store), headers={"Accept": "text/html"}, follow_redirects=False) as client:
        assert "This is me" in client.get(path).text
        chosen = client.post(f"{path}/me", data={"me": "yes"})
        assert (chosen.status_code, chosen.headers["location"]) == (303, path)
        assert "HttpOnly" in chosen.headers["set-cookie"]
        assert "SameSite=lax" in chosen.headers["set-cookie"]
        assert "Path=/names;" in chosen.headers["set-cookie"]
        mine = client.get(path).text
        assert "Not me" in mine
        assert "This is me" not in mine
        assert "This is me" in client.get(f"/names/players/{quote('שרה לוי')}").text
        assert client.post(f"{path}/me", data={"me": "no"}).status_code == 303
        assert "This is me" in client.get(path).text
        assert client.post(f"{path}/me", data={"me": "perhaps"}).status_code == 422
        assert client.post("/names/players/Nobody/me", data={"me": "yes"}).status_code == 404
        elsewhere = {"Origin": "https://elsewhere.example"}
        assert client.post(f"{path}/me", data={"me": "yes"}, headers=elsewhere).status_code == 403


def test_every_change_is_on_exactly_one_page(lives):
    seen, path = [], "/weekly/players/Ana/changes"
    while path:
        root = read(lives, path)
        rows = list(root.first("tbody").every("tr"))
        assert len(rows) <= 50
        for row in rows:
            link = row.nodes[0].first("a")
            seen.append((link and link.text, row.nodes[2].number))
        following = [each for each in root.every("a") if each.attributes.get("rel") == "next"]
        path = following[0].attributes["href"] if following else ""
    history = answer(lives, "/weekly/players/Ana?most=1000")["history"]
    assert seen == [(each["event_id"], shown_change(each["rating_before"], each["rating"], 1)) for each in history]
    assert lives.get("/weekly/players/Ana/changes?before=nonsense")[0] == 422


def test_rivals_match_the_api(site):
    found = answer(site, "/bikes/players/Dragana/rivals")
    root = read(site, "/bikes/players/Dragana/rivals")
    part = next(each for each in root.every("div") if each.attributes.get("id") == "rivals")
    for row, rival in zip(rows_of(section(root, "met")), found["opponents"], strict=False):
        name, met, won, expected, points = row.nodes
        assert (name.text, met.number) == (rival["opponent"], rival["met"])
        assert won.number == Decimal(str(rival["score"]))
        assert expected.number == shown(rival["expected"], 1)
        assert points.number == shown(rival["points"], 1)
    assert f"{found['expected']:,.1f} expected" in part.text
    if found["best_win"]:
        assert found["best_win"]["opponent"] in part.text
    details = next(each for each in read(site, "/bikes/players/Dragana").every("details"))
    assert details.attributes["data-load"] == "/bikes/players/Dragana/rivals"
    assert details.attributes["data-part"] == "#rivals"
    assert details.first("a").attributes["href"] == "/bikes/players/Dragana/rivals"


def test_an_unknown_player_page_suggests_similar_names(site):
    status, _, text = site.get("/bikes/players/Draganna")
    assert status == 404
    assert "/bikes/players/Dragana" in {each.attributes.get("href") for each in tree(text).every("a")}
    for path in ("/bikes/players/Draganna/changes", "/bikes/players/Draganna/rivals", "/nothing/players/Ana"):
        assert site.get(path)[0] in {401, 404}


def test_ranks_in_a_mostly_inactive_pool_match_its_leaderboard(lives):
    rows = list(read(lives, "/eras").first("tbody").every("tr"))
    board = {row.first("a").text: row.first("td").text for row in rows}
    assert board == {"Gus": "1", "Hal": "2"}
    for name, rank in board.items():
        page = read(lives, f"/eras/players/{name}")
        tile = next(each for each in page.every("div") if each.first("dt") and each.first("dt").text == "Rank")
        assert tile.first("dd").text == f"{rank} of 2 drivers who played in the last year"
        near = next(each for each in page.every("section") if each.attributes.get("aria-labelledby") == "near")
        assert [each.first("td").text for each in near.first("tbody").every("tr")] == ["1", "2"]
        _, _, badge = lives.get(f"/eras/players/{name}/badge.json")
        assert f"#{rank} of 2" in badge
    for name in ("Ada", "Ida"):
        assert "of 8 drivers" in read(lives, f"/eras/players/{name}").text
    _, _, answer = lives.get("/eras/compare")
    assert "<bdi>Gus</bdi> or <bdi>Hal</bdi>?" in answer
    ten = next(row for row in tree(answer).every("tr") if "Last events at most ten" in row.text)
    assert [each.text for each in ten.every("td")] == ["\N{EN DASH}"] * 2  # the first five events are not among these
