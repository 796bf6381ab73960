"""Event pages and their reasons: the text, agreement with the API, and the layout in a browser."""

import json
from decimal import Decimal
from itertools import pairwise
from urllib.parse import quote

import pytest
from html_tree import as_number, tree
from leagues import HOSTILE

from podium.pages.numbers import DASH
from podium.support.words import MINUS, part, shown, shown_change

EVENT = "/bikes/events/bikes-058"
ROWS = """() => [...document.querySelectorAll(".why > li")].flatMap(each => [
  ...each.querySelectorAll(":scope > svg, summary > svg"),
  ...(each.querySelector("details[open]") ? each.querySelectorAll("ol ol svg") : []),
]).map(svg => [...svg.querySelectorAll("rect:not([width])")].map(line => line.getBoundingClientRect())
  .filter(box => box.height > 0).map(box => [box.x, box.top, box.bottom]))"""


def page_of(site, path):
    status, _, text = site.get(path)
    assert status == 200, text[-1500:]
    return tree(text)


def texts(node, tag=None, name=None):
    return [each.text for each in node.every(tag, name)]


def test_the_page_explains_why_the_winner_lost_points(site):
    page = page_of(site, EVENT)
    card = page.first("section", "card")
    assert page.first("p", "lead").text == "Dragana won, but lost 40.5 points. Quitting heat 2 cost 33.4 of them."
    assert card.first("h2").text == "Dragana, step by step"
    assert page_of(site, f"{EVENT}/Dragana").first("h2").text == "Dragana won, but lost 40.5 points."
    assert card.first("h3").text == "Won 17.5 of 25 duels; 23.1 were expected."
    assert "the overall result counts as one more heat. A draw counts as half." in card.text
    assert f"5.6 fewer than expected, at about 7.2 points each: {MINUS}40.5." in card.text
    assert "Lost to Chidi 723 below" in card.text
    opened = [each for each in card.every("details") if "open" in each.attributes]
    assert [each.first("b").text for each in opened] == ["Heat 2"]
    table = page.first("table")
    assert table.first("caption").text.startswith("Ranked by the sum of the heats' scores.")
    rows = {row.first("th").text: [cell.text for cell in row.every("td")] for row in table.first("tbody").every("tr")}
    assert rows["Dragana"] == ["1", "3 44", "quit", "1 46", "1 81", "171", f"{MINUS}40.5"]
    assert [cells[-2] for cells in rows.values()] == ["171", "138", "135", "134", "111", "75"]
    assert page.first("meta").attributes == {"charset": "utf-8"}
    shared = {each.attributes.get("property"): each.attributes.get("content") for each in page.every("meta")}
    assert shared["og:description"] == "Dragana won, but lost 40.5 points. Quitting heat 2 cost 33.4 of them."


def test_the_numbers_match_the_api(site):
    """A change is the difference of the displayed ratings, as everywhere."""
    event = json.loads(site.get("/api/v1/pools/bikes/events/bikes-058")[2])
    page = page_of(site, EVENT)
    rows = page.first("table").first("tbody")
    changes = {row.first("th").text: row.nodes[-1].number for row in rows.every("tr")}
    assert changes == {
        each["player"]: shown_change(each["rating_before"], each["rating"], 1) for each in event["changes"]
    }
    for player in changes:
        why = json.loads(site.get(f"/api/v1/pools{EVENT}/players/{player}".replace(" ", "%20"))[2])
        steps = page_of(site, f"{EVENT}/{part(player)}").first("ol", "why").nodes
        assert as_number(steps[0].first("text").text) == Decimal(str(why["shown"]["before"]))
        assert as_number(steps[-1].first("text").text) == Decimal(str(why["shown"]["after"]))
        groups = [each.first("summary").nodes[-1].number for each in steps[1:-1]]
        assert groups == [shown(each["shown"], 1) for each in why["groups"]]
        for number, group in enumerate(steps[1:-1]):
            duels = {each.first("bdi").text: each.nodes[-1].number for each in group.first("ol").nodes}
            reasons = [each for each in why["reasons"] if each["group"] == number]
            assert duels == {each["opponent"]: shown(each["shown"], 1) for each in reasons}
        imagined = json.loads(site.get(f"/api/v1/pools{EVENT}/players/{part(player)}/what-if")[2])
        assert [shown(each["shown"], 1) for each in imagined["alternatives"]] == [
            each.number for each in list(page_of(site, f"{EVENT}/{part(player)}").first("ul", "sum").every("span"))
            if each.number is not None and set(each.classes) & {"gain", "loss", "even"}
        ]  # fmt: skip


def test_duels_match_in_the_table_and_the_waterfall(site):
    page = page_of(site, EVENT)
    table = list(page.every("table"))[-1]
    cells = {
        row.first("bdi").text: [each.number for each in row.nodes[1:-1]] for row in table.first("tbody").every("tr")
    }
    for k, group in enumerate(page.first("ol", "why").nodes[1:-1]):
        for step in group.first("ol").nodes:
            assert cells[step.first("bdi").text][k] == step.nodes[-1].number


def test_many_duels_are_grouped_into_bands_with_limits(site):
    card = page_of(site, "/grid/events/grid-22-1-6/Entrant%2005").first("section", "card")
    labels = texts(card.first("ol", "why"), "b")
    assert labels[0] == "200+ below"
    assert all(len(each.nodes) <= 12 for each in card.first("ol", "why").every("ol"))
    wide = page_of(site, "/grid/events/grid-22-8-6/Entrant%2005").first("section", "card")
    assert all(
        len(each.nodes) == 6 and "16 others, " in each.nodes[-1].text for each in wide.first("ol", "why").every("ol")
    )


