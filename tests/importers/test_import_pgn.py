"""Chess games: tags, results, games that are left out, and bad games."""

import pytest
from importing import games, import_text, refusal, table

PLAIN = """[Event "Open"]
[Site "Berlin GER"]
[Date "2026.??.??"]
[Round "1"]
[White "Doe, \\"J\\""]
[Black "Roe"]
[Result "0-1"]

0-1
"""


def test_results_in_comments_and_variations_are_ignored(tmp_path):
    assert table(tmp_path, "pgn", games(("x", "1-0"), ("y", "1/2-1/2"))) == [
        "lichess.org/x,2026-02-03T20:15:00Z,chess960,600+0,ana,1,finished,false",
        "lichess.org/x,2026-02-03T20:15:00Z,chess960,600+0,ben,2,finished,false",
        "lichess.org/y,2026-02-03T20:15:00Z,chess960,600+0,ana,1,finished,false",
        "lichess.org/y,2026-02-03T20:15:00Z,chess960,600+0,ben,1,finished,false",
    ]


def test_a_club_game_is_named_by_its_tags_and_repeats_are_numbered(tmp_path):
    imported = import_text(tmp_path, "pgn", "\ufeff" + (PLAIN * 3).replace("\n", "\r\n"))
    ids = imported.table["event_id"].unique(maintain_order=True).to_list()
    assert ids == [f'Open/2026.??.??/1/Doe, "J"/Roe{repeat}' for repeat in ("", " #2", " #3")]
    assert imported.table["started_at"].dt.to_string("%F %T").unique().to_list() == ["2026-01-01 00:00:00"]
    assert imported.table["pool"].unique().to_list() == ["chess"]


ARENA = '[Event "Hourly SuperBlitz Arena"]\n[Site "https://lichess.org/x"]\n'


@pytest.mark.parametrize(
    ("tags", "column", "value"),
    [
        ('[Event "Rated King of the Hill tournament https://lichess.org/t/x"]', "pool", "king of the hill"),
        ('[Event "Rated Blitz swiss https://lichess.org/s/x"]', "pool", "blitz"),
        ('[Event "Rated Blitzing"]\n[Variant "Chess960"]', "pool", "chess960"),
        ('[Event "e"]\n[Variant "Standard"]', "pool", "chess"),
        ('[Event "rated blitz game"]', "pool", "blitz"),
        ('[Event "casual blitz game"]', "ranked", False),
        (f'{ARENA}[TimeControl "15+0"]', "pool", "ultrabullet"),
        (f'{ARENA}[TimeControl "60+0"]', "pool", "bullet"),
        (f'{ARENA}[TimeControl "180+2"]', "pool", "blitz"),
        (f'{ARENA}[TimeControl "300+5"]', "pool", "rapid"),
        (f'{ARENA}[TimeControl "1500+0"]', "pool", "classical"),
        (f'{ARENA}[TimeControl "-"]', "pool", "correspondence"),
        (f'{ARENA}[TimeControl "180+0"]\n[Variant "Chess960"]', "pool", "chess960"),
        ('[Event "e"]\n[TimeControl "-"]', "mode", None),
        ('[Event "e"]\n[TimeControl "40/7200:3600"]', "mode", "40/7200:3600"),
        ('[Event "e"]\n[Link "https://www.chess.com/game/live/1"]', "event_id", "chess.com/game/live/1"),
        (
            '[Event "e"]\n[UTCDate "2026.01.02"]\n[UTCTime "03:04:05"]\n[Time "1:1:1"]',
            "started_at",
            "2026-01-02 03:04:05",
        ),
        ('[Event "e"]\n[Time "12:30:00"]', "started_at", "2025-12-31 23:30:00"),
    ],
)
def test_tags_become_columns(tags, column, value, tmp_path):
    rest = PLAIN.replace('[Site "Berlin GER"]\n', "") if "[Site " in tags else PLAIN
    text = rest.replace('[Event "Open"]', tags).replace("????.??.??", "2026.01.01")
    imported = import_text(tmp_path, "pgn", text, timezone="Pacific/Auckland")
    found = imported.table[column].to_list() if column in imported.table.columns else [None]
    assert str(found[0])[:19] == str(value)[:19] if column == "started_at" else found[0] == value


@pytest.mark.parametrize(
    ("termination", "statuses", "positions"),
    [
        ("Time forfeit", ["finished", "finished"], [2.0, 1.0]),
        ("Abandoned", ["quit", "finished"], [None, 1.0]),
        ("Rules infraction", ["disqualified", "finished"], [None, 1.0]),
        ("ben won on time", ["finished", "finished"], [2.0, 1.0]),
    ],
)
def test_the_end_of_a_game_sets_the_losers_status(termination, statuses, positions, tmp_path):
    imported = import_text(tmp_path, "pgn", games(("x", "0-1")).replace("Normal", termination))
    assert (imported.table["status"].to_list(), imported.table["position"].to_list()) == (statuses, positions)


