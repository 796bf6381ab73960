"""The report: one file, with the numbers of the library, that loads nothing and can be read on every screen."""

import base64
import hashlib
import re
from decimal import Decimal

import polars as pl
import pytest
from html_tree import tree
from leagues import HOSTILE, SEASON, START
from served import EVERY_WAY, SCREENS
from test_every_page import test_each_waterfall_adds_up as check_waterfalls
from test_screens import AXE, MEASURE, SIDEWAYS, UNFOLD, Axe

import podium
from podium.reporting import report as reports
from podium.reporting.report import report
from podium.support.rounding import shown, shown_change

MAX_SEASON = 1_500_000
WAYS = SCREENS if EVERY_WAY else [(320, "light"), (390, "dark"), (1280, "light")]


@pytest.fixture(scope="module")
def season():
    return podium.rate(SEASON, "elo")


@pytest.fixture(scope="module")
def season_text(season):
    return report(season)


@pytest.fixture(scope="module")
def names_text():
    """A league of names that pages could stumble over, beside a pool of newcomers whose results have no end."""
    rows = [
        {"event_id": f"</title>{number}", "pool": "<b>signs</b>", "started_at": f"{START:%Y-%m}-{1 + number:02}"}
        | {"player": name, "position": 1 + (place + number * 5) % len(HOSTILE)}
        for number in range(8)
        for place, name in enumerate(HOSTILE)
    ]
    few = [row | {"pool": "few", "event_id": f"few {row['event_id']}"} for row in rows[: len(HOSTILE)]]
    return report(podium.rate([*rows, *few], "folyami"), title="<script>alert(4)</script>")


