"""Tuning: the past is searched, the future only tests."""

import json
from pathlib import Path

import pytest

import podium
from podium.analysis.tuning import TuningError, as_toml, tune
from podium.cli.commands import build
from podium.cli.terminal.options import chosen_system
from podium.systems import find

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


def test_the_later_events_are_not_searched():
    other = [row | ({"position": 7 - row["position"]} if row["started_at"] > "2025-03-20" else {}) for row in RACES]
    one, two = (
        tune(podium.read_results(rows), find("elo")(), "2025-03-20", trials=6).system for rows in (RACES, other)
    )
    assert one == two


def test_more_trials_go_on_from_a_study(tmp_path):
    results, study = podium.read_results(RACES), tmp_path / "elo.db"
    tune(results, find("elo")(), "2025-03-20", trials=4, study=study)
    seen = []
    tune(results, find("elo")(), "2025-03-20", trials=8, study=study, progress=seen.append)
    assert seen[0] > 4
    assert seen[-1] == 8


def test_a_share_parts_results_without_dates():
    """In the order of the file; what is not shared between candidates goes through the same door."""
    undated = [{name: value for name, value in row.items() if name != "started_at"} for row in RACES]
    for name in ("elo", "openskill-pl"):
        tuning = tune(podium.read_results(undated), find(name)(), "60%", trials=2)
        assert tuning.test.scores["events"].to_list() == [48, 48]
    for wrong in ("0%", "100%"):
        with pytest.raises(podium.ParameterError, match=r"leaves no events before or after it \(of 120\)"):
            tune(podium.read_results(undated), find("elo")(), wrong, trials=1)


def test_a_search_never_ends_behind_its_start():
    tuning = tune(podium.read_results(RACES), find("elo")(), "2025-03-20", trials=2)
    assert tuning.fitted <= tuning.fitted_defaults


def test_the_file_is_read_back(tmp_path):
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


def test_without_a_path_nothing_is_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("races.json").write_text(json.dumps(RACES))
    Path("elo-tuned.toml").write_text("keep me")
    Path("elo-tuned-2.toml").symlink_to("nowhere")
    options = ["--system", "elo", "--train-until", "2025-03-20", "--trials", "1", "--format", "json"]
    build()(["tune", "races.json", *options], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["file"] == "elo-tuned-3.toml"
    assert Path("elo-tuned.toml").read_text() == "keep me"
    assert chosen_system(None, None, Path("elo-tuned-3.toml")).name == "elo"


def test_what_cannot_be_tuned_says_why(tmp_path):
    results = podium.read_results(RACES)
    with pytest.raises(podium.ParameterError, match="leaves no events before or after it"):
        tune(results, find("elo")(), "2026-01-01", trials=1)
    study = tmp_path / "not-a-study.db"
    study.write_text("no database")
    with pytest.raises(TuningError, match="not a study"):
        tune(results, find("elo")(), "2025-03-20", trials=1, study=study)


def test_a_system_without_numbers_to_search_has_nothing_to_tune(tmp_path):
    with pytest.raises(podium.ParameterError, match="adaptive has nothing to tune"):
        tune(RACES, "adaptive", train_until="60%", trials=2, study=tmp_path / "study.db")
    assert not (tmp_path / "study.db").exists()
