"""Numbers, times and names in readable form, and the parts of drawn changes."""

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.resources import files

import pytest

from podium.ledger.reasons.standings import SCHEMA
from podium.pages import numbers
from podium.pages.drawing import Scale, bar, duel_marks, spark
from podium.pages.environment import without_spaces
from podium.pages.result_table import result_table
from podium.service.http.json import decode_name
from podium.service.web.events import contact_address
from podium.service.web.rendering import FILES
from podium.support import words
from podium.support.words import part


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (numbers.rating(1787.66, 1), "1787.7"),
        (numbers.rating(-3.0), "\N{MINUS SIGN}3"),
        (numbers.rating(None), numbers.DASH),
        (numbers.change(12.34), "+12.3"),
        (numbers.change(-0.04), "0.0"),
        (numbers.change(Decimal("-40.5")), "\N{MINUS SIGN}40.5"),
        (numbers.direction(-1.0), "loss"),
        (numbers.moved(Decimal("-40.5")), "lose 40.5"),
        (numbers.moved(0.0), "keep the rating"),
        (numbers.deviation(35.2), "±70"),
        (numbers.percent(0.946), "95%"),
        (numbers.percent(0.001), "<1%"),
        (numbers.percent(0.9999), ">99%"),
        (numbers.percent(0.0), "0%"),
        (numbers.percent(1.0), "100%"),
        (numbers.halves(17.5), "17.5"),
        (numbers.halves(1234.0), "1,234"),
        (words.counted(1, "rider"), "1 rider"),
        (words.counted(1200, "entry"), "1,200 entries"),
        (words.plural("boss"), "bosses"),
        (words.plural("bus"), "buses"),
        (words.plural("tyres"), "tyres"),
        (words.plural("boy"), "boys"),
        (numbers.duration(59.8), "59.8\N{NO-BREAK SPACE}s"),
        (numbers.duration(83.456), "1:23.456"),
        (numbers.duration(4003.217), "1:06:43.217"),
        (numbers.day(datetime(2025, 12, 12, 9, 27, tzinfo=UTC)), "12\N{NO-BREAK SPACE}Dec\N{NO-BREAK SPACE}2025"),
        (numbers.day(date(1950, 5, 13)), "13\N{NO-BREAK SPACE}May\N{NO-BREAK SPACE}1950"),
        (numbers.day(None), numbers.DASH),
        (numbers.in_sentence("a was ahead", "a"), "<bdi>a</bdi> was ahead"),
        (numbers.in_sentence("<b> won & <b> lost", "<b>"), "<bdi>&lt;b&gt;</bdi> won &amp; <bdi>&lt;b&gt;</bdi> lost"),
    ],
)  # fmt: skip
def test_a_number_is_written_for_people(text, expected):
    assert str(text) == expected


@pytest.mark.parametrize("name", ["a/b", ".", "..", "...", "?#%", "שרה", "\N{WAVING BLACK FLAG}"])
def test_a_name_can_be_read_back_from_its_address(name):
    """Browsers read a path part of only dots as the folder above, even if it is encoded."""
    from urllib.parse import unquote

    encoded = part(name)
    assert "/" not in encoded
    assert unquote(encoded) not in {".", ".."}
    assert decode_name(unquote(encoded).replace("/", "\x1f")) == name


def test_duels_are_squares_unless_there_are_too_many():
    few, middle, many = (str(duel_marks(count, won, expected, "x")) for count, won, expected in
                         ((4, 2.5, 3.1), (50, 20.0, 25.0), (61, 30.0, 20.0)))  # fmt: skip
    assert few.count("M") == 5  # two won, a half and its outline, one lost
    assert [middle.count(name) for name in ('"duels desk"', '"duels phone"')] == [1, 1]
    assert many.count("<path") == 2
    assert many.count("M") == 2
    assert duel_marks(0, 0.0, 0.0, "x") == ""


