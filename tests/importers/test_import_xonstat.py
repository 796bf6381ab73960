"""Match reports of Xonotic: what counts, what is left out, and bad reports."""

import pytest
from importing import REPORT, import_text, refusal, table

CTS = """V 9
G cts
O XDF
M run
I 1.1767225600.1
S s
D 300
P Ana=
e joins 1
e alivetime 10
e scoreboard-fastest 1234
P Ben=
e joins 2
e alivetime 20
e total-fastest 1.23457e+06
P Cy=
e joins 1
"""
TEAMS = """V 9
G freezetag
M m
I 0.531246
S s
Q team#5
e scoreboard-rounds 3
e scoreboard-score 90
Q team#14
e scoreboard-score 70
P Ana=
t 5
e joins 1
e matches 1
e scoreboardvalid 1
e scoreboardpos 1
e scoreboard-score 9
e acc-x-cnt-fired 1
e alivetime 50
P Ben=
t 14
e alivetime 33.5
P Cy=
t 10
e alivetime 3.5
"""
LOG = f"""noise
----- BEGIN REQUEST BODY -----
IDFP {"f" * 43}=
{REPORT}----- END REQUEST BODY -----
----- BEGIN REQUEST BODY -----
{REPORT}----- END REQUEST BODY -----
"""


def test_a_duel_with_all_columns(tmp_path):
    """Names lose their colors, a missing zero is a score, and playing time is at most the match's duration."""
    imported = import_text(tmp_path, "xonstat", REPORT)
    assert imported.names == {"Ana=": ("Ana^", "My server/7.1767225600.000042")}
    start = "My server/7.1767225600.000042,2026-01-01T00:00:00Z,dm,Xonotic"
    assert table(tmp_path, "xonstat", REPORT) == [
        f"{start},Ana=,1,20,finished,590.5,600,true",
        f"{start},Ben=,2,0,finished,600,600,true",
    ]


def test_runs_are_timed_in_hundredths_and_players_who_left_are_kept(tmp_path):
    imported = import_text(tmp_path, "xonstat", CTS)
    assert imported.table.select("player", "time_s", "status").rows() == [
        ("Ana=", 12.34, "finished"), ("Ben=", 12345.7, "finished"), ("Cy=", None, "dnf"),
    ]  # fmt: skip
    assert "position" not in imported.table.columns


def test_teams_share_a_score_and_players_who_left_have_none(tmp_path):
    imported = import_text(tmp_path, "xonstat", TEAMS)
    columns = ("pool", "player", "team", "team_score", "score", "status", "duration_s")
    assert imported.table.select(columns).rows() == [
        ("ft", "Ana=", "red", 3.0, 9.0, "finished", 50.0),
        ("ft", "Ben=", "blue", 0.0, None, "quit", 50.0),
        ("ft", "Cy=", "pink", 0.0, None, "quit", 50.0),
    ]
    assert not {"started_at", "position", "mode"} & set(imported.table.columns)
    assert import_text(tmp_path, "xonstat", TEAMS, forfeits="drop").dropped == {"forfeit": 2, "too few": 1}


def test_a_log_names_servers_by_their_fingerprints(tmp_path):
    imported = import_text(tmp_path, "xonstat", LOG + REPORT.join(("----- BEGIN REQUEST BODY -----\n", LOG[-31:])))
    ids = imported.table["event_id"].unique(maintain_order=True).to_list()
    assert ids == [f"{'f' * 43}=/7.1767225600.000042", "My server/7.1767225600.000042"]
    assert imported.dropped == {"repeated": 1}