def check_that_it_stands_alone(text):
    root = tree(text)
    assert root.first("title").text
    for each in root.every():
        assert each.tag not in {"img", "iframe", "object", "form"}
        for attribute, value in each.attributes.items():
            assert not attribute.startswith("on")
            assert attribute not in {"style", "src", "srcset", "action"}
            if attribute == "href":
                assert value.startswith("#" if each.tag == "a" else "data:image/svg+xml;base64,")
    (style,), (_,) = root.every("style"), root.every("script")
    assert "url(" not in style.text
    assert "@import" not in style.text
    assert "@media (prefers-color-scheme:dark){:root{" in style.text
    policy = next(each for each in root.every("meta") if "http-equiv" in each.attributes).attributes["content"]
    for kind in ("style", "script"):
        content = re.search(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    anchors = [each.attributes["id"] for each in root.every() if "id" in each.attributes]
    assert len(anchors) == len({*anchors})
    links = {each.attributes["href"][1:] for each in root.every("a")}
    assert links <= {*anchors}
    return root


def test_the_season_is_shown_whole_in_the_numbers_of_the_library(season, season_text):
    assert len(season_text.encode()) <= MAX_SEASON
    root = check_that_it_stands_alone(season_text)
    check_waterfalls((None, None, None, root))
    boards = [*root.every("table", "board")]
    pools = season.ratings["pool"].unique(maintain_order=True).to_list()
    assert [each.text for each in root.first("nav").every("a")] == [*pools, "Predictions", "Rules"]
    sections = {
        (pools[int(each.attributes["id"].split("-")[1]) - 1], each.parent.first("bdi").text): each
        for each in root.every("div")
        if re.fullmatch(r"player-\d+-\d+", each.attributes.get("id", ""))
    }
    assert len(sections) == season.ratings.height
    digits = season.system.digits
    for pool, table in zip(pools, boards, strict=True):
        standings = season.leaderboard(pool=pool)
        rows = [*table.first("tbody").every("tr")]
        assert [row.first("bdi").text for row in rows] == standings["player"].to_list()
        assert [row.first("td", "rank").number for row in rows] == standings["rank"].to_list()
        ratings = [shown(each, digits - 1) for each in standings["rating"]]
        assert [row.first("td", "rating").number for row in rows] == ratings
    for (pool, player), section in sections.items():
        career = season.history.filter(pool=pool, player=player)
        changes = [
            shown_change(row["rating_before"], row["rating"], digits) for row in career.tail(10).iter_rows(named=True)
        ]
        form = [*section.first("table").first("tbody").every("tr")]
        assert [row.nodes[2].number for row in form] == changes[::-1]
        assert [row.nodes[3].number for row in form] == [shown(each, digits - 1) for each in career["rating"].tail(10)][
            ::-1
        ]
        judged = changes[-max(0, min(10, career.height - 5)) :] if career.height > 5 else []
        totals = [each for each in section.every("div") if each.text.startswith(("Last ten", "Since the fifth"))]
        for total in totals:
            assert Decimal(total.first("dd").children[0].strip().replace("\N{MINUS SIGN}", "-")) == sum(judged)
        assert len(totals) == bool(judged)
        newest = section.first("ol", "why").nodes[-1].nodes[-1]
        assert newest.number == changes[-1]
    scores = podium.evaluate(season.results, "elo").scores
    fit = {row.first("b").text: row.nodes[-1].text for row in root.every("tr") if row.first("b")}
    assert fit["Log loss"] == f"{scores['log_loss'][0]:.4f}"
    assert fit["Pairs"] == f"{scores['pairs'][0]:,}"


def test_names_of_any_letters_do_no_harm(names_text):
    root = check_that_it_stands_alone(names_text)
    check_waterfalls((None, None, None, root))
    for each in root.every():
        for text in (child for child in each.children if isinstance(child, str)):
            if text.strip() in HOSTILE:
                assert each.tag == "bdi", text
    assert "&lt;script&gt;alert(4)" in names_text
    assert "They have played too little to be ranked." in names_text
    assert {each.first("bdi").text for each in root.every("details", "player")} == {*HOSTILE}


def test_the_page_of_a_large_league_says_what_it_leaves_out(season, monkeypatch):
    monkeypatch.setattr(reports, "MOST_SECTIONS", 7)
    monkeypatch.setattr(reports, "MOST_ROWS", 12)
    rows = season.results.frame.filter(pl.col("pool").is_in(["bikes", "duel"]))
    root = check_that_it_stands_alone(report(podium.rate(rows, "trueskill")))
    notes = [each.text for each in root.every("p", "note")]
    assert notes == [
        "24 players below these are left out; podium leaderboard lists everybody.",
        "3 of 30 players: the best of those who played in the last year.",
        "21 players below these are left out; podium leaderboard lists everybody.",
        "3 of 27 players: the best of those who played in the last year.",
    ]
    assert len([*root.every("details", "player")]) == 6
    assert len(root.first("table", "board").nodes[1].nodes) == 6


@pytest.mark.parametrize(("width", "scheme"), WAYS)
def test_it_can_be_read_and_used_on_every_screen(screens, names_text, tmp_path, width, scheme):
    path, refused = tmp_path / "report.html", []
    path.write_text(names_text, encoding="utf-8")
    page = screens(
        width,
        scheme,
        console=lambda message: refused.append(message.text),
        request=lambda request: refused.append(request.url) if request.url.startswith("http") else None,
    )
    page.goto(path.as_uri())
    assert page.evaluate(SIDEWAYS) <= 0
    page.fill("#q", "JAVASCRIPT:")
    assert page.locator("tr[data-player]:visible").count() == 2
    assert page.inner_text("#found") == "2 found"
    page.locator("tr[data-player]:visible a").first.click()
    opened = page.locator("details[open].player")
    assert opened.count() == 1
    assert opened.locator("bdi").first.inner_text() == "javascript:alert(3)"
    page.fill("#q", "")
    page.evaluate(UNFOLD)
    seen = page.evaluate(MEASURE)
    assert seen == {"pale": [], "small": [], "broken": [], "sideways": min(0, seen["sideways"]), "wide": []}
    if scheme == "light":
        violations = Axe().run(page, options=AXE).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in violations] == []
    assert refused == []


def test_without_scripts_it_only_lacks_the_search(screens, names_text, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(names_text, encoding="utf-8")
    page = screens(390, script=False)
    page.goto(path.as_uri())
    assert not page.locator("#q").is_visible()
    page.locator("tr[data-player] a").first.click()
    assert page.locator("details[open].player").count() == 1
