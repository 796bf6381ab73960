"""The JSON formats of racetime.gg, start.gg and Challonge."""

import json

import pytest
from importing import import_text, match, race, refusal, slot, startgg, startgg_set, table, tournament

TEAMS = [
    ("a1", "done", "P0DT00H10M00S", 3, "a"),
    ("a2", "done", "P0DT00H30M00S", 4, "a"),
    ("b1", "done", "P0DT00H05M00S", 1, "b"),
    ("b2", "dnf", None, None, "b"),
    ("c1", "done", "P0DT00H19M00S", 2, "c"),
    (None, "done", "P0DT00H19M30S", 5, "c"),
    ("d1", "dq", "P0DT00H01M00S", None, "d"),
    ("e1", "declined", None, None, "e"),
]


def test_a_race_has_its_own_start_time_and_its_goal_as_pool(tmp_path):
    start = "oot/calm-link-1,2026-01-10T19:00:00.250Z,oot/Any%"
    assert table(tmp_path, "racetime", race()) == [
        f"{start},u1,1,3600.5,finished,true",
        f"{start},u2,,,dnf,true",
    ]
    summary = race()
    del summary["category"], summary["ranked"]
    page = {"count": 1, "num_pages": 1, "races": [summary]}
    assert table(tmp_path, "racetime", page) == table(tmp_path, "racetime", race())
    lines = "".join(f"{json.dumps(each)}\n" for each in (race(), page, race(name="oot/2")))
    imported = import_text(tmp_path, "racetime", lines)
    assert imported.table["event_id"].unique(maintain_order=True).to_list() == ["oot/calm-link-1", "oot/2"]
    assert imported.dropped == {"repeated": 1}
    custom = import_text(tmp_path, "racetime", race(goal={"name": "x", "custom": True}))
    assert custom.table["ranked"].to_list() == [False, False]


def test_teams_are_placed_by_mean_time_and_come_last_with_a_dnf(tmp_path):
    imported = import_text(tmp_path, "racetime", race(entrants=TEAMS, team_race=True))
    assert imported.table.select("player", "team", "position", "status").rows() == [
        ("a1", "a", 2.0, "finished"),
        ("a2", "a", 2.0, "finished"),
        ("b1", "b", None, "dnf"),
        ("b2", "b", None, "dnf"),
        ("c1", "c", 1.0, "finished"),
        ("d1", "d", None, "disqualified"),
    ]
    assert "time_s" not in imported.table.columns
    assert imported.dropped == {"declined": 1, "deleted user": 1}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"entrants": [("u", "done", None, 1, None)]},
            "$.entrants[0], column finish_time: is the time of a finisher, which must be like P0DT",
        ),
        (
            {"entrants": [("u", "done", "1:00:00", 1, None)]},
            "$.entrants[0], column finish_time: '1:00:00' is the time of a finisher, which must be like P0DT",
        ),
        (
            {"entrants": [("u", "in_progress", None, 1, None)]},
            "$.entrants[0], column status.value: 'in_progress' is not the status of an entrant in a finished race",
        ),
        (
            {"entrants": [("u", {}, None, 1, None)]},
            "$.entrants[0], column status.value: is not the status of an entrant",
        ),
        (
            {"entrants": [("u", "gone", None, 1, None)]},
            "$.entrants[0], column status.value: 'gone' is not the status of an entrant",
        ),
        (
            {"entrants": [("u", "done", "PT2S", 1, None), ("v", "done", "PT1S", 2, None)], "ranked": False},
            "$.entrants[1], column position: 2.0 contradicts time_s 1",
        ),
        (
            {"entrants": None},
            "$, column entrants.0.status.value: is missing, so the race has no entrants. Fetch the races",
        ),
        ({"status": {"value": "over"}}, "$, column status.value: 'over' is not the status of a race"),
        ({"started_at": "noon"}, "$.entrants[0], column started_at: 'noon' is not a date"),
        ({"goal": {}}, "$, column goal.name: is missing. A race must have a goal."),
        ({"started_at": "x" * 999}, f"$.entrants[0], column started_at: '{'x' * 100}…' is not a date"),
    ],
)
def test_a_bad_race_is_named_by_its_path(changes, fault, tmp_path):
    entrants = changes.get("entrants", [])
    bad = race(**changes) if entrants is not None else race() | changes
    assert f"racetime.json {fault}" in refusal(tmp_path, "racetime", bad)
    lines = f"{json.dumps(bad)}\n{json.dumps(race(name='oot/2'))}\n"
    assert f"racetime.json line 1, {fault}" in refusal(tmp_path, "racetime", lines)
    imported = import_text(tmp_path, "racetime", lines, skip_bad=True)
    assert (imported.skipped, imported.table["event_id"].unique().to_list()) == (1, ["oot/2"])


def test_half_of_a_surrogate_pair_is_rejected_in_an_id_and_replaced_in_a_name(tmp_path):
    half = race()
    half["entrants"][0]["user"]["full_name"] = "x\ud800"
    assert import_text(tmp_path, "racetime", half).names["u1"][0] == "x?"
    half["entrants"][0]["user"]["id"] = "x\ud800"
    assert "$.entrants[0], column user.id: 'x\\ud800' contains half of a surrogate pair" in refusal(
        tmp_path, "racetime", half
    )


def test_unfinished_races_are_counted(tmp_path):
    lines = "\n".join(json.dumps(race(status={"value": each})) for each in ("cancelled", "in_progress", "open"))
    imported = import_text(tmp_path, "racetime", lines)
    assert (imported.dropped, imported.table.height) == ({"cancelled": 1, "not finished": 2}, 0)