@pytest.mark.parametrize(
    ("before", "after", "dropped"),
    [
        ("P Ben=", "P bot#5#Toxic", {"bot": 1, "too few": 1}),
        ("P Ben=", "P player#3", {"anonymous": 1, "too few": 1}),
        ("e alivetime 601\ne joins 1\n", "", {"watcher": 1, "too few": 1}),
        ("e matches 1\n", "", {"not finished": 1}),
        ("e acc-vortex-cnt-fired 80\n", "", {"blank": 1}),
        ("e scoreboard-score 20\n", "", {"blank": 1}),
    ],
)
def test_reports_without_a_result_are_counted(before, after, dropped, tmp_path):
    imported = import_text(tmp_path, "xonstat", REPORT.replace(before, after))
    assert (imported.dropped, imported.table.height, imported.bad) == (dropped, 0, ())


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("V 9\n", "", "line 1: the first line must be the version (V 9)"),
        ("V 9\n", "V nine\n", "line 1, column V: 'nine' must be a whole number"),
        ("G dm\n", "", "line 1: the report has no G"),
        ("M stormkeep\n", "", "line 1: the report has no M"),
        ("I 7.1767225600.000042\n", "", "line 1: the report has no I"),
        ("7.1767225600", "7:17", "line 5, column I: '7:17.000042' must be up to 64 ASCII characters"),
        ("S ^1My^7 server\n", "", "line 1: the report has no S"),
        ("S ^1My^7 server\n", "S ^1^7\n", "line 6, column S: '^1^7' is not the name of a server"),
        ("D 600.000000", "D -1", "line 7, column D: '-1' must be a number of seconds, 0 or more"),
        ("e alivetime 590.5", "e alivetime 1e999", "line 12, column alivetime: '1e999' must be a finite number"),
        ("e alivetime 590.5", "e alivetime nan", "line 12, column alivetime: 'nan' must be a finite number"),
        ("e alivetime 590.5", "e alivetime", "line 12, column alivetime: '' must be a finite number"),
        ("D 600.000000\n", "e joins 1\nD 600\n", "line 7: 'joins 1' comes before any player or team (key e)"),
        ("P Ben=", "P Ana=", "line 19, column P: 'Ana=' appears twice in one report"),
        ("n ^x0FFAna^^", "n A\0na", "line 10: '\\x00' is a NUL"),
    ],
)
def test_an_invalid_report_is_named_by_its_line(before, after, fault, tmp_path):
    broken = REPORT.replace(before, after)
    assert f"xonstat.txt {fault}" in refusal(tmp_path, "xonstat", broken)
    whole = REPORT.replace("000042", "000043")
    log = "".join(f"----- BEGIN REQUEST BODY -----\n{each}----- END REQUEST BODY -----\n" for each in (broken, whole))
    imported = import_text(tmp_path, "xonstat", log, skip_bad=True)
    assert (imported.skipped, imported.table["event_id"].unique().to_list()) == (1, ["My server/7.1767225600.000043"])


def test_a_truncated_log_is_bad(tmp_path):
    cut = LOG.rpartition("----- END")[0]
    assert "xonstat.txt line 32: a report starts here, but its end is missing" in refusal(tmp_path, "xonstat", cut)
    assert import_text(tmp_path, "xonstat", cut, skip_bad=True).table["event_id"].n_unique() == 1


def test_invalid_bytes_are_allowed_only_in_names(tmp_path):
    # An invalid byte, then A and < of the game's font.
    name = REPORT.encode().replace(b"^x0FFAna", b"\xffA\xee\x81\x81\xee\x80\x9d")
    assert import_text(tmp_path, "xonstat", name).names["Ana="][0] == "\ufffdAA<^"
    assert "line 3, column O" in refusal(tmp_path, "xonstat", REPORT.encode().replace(b"O Xono", b"O \xff"))
    assert "is neither a report" in refusal(tmp_path, "xonstat", "hello\n")


def test_players_can_have_their_nicknames_unless_two_share_one(tmp_path):
    named = REPORT.replace("i 2\n", "i 2\nn Ben\n")
    assert import_text(tmp_path, "xonstat", named, player="name").table["player"].to_list() == ["Ana^", "Ben"]
    same = REPORT.replace("i 2\n", "i 2\nn Ana^^\n")
    assert "line 19, column player: 'Ana^' is the name of two players" in refusal(
        tmp_path, "xonstat", same, player="name"
    )