def test_a_page_mentions_that_the_system_judges_the_whole_field(site):
    card = page_of(site, "/forty/events/forty-40-1-6/Entrant%2005").first("section", "card")
    assert "TrueSkill judges a whole field at once." in card.text
    assert "than expected" not in card.text


def test_pages_say_if_an_event_is_void_unrated_first_or_corrected(site):
    void, unrated, first, corrected = (page_of(site, f"/club/events/{each}") for each in ("e6", "e5", "e4/Eve", "e2"))
    assert texts(void, name="tag") == ["void", "void"]
    assert void.first("main").first("p", "note").text == "The event is void: False start."
    assert void.first("section", "card") is None
    assert [row.nodes[-1].text for row in void.first("tbody").every("tr")] == [DASH, DASH]
    assert texts(unrated, name="tag") == ["not rated", "not rated"]
    assert unrated.first("main").first("p", "note").text == "Too few entrants."
    assert "first rated event of Eve" in first.first("section", "card").text
    assert "first rated event" not in page_of(site, "/club/events/e4/Ana").text
    record = [each.text for each in list(corrected.every("ul", "list"))[-1].nodes]
    assert "The timing board had two lanes swapped" in record[1]
    assert "Dan: place 3 → place 1" in record[1]
    links = [each.attributes["href"] for each in corrected.every("a") if each.text == "Tell the organiser"]
    assert links == ["https://club.example/wrong?a=1&pool=club&event=e2&player=Dan"]
    mail = [each.attributes["href"] for each in page_of(site, EVENT).every("a") if each.text == "Tell the organiser"]
    assert mail == ["mailto:race@club.example?subject=bikes%3A%20bikes-058%2C%20Dragana"]


def test_the_rules_page_explains_how_to_remove_a_name(site):
    rules = page_of(site, "/club/system")
    (answer,) = [each.text for each in rules.every("details") if "can my name be removed?" in each.text]
    assert "replaced everywhere by one such as “player 3”" in answer
    assert answer.endswith("Write to https://club.example/wrong?a=1.")


def test_an_unchanged_page_is_not_sent_again(site):
    _, headers, _ = site.get(EVENT)
    status, _, text = site.get(EVENT, **{"If-None-Match": headers["ETag"]})
    assert (status, text) == (304, "")
    assert site.get(EVENT, **{"If-None-Match": headers["ETag"], "Cookie": "me=Otto"})[0] == 200
    assert site.get(f"{EVENT}/Otto", **{"If-None-Match": headers["ETag"]})[0] == 200


def test_a_pool_has_two_addresses(site):
    assert site.get(f"/p{EVENT}")[0] == 200
    assert site.get("/find/events/bikes-058")[0] == 404


def test_a_missing_page_is_html_for_people_and_json_for_programs(site):
    for path in ("/bikes/events/nothing", f"{EVENT}/Nobody", "/static/0/none.css"):
        status, headers, text = site.get(path)
        assert (status, headers.get_content_type()) == (404, "text/html")
        assert "Nobody" not in path or "Nobody" in text
        status, headers, _ = site.get(path, accept="application/json")
        assert (status, headers.get_content_type()) == (404, "application/problem+json")
    assert site.get("/api/v1/pools/bikes/events/nothing")[1].get_content_type() == "application/problem+json"


@pytest.mark.parametrize("name", HOSTILE)
def test_each_name_has_an_address(site, name):
    """Even a slash, a question mark or two dots lead to the player's page."""
    event = f"/names/events/{quote('</title>7', safe='')}"
    page = page_of(site, f"{event}/{part(name)}")
    assert page.first("tr", "me").first("bdi").text == " ".join(name.split())


@pytest.mark.parametrize("width", [390, 1280])
def test_the_lines_of_a_waterfall_connect(screens, width):
    """Each bar's line ends where the next one starts, also with wrapped names and with groups opened or closed."""
    page = screens(width)
    for path in (EVENT, "/grid/events/grid-22-1-6/Entrant%2005"):
        page.goto(path)
        for folded in (None, "false", "true"):
            if folded:
                page.evaluate(f"document.querySelectorAll('.why details').forEach(each => {{ each.open = {folded} }})")
            rows = page.evaluate(ROWS)
            assert len(rows) > 4
            for above, below in pairwise(rows):
                (x, _, bottom), (next_x, top, _) = above[-1], below[0]
                assert abs(x - next_x) < 0.6
                assert abs(bottom - top) < 1.1


def test_a_players_address_shows_the_reasons_first_on_a_phone(screens):
    page = screens(390, script=False)
    page.goto(EVENT)
    assert page.locator("#result").bounding_box()["y"] < page.locator("#verdict").bounding_box()["y"]
    page.get_by_label("Why did Chidi gain 82.2?").first.click()
    assert page.locator("#verdict").inner_text() == "Chidi beat 3 of 5 and gained 82.2 points."
    assert page.locator("#verdict").bounding_box()["y"] < 500
    assert page.locator("#result").bounding_box()["y"] > page.locator("#verdict").bounding_box()["y"]


def test_a_large_field_is_short_on_a_phone_until_expanded(screens):
    page = screens(390, script=False)
    page.goto("/forty/events/forty-40-1-6/Entrant%2020")
    rows = page.locator(".result tbody tr:visible")
    assert 4 <= rows.count() <= 6
    page.get_by_text("All 40").click()
    assert rows.count() == 40
    desk = screens(1280)
    desk.goto("/forty/events/forty-40-1-6/Entrant%2020")
    assert desk.locator(".result tbody tr:visible").count() == 40