def test_sets_of_pairs_are_between_teams(tmp_path):
    pair = startgg_set(2, slots=[slot(21, 101, 103, score=3), slot(22, 102, 104, score=0)])
    imported = import_text(tmp_path, "startgg", startgg(pair))
    assert imported.table.select("player", "team", "team_score", "position").rows() == [
        ("101", "21", 3.0, 1.0), ("103", "21", 3.0, 1.0), ("102", "22", 0.0, 2.0), ("104", "22", 0.0, 2.0),
    ]  # fmt: skip
    assert imported.names["103"] == ("tag 103", "startgg-2")


def test_repeated_and_unplayed_sets_are_counted(tmp_path):
    bye = {"entrant": None, "standing": None}
    pages = [
        startgg(startgg_set(1), startgg_set(2, state=1), startgg_set("preview_3_0")),
        startgg(startgg_set(1), startgg_set(4, displayScore="DQ"), startgg_set(5, slots=[slot(21, 101), bye])),
        startgg(startgg_set(6, slots=[slot(21, 101, score=0), slot(22, 102, score=-1)])),
    ]
    imported = import_text(tmp_path, "startgg", "\n".join(map(json.dumps, pages)))
    assert imported.table["event_id"].unique().to_list() == ["startgg-1"]
    assert imported.dropped == {"not completed": 1, "preview": 1, "repeated": 1, "disqualified": 2, "bye": 1}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"winnerId": None}, ", column winnerId: is missing. A completed set must have a winner."),
        ({"winnerId": 23}, ", column winnerId: '23' is not the entrant of a slot"),
        ({"winnerId": 22}, ", column slots.1.standing.stats.score.value: '1' is the winner's score, but lower"),
        (
            {"slots": [slot(21, None, score=2), slot(22, 102, score=1)]},
            ", column slots.0.entrant.participants.0.player.id: must be the ID of a player",
        ),
        ({"slots": [slot(21), slot(22, 102)]}, ", column slots.0.entrant.participants.0.player.id: must be"),
        (
            {"startedAt": "noon"},
            ".slots[0].entrant.participants[0], column started_at: 'noon' is not a number of s since 1970",
        ),
    ],
)
def test_a_bad_set_is_named_by_its_path(changes, fault, tmp_path):
    answer = startgg(startgg_set(1), startgg_set(2, **changes))
    assert f"startgg.json $.data.event.sets.nodes[1]{fault}" in refusal(tmp_path, "startgg", answer)
    imported = import_text(tmp_path, "startgg", answer, skip_bad=True)
    assert (imported.skipped, imported.table["event_id"].unique().to_list()) == (1, ["startgg-1"])


def test_an_error_message_of_start_gg_is_bad_input(tmp_path):
    pages = f'{{"success": false, "message": "Rate limit exceeded"}}\n{json.dumps(startgg(startgg_set()))}\n'
    assert "line 1, $: {'success': False, 'message': 'Rate limit exceeded'} has no list" in refusal(
        tmp_path, "startgg", pages
    )
    assert import_text(tmp_path, "startgg", pages, skip_bad=True).table.height == 2


def test_a_match_uses_group_ids_and_the_sum_of_its_sets(tmp_path):
    assert table(tmp_path, "challonge", tournament(match())) == [
        "challonge-9,2026-03-01T17:00:00Z,cup,Ana,2,1",
        "challonge-9,2026-03-01T17:00:00Z,cup,ben_x,1,2",
    ]
    tie = match(winner_id=None, loser_id=None, scores_csv="-1--2")
    imported = import_text(tmp_path, "challonge", tournament(tie))
    assert imported.table.select("position", "score").rows() == [(1.0, -1.0), (1.0, -2.0)]
    assert "matches[0], column event_id: is missing" in refusal(tmp_path, "challonge", tournament({}))
    left_out = tournament(match(state="open"), match(forfeited=True), match(player2_id=None))
    assert import_text(tmp_path, "challonge", left_out).dropped == {"not complete": 1, "forfeited": 1, "bye": 1}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"player2_id": 3, "winner_id": 1}, "match.player2_id: '3' is not in tournament.participants"),
        ({"winner_id": 3}, "match.winner_id: '3' is not a player"),
        ({"winner_id": None}, "match.winner_id: is missing, although there is a loser"),
        ({"scores_csv": "3:1"}, "match.scores_csv: '3:1' must be scores such as 3-1,3-2"),
        ({"completed_at": 5}, "started_at: '5' is not a date"),
    ],
)
def test_a_bad_match_is_named_by_its_path(changes, fault, tmp_path):
    answer = tournament(match(), match(id=10, **changes))
    assert f"challonge.json $.tournament.matches[1], column {fault}" in refusal(tmp_path, "challonge", answer)
    imported = import_text(tmp_path, "challonge", answer, skip_bad=True)
    assert (imported.skipped, imported.table["event_id"].unique().to_list()) == (1, ["challonge-9"])


@pytest.mark.parametrize("name", ["racetime", "startgg", "challonge"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": 1, "a": 2}', "'a' appears twice in one object"),
        ("[" * 65 + "]" * 65, "nested more than 64 levels deep"),
        ("[" * 64 + "]" * 64, " has no | is no "),
        ("{}", " has no | is no "),
        ("[1]", " has no | is no "),
    ],
)
def test_other_json_is_rejected(name, content, reason, tmp_path):
    message = refusal(tmp_path, name, content, skip_bad=True)
    assert any(part in message for part in reason.split("|"))


def test_one_bad_line_of_json_is_left_out_alone(tmp_path):
    lines = f'{json.dumps(race())}\n{{"name": \n{json.dumps(race(name="oot/2"))}\n'
    assert "racetime.json line 2: is not JSON" in refusal(tmp_path, "racetime", lines)
    assert import_text(tmp_path, "racetime", lines, skip_bad=True).table["event_id"].n_unique() == 2