def test_a_bar_begins_at_the_end_of_the_one_above_and_is_visible():
    scale = Scale.over([Decimal(0), Decimal(100)])
    first = str(bar(scale, Decimal(0), Decimal(100)))
    second = str(bar(scale, Decimal(100), Decimal("0.1")))
    assert re.findall(r'x="([\d.]+)%"/', first) == ["3", "97"]
    assert re.findall(r'x="([\d.]+)%"/', second)[0] == "97"
    assert 'width="0.4%"' in second
    level = str(bar(Scale.over([Decimal(5)]), Decimal(5), Decimal(0)))
    assert 'class="none"' in level
    assert 'x="50%"/' in level


def test_a_sparkline_is_level_without_changes_and_absent_for_one_point():
    assert "M0 12L96 12" in spark([5.0, 5.0])
    assert spark([5.0]) == ""
    assert len(spark([float(each) for each in range(16)])) < 260


def line(player, place, **more):
    return dict.fromkeys(SCHEMA) | {"player": player, "place": place, "status": "finished"} | more


def test_the_winner_has_a_time_and_the_others_have_a_gap():
    lines = [
        line("a", 1, time_s=83.5, gap_s=0.0),
        line("b", 2, time_s=84.75, gap_s=1.25),
        line("c", 3),
        line("d", 4, status="dnf"),
    ]
    table = result_table(lines, {}, {}, "", "")
    assert table.total == "Time"
    assert [row.total for row in table.rows] == ["1:23.5", "+1.25\N{NO-BREAK SPACE}s", numbers.DASH, "did not finish"]


def test_a_phone_shows_only_the_first_places_and_the_chosen_players_neighbours():
    lines = [line(f"p{place}", place) for place in range(1, 21)]
    assert [row.player for row in result_table(lines, {}, {}, "p10", "").rows if not row.is_extra] == [
        "p1", "p2", "p3", "p9", "p10", "p11",
    ]  # fmt: skip
    assert not result_table(lines[:12], {}, {}, "p10", "").is_long


def test_players_who_do_not_start_are_last_without_a_place():
    lines = [line("late", None, status="did_not_start"), line("first", 1, score=3.0), line("second", 2, score=1.0)]
    rows = result_table(lines, {}, {}, "", "").rows
    assert [(row.place, row.player, row.total) for row in rows] == [
        ("1", "first", "3"), ("2", "second", "1"), (numbers.DASH, "late", "did not start"),
    ]  # fmt: skip


def test_a_contact_address_includes_pool_event_and_player():
    assert contact_address("", "p", "e", "a") == ""
    assert contact_address("a@b.example", "p", "e 1", "ü") == "mailto:a@b.example?subject=p%3A%20e%201%2C%20%C3%BC"
    assert contact_address("https://x.example/#top", "p", "e", "") == "https://x.example/?pool=p&event=e#top"


def test_a_style_sheet_without_spaces_has_the_same_meaning():
    style = '/* a: b */ .a > b, .c :is(d, e) { margin: 0 auto; width: calc(1px + 2px) }\n.f::before { content: "/" }\n'
    assert without_spaces(style) == '.a>b,.c :is(d,e){margin:0 auto;width:calc(1px + 2px)}.f::before{content:"/"}'


def test_colours_are_only_in_the_tokens():
    """Rules also use no physical sides of the page, so that layouts work in both writing directions."""
    style = re.sub(
        r"/\*.*?\*/", "", files("podium.pages").joinpath("static/podium.css").read_text("utf-8"), flags=re.DOTALL
    )
    rules = style.split("} }", 1)[1]  # below the tokens of the dark scheme
    assert re.findall(r"#[0-9a-f]{3,8}\b|rgba?\(|hsl|oklch\(|: ?(?:white|black|red)\b", rules) == []
    side = "(?:left|right|top|bottom)"
    sides = rf"(?:margin|padding|border|inset)-{side}|text-align: (?:left|right)|\b{side}:"
    assert re.findall(sides, rules) == []
    assert {
        "podium.css",
        "reference.css",
        "podium.js",
        "filter.js",
        "reference.js",
        "forms.css",
        "forms.js",
        "tonight.js",
        "mark.svg",
        "icon.png",
        "manifest.json",
    } == set(FILES)
