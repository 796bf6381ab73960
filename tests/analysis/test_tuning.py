"""Tuning searches only earlier events and tests on later ones."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import podium
from podium.analysis.tuning import Losses, TuningError, as_toml, tune
from podium.cli.commands import build
from podium.cli.terminal.options import chosen_system
from podium.systems import find, make_system

RACES = [
    {
        "event_id": f"r{day}",
        "started_at": f"2025-{1 + day // 28:02d}-{1 + day % 28:02d}",
        "player": name,
        "position": 1 + k,
    }
    for day in range(120)
    for k, name in enumerate(sorted("abcdef", key=lambda name: (ord(name) * 7 + day * day) % 11))
]


def test_the_search_does_not_use_later_events():
    other = [row | ({"position": 7 - row["position"]} if row["started_at"] > "2025-03-20" else {}) for row in RACES]
    one, two = (
        tune(podium.read_results(rows), find("elo")(), "2025-03-20", trials=6).system for rows in (RACES, other)
    )
    assert one == two


def test_more_trials_continue_a_study(tmp_path):
    results, study = podium.read_results(RACES), tmp_path / "elo.db"
    tune(results, find("elo")(), "2025-03-20", trials=4, study=study)
    seen = []
    tune(results, find("elo")(), "2025-03-20", trials=8, study=study, progress=seen.append)
    assert seen[0] > 4
    assert seen[-1] == 8


def test_a_share_splits_results_without_dates():
    """The split is in the order of the file, for systems with and without a shared search."""
    undated = [{name: value for name, value in row.items() if name != "started_at"} for row in RACES]
    for name in ("elo", "openskill-pl"):
        tuning = tune(podium.read_results(undated), find(name)(), "60%", trials=2)
        assert tuning.test.scores["events"].to_list() == [48, 48]
    for wrong in ("0%", "100%"):
        with pytest.raises(podium.ParameterError, match=r"leaves no events before or after it \(of 120\)"):
            tune(podium.read_results(undated), find("elo")(), wrong, trials=1)
    with pytest.raises(podium.ParameterError, match="a date requires the started_at column"):
        tune(podium.read_results(undated), find("elo")(), "2025-03-20", trials=1)


def test_a_search_is_never_worse_than_its_start():
    tuning = tune(podium.read_results(RACES), find("elo")(), "2025-03-20", trials=2)
    assert tuning.fitted <= tuning.fitted_defaults


def test_candidates_with_margins_are_judged_by_their_own_columns():
    """The plain system comes first, but its encoding has no margins of time."""
    rows = [
        {
            "event_id": f"m{day:02}",
            "started_at": f"2025-01-{day:02}",
            "player": name,
            "time_s": 60.0 + (k + 1) * day % 7,
        }
        for day in range(1, 29)
        for k, name in enumerate(["ab", "bc", "ca"][day % 3])
    ]
    until = datetime(2025, 1, 20, tzinfo=UTC)
    plain, margin = make_system("adaptive"), make_system("adaptive:margin=true")
    together = Losses(podium.read_results(rows), until).judge([plain, margin])
    alone = [Losses(podium.read_results(rows), until).judge([system])[0] for system in (plain, margin)]
    assert together == alone
    assert alone[0] != alone[1]


def test_a_written_file_can_be_read_back(tmp_path):
    path = tmp_path / "tuned.toml"
    for system in (
        find("folyami").from_text({"k": 31.25, "remoteness": None}),
        find("elo").from_text({"pairs": "sum"}),
    ):
        path.write_text(as_toml(system))
        assert chosen_system(None, None, path) == system


def test_the_command_writes_the_file(tmp_path, capsys):
    source, out = tmp_path / "races.json", tmp_path / "out.toml"
    source.write_text(json.dumps(RACES))
    options = ["--system", "elo", "--train-until", "2025-03-20", "--trials", "3", "-o", str(out), "--format", "json"]
    build()(["tune", str(source), *options], standalone_mode=False)
    output = json.loads(capsys.readouterr().out)
    assert output["parameters"]["k"] == chosen_system(None, None, out).params().k


def test_without_a_path_no_file_is_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("races.json").write_text(json.dumps(RACES))
    Path("elo-tuned.toml").write_text("keep me")
    Path("elo-tuned-2.toml").symlink_to("nowhere")
    options = ["--system", "elo", "--train-until", "2025-03-20", "--trials", "1", "--format", "json"]
    build()(["tune", "races.json", *options], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["file"] == "elo-tuned-3.toml"
    assert Path("elo-tuned.toml").read_text() == "keep me"
    assert chosen_system(None, None, Path("elo-tuned-3.toml")).name == "elo"


def test_impossible_searches_are_clear_errors(tmp_path):
    results = podium.read_results(RACES)
    with pytest.raises(podium.ParameterError, match="leaves no events before or after it"):
        tune(results, find("elo")(), "2026-01-01", trials=1)
    study = tmp_path / "not-a-study.db"
    study.write_text("no database")
    with pytest.raises(TuningError, match="not a study"):
        tune(results, find("elo")(), "2025-03-20", trials=1, study=study)


def test_a_system_without_tunable_parameters_is_an_error(tmp_path):
    with pytest.raises(podium.ParameterError, match="adaptive has nothing to tune"):
        tune(RACES, "adaptive", train_until="60%", trials=2, study=tmp_path / "study.db")
    assert not (tmp_path / "study.db").exists()
