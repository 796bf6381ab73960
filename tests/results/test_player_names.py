"""Names of players: equal forms of one name, invalid names, and all other names, which stay unchanged."""

import io
import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.errors import ParameterError
from podium.results.names import (
    LATIN,
    LONGEST,
    NOT_PLAIN,
    admit,
    are_plain_texts,
    normalise,
    normalise_column,
    patterns,
    refusal,
)

TAKEN = [
    "ana", "O'Brien", "José", "雪", "محمد", "Дарья", "Ὀδυσσεύς", "<3", "a b", "a\u3164b", "7", "❤\ufe0f", "👍🏽",
    "👩\u200d🚀",  # one symbol from two letters (UTS 51)
    "🏳\ufe0f\u200d🌈",
    "👩🏽\u200d❤\ufe0f\u200d💋\u200d👨🏻",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # the flag of England consists of tags
    "می\u200cخواهم",  # Persian for "I want": RFC 5892, A.1
    "क्\u200dष", "क्\u200cष",  # Hindi, both spellings of the pair: RFC 5892, A.1 and A.2
    "ශ්\u200dරී",  # Sinhala
    "র\u200d্যাচেল",  # Rachel, in Bengali
    "葛\U000e0100",  # the kanji's other form
    "<b>x</b>", "Robert'); DROP TABLE players", "javascript:alert(1)", "[bold]x[/bold]", "{{7*7}}", "${x}", "../..",
    ".", "..", "%00", "-1", "=1+1", "null", "\\", '"',
    "x" * LONGEST, "e\u0301" * LONGEST,
]  # fmt: skip
REFUSED = {
    "": "shows nothing", " ": "shows nothing", "\u3164": "shows nothing", "\u3164 \u3164": "shows nothing",
    "\u2800": "shows nothing", "\xa0": "shows nothing", "\u115f\u1160": "shows nothing", "\uffa0": "shows nothing",
    "a\x00": "control", "a\nb": "control", "a\tb": "control", "a\x1bb": "control", "a\x7fb": "control",
    "a\x85b": "control", "a\u2028b": "control",
    "a\u202eb": "direction", "a\u200fb": "direction", "a\u2066b": "direction", "a\u061cb": "direction",
    "a\u200bb": "invisible", "\ufeffab": "invisible", "a\u2060b": "invisible", "a\xadb": "invisible",
    "a\u034fb": "invisible", "a\u180eb": "invisible", "\ufe0fa": "invisible", "a\ufe0f\ufe0f": "invisible",
    "a\U000e0041": "invisible", "a\ufff9b": "invisible",
    "a\u200db": "joiner", "a\u200cb": "joiner", "ana\u200d": "joiner", "👩\u200d\u200d🚀": "joiner",
    "a\ufffe": "noncharacter", "\uffff": "noncharacter", "a\ufdd0b": "noncharacter", "a\ufdefb": "noncharacter",
    "a\U0001fffe": "noncharacter", "\U0010ffff": "noncharacter",
    "\ud800": "surrogate", "a\udfffb": "surrogate",
    "x" * (LONGEST + 1): "201 characters",
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_valid_names_are_accepted(name):
    assert admit(name) == unicodedata.normalize("NFC", name)
    rows = [{"event_id": "e", "player": each, "position": place} for place, each in enumerate((name, "zoe"), start=1)]
    assert podium.read_results(rows).frame["player"][0] == unicodedata.normalize("NFC", name)
    live = podium.Live("elo")
    assert live.rate(rows)["player"][0] == admit(name)


@pytest.mark.parametrize(("name", "why"), REFUSED.items(), ids=map(ascii, REFUSED))
def test_unreadable_names_are_rejected_everywhere(name, why):
    with pytest.raises(ParameterError, match=why):
        admit(name)
    rows = [{"event_id": "e", "player": each, "position": place} for place, each in enumerate(("zoe", name), start=1)]
    why = "is empty" if not name.strip() else why
    with pytest.raises(podium.ResultsError, match=rf"row 2, column player: .*{why}"):
        podium.read_results(rows)
    with pytest.raises(podium.ResultsError, match=why):
        podium.Live("elo").rate(rows)
    if why != "surrogate":
        with pytest.raises(podium.ResultsError, match=why):
            podium.read_results(pl.DataFrame(rows))


def test_two_forms_of_a_name_are_one_player():
    import pandas as pd

    text = "event_id,player,position\n1,Pérez,1\n1,Ben,2\n2,Pe\u0301rez,1\n2,Ben,2\n"
    frames = [
        io.BytesIO(text.encode()),
        pd.read_csv(io.StringIO(text.replace("Pe\u0301rez", " Pe\u0301rez\u2003")), dtype=str),
    ]
    for source in frames:
        ratings = podium.rate(source, "elo").ratings
        assert sorted(ratings["player"]) == ["Ben", "Pérez"]


def test_teams_and_heats_are_also_normalized():
    rows = [
        {"event_id": "e", "player": player, "team": team, "heat": "é", "score": 1.0}
        for player, team in (("a", "é"), ("b", "e\u0301"), ("c", "x"))
    ]
    assert podium.read_results(rows).frame["team"].to_list() == ["é", "é", "x"]


@given(st.text(max_size=20))
def test_a_normalized_name_stays_the_same(name):
    once = normalise(name)
    assert normalise(once) == once
    column, refused = normalise_column(pl.Series([once if refusal(once) == "" else "ana"]))
    assert refused == {}
    assert column[0] in (once, "ana")


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=8) | st.none(), max_size=20))
def test_a_column_is_normalized_like_single_names(some):
    column, refused = normalise_column(pl.Series(some, dtype=pl.String))
    assert column.to_list() == [None if name is None else normalise(name) for name in some]
    assert refused == {name: refusal(normalise(name)) for name in some if name is not None and refusal(normalise(name))}


def test_printable_latin_letters_need_no_check_by_patterns():
    _, refused, empty = patterns()
    letters = [chr(code) for code in range(ord(LATIN) + 1) if chr(code).isprintable() and chr(code) != " "]
    assert not [letter for letter in letters if refused.search(f"a{letter}a") or empty.match(letter)]


@given(
    names=st.lists(st.none() | st.text(st.sampled_from("a~ !\t\x7f\x00é雪"), max_size=4) | st.just("x" * (LONGEST + 1)))
)
def test_the_fast_check_of_bytes_finds_the_same_as_the_pattern(names):
    column = pl.Series(names, dtype=pl.String)
    assert are_plain_texts(column) == (not column.str.contains(NOT_PLAIN).any())
