"""Simulator logs keep the order of their programs, and damaged ones are rejected with the place."""

import json
import zipfile

import pytest
from simulator_logs import LOGS, ORDER, acc

import podium
from podium.importers import read_format


def order(frame):
    """Return the names by place, with entrants who did not finish at the end."""
    return frame.sort("position", nulls_last=True)["player"].unique(maintain_order=True).to_list()


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("form", LOGS)
def test_a_log_is_read_in_its_own_order(form, newer, tmp_path):
    name, write = LOGS[form]
    path = tmp_path / name
    path.write_bytes(write(newer=newer))
    results = podium.read_results(path, lenient=True)
    assert results.notes[0] == f"read as {form}"
    frame = results.frame
    assert [name for name in order(frame) if name in ORDER] == list(ORDER)
    assert frame["event_id"].n_unique() == 1
    assert frame["started_at"].dt.strftime("%Y-%m-%d %H:%M").unique().to_list() == ["2025-03-08 19:00"]
    assert read_format(form, [path]).table.height == frame.height
    if form != "acc":
        assert frame.filter(player="Max Lund")["status"].to_list() == ["dnf"]
    if "time_s" in frame.columns:
        assert frame.filter(player="Ida Roth")["time_s"].to_list() == [None]


def test_drivers_who_share_a_car_are_a_side(tmp_path):
    path = tmp_path / "250308_190000_R.json"
    path.write_bytes(acc())
    frame = podium.read_results(path, lenient=True).frame
    shared = frame.filter(position=1)
    assert shared["player"].to_list() == ["Lena Vos", "Eva Berg"]
    assert shared["team"].n_unique() == 1


def test_a_driver_who_drives_a_car_twice_counts_once(tmp_path):
    name, write = LOGS["rfactor"]
    swaps = "".join(
        f'<Swap startLap="{lap}">{each}</Swap>' for lap, each in enumerate((ORDER[0], "Eva Berg", ORDER[0]))
    )
    text = write().decode("latin-1")
    first = f"<Name>{ORDER[0]}</Name>"
    assert first in text
    path = tmp_path / name
    path.write_bytes(text.replace(first, first + swaps).encode("latin-1"))
    shared = podium.read_results(path, lenient=True).frame.filter(position=1)
    assert shared["player"].to_list() == [ORDER[0], "Eva Berg"]
    assert shared["team"].n_unique() == 1


def test_other_sessions_than_races_are_left_out(tmp_path):
    path = tmp_path / "250308_190000_Q.json"
    path.write_bytes(acc("Q"))
    assert podium.read_results(path, lenient=True).frame.height == 0


def test_a_zip_of_logs_is_a_season(tmp_path):
    with zipfile.ZipFile(tmp_path / "season.zip", "w") as archive:
        for day in ("08", "15"):
            archive.writestr(f"2503{day}_190000_R.json", acc())
    results = podium.read_results(tmp_path / "season.zip", lenient=True)
    assert results.frame["event_id"].unique(maintain_order=True).to_list() == ["250308_190000_R", "250315_190000_R"]


DAMAGED = [  # the format, old text, new text, and the message
    ("acc", '"totalTime": 2329100', '"lapCount": 1', "line 2"),
    ("ac", '"Result"', '"Results"', "has no rows at Result[]"),
    ("iracing", '"finish_position": 1,', '"finish_position": "second",',
     "session_results[1].results[1], column finish_position: 'second' must be a number"),
    ("iracing-csv", '"2","8"', '"two","8"', "row 6, column Fin Pos: 'two' must be a number"),
    ("rfactor", "<Position>2</Position>", "<Position>zwei</Position>",
     "rFactorXML.RaceResults.Race.Driver[1], column Position: 'zwei' must be a number"),
    ("rfactor", "</Race>", "", "is not XML (mismatched tag), line"),
    ("rfactor", 'rFEnt "rFactor Entity"', 'a "x"><!ENTITY b "&a;&a;"', "declares an entity that is more than a word"),
    ("rfactor", 'rFEnt "rFactor Entity"', 'a SYSTEM "file:///etc/passwd"', "declares an entity"),
    ("raceroom", '"Position": 2,', '"Position": [],', "Sessions[1].Players[1]"),
    ("ams2", '"RacePosition": 2,', '"RacePosition": -2,', "column attributes.RacePosition: '-2.0' must be a number"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "before", "after", "message"), DAMAGED)
def test_a_damaged_log_is_rejected_with_its_place(form, before, after, message, tmp_path):
    name, write = LOGS[form]
    encoding = {"acc": "utf-16-le", "rfactor": "latin-1"}.get(form, "utf-8")
    text = write().decode(encoding)
    assert before in text or form == "acc"
    cut = text[: len(text) // 2] if form == "acc" else text.replace(before, after)
    path = tmp_path / name
    path.write_bytes(cut.encode(encoding))
    with pytest.raises(podium.PodiumError) as caught:
        read_format(form, [path])
    assert message.split(", line")[0] in str(caught.value) or (form == "acc" and "is not JSON" in str(caught.value))


def test_a_car_without_drivers_has_its_current_driver_or_is_reported(tmp_path):
    name, write = LOGS["acc"]
    log = json.loads(write().decode("utf-16-le"))
    path, car = tmp_path / name, log["sessionResult"]["leaderBoardLines"][1]
    car["currentDriver"], car["car"]["drivers"] = car["car"]["drivers"][0], []
    path.write_text(json.dumps(log))
    whole = tmp_path / "whole"
    whole.mkdir()
    (whole / name).write_bytes(write())
    assert read_format("acc", [path]).table.equals(read_format("acc", [whole / name]).table)
    del car["currentDriver"]
    path.write_text(json.dumps(log))
    with pytest.raises(podium.PodiumError, match=r"leaderBoardLines\[1\].car, column player: is empty.* --skip-bad"):
        read_format("acc", [path])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x89PNG\r\n\x1a\n", "is a picture (PNG), not a table"),
        (b"%PDF-1.7", "is a PDF"),
        (b"<!DOCTYPE html><html><table><tr>", "is a web page"),
        (b'{"Events": [{"type": 1}], "laps": []}', "column Events: holds the rows"),
    ],
)
def test_other_file_types_are_named(content, message, tmp_path):
    path = tmp_path / "results.csv"
    path.write_bytes(content)
    with pytest.raises(podium.ResultsError) as caught:
        podium.read_results(path, lenient=True)
    assert message in str(caught.value)