@pytest.mark.parametrize(
    ("before", "after", "dropped"),
    [
        ('"ben"', '"?"', {"unknown player": 1, "too few": 1}),
        ('"ben"', '"lichess AI level 3"', {"computer": 1, "too few": 1}),
        ("Normal", "Unterminated", {"unterminated": 1}),
        ("1-0", "*", {"no result": 1}),
        ('"ben"', '"BYE"', {"bye": 1}),
    ],
)
def test_games_without_a_result_are_counted(before, after, dropped, tmp_path):
    imported = import_text(tmp_path, "pgn", games(("x", "1-0")).replace(before, after))
    assert (imported.dropped, imported.bad) == (dropped, ())


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ('[White "ana"]\n', "", "line 1: the game has no White tag"),
        ('[Result "1-0"]\n', "", "line 1: the game has no Result tag"),
        ('[Result "1-0"]', '[Result "2-0"]', "line 7, column Result: '2-0' is not a result"),
        ('[Result "1-0"]', '[Result "0-1"]', "line 7, column Result: '0-1' differs from 1-0 at the end"),
        ("\n1-0\n", "\n", "line 7, column Result: '1-0' is missing at the end"),
        ('[Black "ben"]', '[Black "ana"]', "line 6, column Black: 'ana' plays both sides"),
        ('[Black "ben"]', '[Black "ben]', "line 6: '[Black \"ben]' is not a tag"),
        ('[Black "ben"]', '[Black "ben"]\n[Black "cy"]', "line 7: '[Black \"cy\"]' is a second Black tag"),
        ("}", "", "line 13: a comment that begins on this line is never closed"),
        ("(2. c3 *))", "(2. c3 *)", "line 13: a variation that begins on this line is never"),
        ('UTCDate "2026.02.03"', 'UTCDate "2026.02.30"', "line 8, column UTCDate: '2026.02.30' does not exist"),
        ('UTCTime "20:15:00"', 'UTCTime "25:15:00"', "line 9, column UTCTime: '25:15:00' is not a time"),
        ('Date "2026.02.03"]\n', 'Date "????.??.??"]\n', "line 1, column started_at: 'lichess.org/x' has no date"),
        ('"ana"', '"a\0na"', "line 5: '\\x00' is a NUL"),
        ('"ana"', '"a\u200bna"', "line 5, column player: 'a\\u200bna' contains an invisible character"),
    ],
)
def test_a_bad_game_is_named_by_its_line_and_left_out_alone(before, after, fault, tmp_path):
    broken = games(("x", "1-0")).replace(before, after)
    good = games(("y", "0-1"))
    assert f"pgn.pgn {fault}" in refusal(tmp_path, "pgn", broken + good)
    imported = import_text(tmp_path, "pgn", broken + good + games(("z", "1-0")), skip_bad=True)
    ids = imported.table["event_id"].unique(maintain_order=True).to_list()
    assert (imported.skipped, ids) == (1, ["lichess.org/y", "lichess.org/z"])


def test_brackets_in_a_comment_start_no_game(tmp_path):
    text = games(("x", "1-0")).replace("a comment", 'a\n[Event "no"]\n\n[%clk 0:1]\n% }} 0-1\n comment')
    assert import_text(tmp_path, "pgn", text).table["event_id"].unique().to_list() == ["lichess.org/x"]


def test_a_file_may_be_in_utf_8_latin_1_or_utf_16(tmp_path):
    text = games(("x", "1-0")).replace('"ana"', '"Müller"')
    assert "Müller" in import_text(tmp_path, "pgn", text).table["player"].to_list()
    assert "Müller" in import_text(tmp_path, "pgn", text.encode("latin-1")).table["player"].to_list()
    assert "Müller" in import_text(tmp_path, "pgn", text.encode("utf-16")).table["player"].to_list()


def test_players_can_be_named_by_their_fide_ids(tmp_path):
    text = games(("x", "1-0")).replace("\n\n1. e4", '\n[WhiteFideId "1503014"]\n[BlackFideId "2016192"]\n\n1. e4')
    imported = import_text(tmp_path, "pgn", text, player="fide")
    assert imported.table["player"].to_list() == ["1503014", "2016192"]
    assert imported.names["1503014"] == ("ana", "lichess.org/x")
    assert import_text(tmp_path, "pgn", games(("x", "1-0")), player="fide").dropped == {"no FIDE id": 2, "too few": 1}


def test_a_repeated_local_hour_uses_the_earlier_offset_and_is_reported(tmp_path):
    text = PLAIN.replace('[Date "2026.??.??"]', '[Date "2026.10.25"]\n[Time "02:30:00"]')
    imported = import_text(tmp_path, "pgn", text, timezone="Europe/Berlin")
    assert imported.table["started_at"].dt.to_string("%F %T")[0] == "2026-10-25 00:30:00"
    assert list(imported.notes) == [
        (
            "a local time (2026-10-25 02:30:00) occurs twice or never on the clocks of Europe/Berlin. "
            "The earlier offset was used"
        )
    ]


@pytest.mark.parametrize("content", ["", "Race,Pos\n1,2\n", "\n; only a comment\n", b"SQLite format 3\0\xff"])
def test_other_files_are_rejected_even_with_skip_bad(content, tmp_path):
    assert "has no game" in refusal(tmp_path, "pgn", content, skip_bad=True)
