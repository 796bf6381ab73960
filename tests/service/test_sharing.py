"""Content for other sites: feeds, badges, an embedded leaderboard, and pictures of rating changes."""

import re
import struct
from itertools import pairwise
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from leagues import HOSTILE, add_names, add_season
from starlette.testclient import TestClient

from podium import rate
from podium.pages import share_picture as pictures
from podium.pages.share_picture import FONTS_VARIABLE, TALL, WIDE, draw_png, share_picture
from podium.pages.why import why_view
from podium.service import create_app
from podium.service.site.pages import read_pages
from podium.service.web import sharing
from podium.store import Store
from podium.store.keys import create_key
from podium.support.words import MINUS, part
from podium.systems import find

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    opened = Store(str(tmp_path_factory.mktemp("shared") / "podium.db"))
    add_season(opened, ("bikes",))
    add_names(opened)
    opened.create_pool("secret", opened.pool("bikes").system)
    opened.create_pool("sure", find("trueskill")(), public=True)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def visitor(season):
    with TestClient(create_app(season), follow_redirects=False) as client:
        yield client


def feed_of(answer):
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/atom+xml")
    return ET.fromstring(answer.content)  # noqa: S314  (our own)


def test_a_feed_lists_the_newest_events_with_their_headlines(season, visitor):
    feed = feed_of(visitor.get("/bikes/feed.xml"))
    events = season.event_list("bikes", top=30).events
    titles = [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]
    assert titles == [f"{each.title or each.event_id}: {each.headline}" for each in events]
    assert feed.findtext(f"{ATOM}updated") == events[0].started_at.isoformat().replace("+00:00", "Z")
    for entry in feed.iter(f"{ATOM}entry"):
        address = entry.find(f"{ATOM}link").get("href")
        assert address == entry.findtext(f"{ATOM}id")
    assert visitor.get(address, headers={"Accept": "text/html"}).status_code == 200


def test_a_players_feed_matches_the_pages(season, visitor):
    feed = feed_of(visitor.get("/bikes/players/Dragana/feed.xml"))
    titles = [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]
    assert f"Dragana {MINUS}40.5 in bikes-058" in titles
    assert len(titles) == season.rank("bikes", "Dragana").events


def test_names_are_escaped_in_feeds_badges_and_pictures(visitor):
    feed_of(visitor.get("/names/feed.xml"))
    for name in HOSTILE:
        feed = feed_of(visitor.get(f"/names/players/{part(name)}/feed.xml"))
        assert name in feed.findtext(f"{ATOM}title")
        badge = visitor.get(f"/names/players/{part(name)}/badge.svg")
        assert badge.headers["content-type"] == "image/svg+xml"
        svg = ET.fromstring(badge.content)  # noqa: S314
        assert {each.tag.rpartition("}")[2] for each in svg.iter()} == {"svg", "title", "rect", "g", "text"}
    event = next(ET.fromstring(visitor.get("/names/feed.xml").content).iter(f"{ATOM}entry")).findtext(f"{ATOM}id")  # noqa: S314
    assert visitor.get(f"{event}/{part(HOSTILE[0])}/picture.png").status_code == 200


def test_a_badge_matches_the_page_and_can_be_embedded(season, visitor):
    answer = visitor.get("/bikes/players/Dragana/badge.json")
    card = season.player_card("bikes", "Dragana")
    assert answer.json()["label"] == "Bikes"
    assert answer.json()["message"] == f"{card.rating:.0f} ±{2 * card.deviation:.0f} · #{card.rank} of {card.listed}"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert "public" not in visitor.get("/bikes/feed.xml").headers["cache-control"]  # it contains the host
    again = visitor.get("/bikes/players/Dragana/badge.json", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    assert visitor.get("/bikes/players/nobody/badge.svg").status_code == 404


def test_only_the_embedded_leaderboard_can_be_framed(visitor):
    embedded, board = visitor.get("/bikes/embed"), visitor.get("/bikes", headers={"Accept": "text/html"})
    assert "frame-ancestors *" in embedded.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in board.headers["content-security-policy"]
    assert "Zoë" in embedded.text
    assert "<script" not in embedded.text
    ranks = {name: board.text.find(f">{name}<") for name in re.findall(r"<bdi>([^<]+)</bdi>", embedded.text)[1:]}
    assert list(ranks.values()) == sorted(ranks.values())


def test_conservative_ranks_are_the_same_everywhere(season, visitor):
    """The setting changes after the results. The winner of only one race falls behind more certain players."""
    order = ["abcd", "bacd", "abdc", "acbd", "bcad", "na"]
    rows = [
        {"event_id": f"e{number}", "started_at": f"2026-03-0{number + 1}", "player": player, "position": place}
        for number, players in enumerate(order)
        for place, player in enumerate(players, start=1)
    ]
    plain, less = find("trueskill")(), find("trueskill")(conservative=3.0)
    season.submit("sure", rows)
    season.configure("sure", less)
    assert season.verify("sure") == []
    board, by_score = (rate(rows, each).leaderboard() for each in (plain, less))
    best_first = by_score["player"].to_list()
    assert board["player"][0] == "n" != best_first[0]
    assert (
        best_first == by_score.sort(pl.col("rating") - 3.0 * pl.col("deviation"), descending=True)["player"].to_list()
    )
    assert dict(by_score.select("player", "rating").iter_rows()) == dict(board.select("player", "rating").iter_rows())
    answer = visitor.get("/api/v1/pools/sure/leaderboard").json()
    assert [(row["rank"], row["player"]) for row in answer["players"]] == [*enumerate(best_first, start=1)]
    with season.at_one_moment() as view:
        [(_, page)] = read_pages(view, ["sure"], ["/sure"])
    for text in (page, visitor.get("/sure", headers={"Accept": "text/html"}).text, visitor.get("/sure/embed").text):
        assert re.findall(r"<bdi>([abcdn])</bdi>", text.partition("<table")[2])[:5] == best_first
    assert "Ranks follow the rating minus 3 times the deviation." in page
    for rank, name in enumerate(best_first, start=1):
        assert visitor.get(f"/sure/players/{name}/badge.json").json()["message"].endswith(f"#{rank} of 5")
        card, known = season.player_card("sure", name), visitor.get(f"/api/v1/pools/sure/players/{name}").json()
        assert card.rank == known["rank"] == rank
        assert "".join(row.player for row in card.nearby) in "".join(best_first)
    assert season.stakes("sure", ["n", "a"], "n").field["rank"].to_list() == [
        best_first.index(each) + 1 for each in "na"
    ]


def test_a_picture_is_drawn_once_until_a_correction(season, visitor, monkeypatch):
    drawn, draw = [], sharing.draw

    def draw_counted(*args):
        drawn.append(args)
        return draw(*args)

    monkeypatch.setattr(sharing, "draw", draw_counted)
    address = "/bikes/events/bikes-058/Dragana/picture.png"
    page = visitor.get("/bikes/events/bikes-058/Dragana", headers={"Accept": "text/html"}).text
    assert f'property="og:image" content="http://testserver{address}"' in page
    first = visitor.get(address).content
    assert first == visitor.get(address).content
    assert struct.unpack(">II", first[16:24]) == (1200, 630)
    tall = visitor.get(address, params={"size": "tall"}).content
    assert struct.unpack(">II", tall[16:24]) == (1080, 1350)
    assert len(drawn) == 2
    season.void("bikes", "bikes-001", actor="test")
    assert visitor.get(address).content != first
    season.unvoid("bikes", "bikes-001", actor="test")
    assert visitor.get("/bikes/events/bikes-058/nobody/picture.png").status_code == 404
    assert visitor.get(address, params={"size": "huge"}).status_code == 422


def drawn_text(words):
    return draw_png(pictures.picture(pictures.Size(200, 60), "#fff", pictures.text(10, 40, words, 24, "#000")))


def test_letters_missing_from_all_fonts_are_transcribed(monkeypatch):
    monkeypatch.delenv(FONTS_VARIABLE, raising=False)
    letters = [drawn_text(letter) for letter in "aZéłőĐΩλжЯЇђ1→…"]
    assert len({*letters, drawn_text("")}) == len(letters) + 1
    monkeypatch.setattr(pictures, "is_missing", lambda letter, **_: letter in "雪محد🔥\uff1c\uffff")
    for name, words in (
        ("雪", "Xue"),
        ("محمد", "mhmd"),
        ("🔥 Ana", "Ana"),
        (":) Ana", ":) Ana"),
        ("🔥Ana雪", "Ana"),
        ("雪محد won", "Xuemhd won"),
        ("雪雪", "Xue Xue"),
        ("\uff1c1", "<1"),
        ("\uffff", "?"),
    ):
        assert drawn_text(name) == drawn_text(words)


def test_a_letter_is_missing_if_no_font_has_it():
    assert not any(pictures.is_missing(letter, system_fonts=False) for letter in "aéЖ\u200c")
    assert all(pictures.is_missing(letter, system_fonts=False) for letter in "שع田김న🔥")
    assert pictures.is_missing("\U0010fff0", system_fonts=True)


def test_another_folder_can_provide_fonts(monkeypatch):
    expected = drawn_text("Ana")
    folder = pictures.Path(pictures.FONTS[0]).parent
    monkeypatch.setattr(pictures, "FONTS", ())
    monkeypatch.setenv(FONTS_VARIABLE, str(folder))
    assert drawn_text("Ana") == expected
    monkeypatch.delenv(FONTS_VARIABLE)
    assert drawn_text("Ana") == drawn_text("")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("\U0001f3ce\ufe0f", "\U0001f3ce"),
        ("\U0001f44d\U0001f3fd", "\U0001f44d"),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\U0001f680"),
    ],
)
def test_a_combined_emoji_is_drawn_as_its_parts(name, parts):
    """Otherwise the renderer would find no font for the whole name."""
    assert drawn_text(name) == drawn_text(parts)


@pytest.mark.parametrize("players", [2, 6, 8, 9, 10, 30])
def test_lines_in_a_picture_do_not_overlap(players):
    """The baselines at each edge are about one letter height apart."""
    field = [{"event_id": "e", "player": f"player {k:02} of many", "position": k} for k in range(1, players + 1)]
    view = why_view(rate(field, "elo").explain("e", "player 01 of many"))
    for size in (WIDE, TALL):
        root = ET.fromstring(share_picture(view, "heading", "address", size))  # noqa: S314  (our own)
        for edge in (pictures.MARGIN, size.width - pictures.MARGIN):
            texts = [each for each in root.findall(".//{*}text") if each.get("x") == f"{edge:.1f}"]
            lines = sorted((float(each.attrib["y"]), float(each.attrib["font-size"])) for each in texts)
            assert len(lines) > 1
            assert all(below - above >= 0.85 * letter for (above, _), (below, letter) in pairwise(lines)), lines


def test_private_content_is_never_cached_publicly(season, visitor):
    secret = create_key(season.engine, "reader", "read", pool="secret")
    for path in ("/secret/feed.xml", "/secret/embed"):
        assert visitor.get(path).status_code == 401
        answer = visitor.get(path, headers={"Authorization": f"Bearer {secret}"})
        assert answer.status_code == 200
        assert "public" not in answer.headers["cache-control"]
