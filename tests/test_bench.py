"""`bench/` matches rows by name, compares speeds in rounds, and draws random events without repeated players."""

import importlib.util
from pathlib import Path

import numpy as np
import polars as pl
import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"


def load(name):
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def against():
    return load("against")


@pytest.mark.parametrize(("races", "size", "players"), [(5_000, 2, 100), (500, 8, 40), (3, 50, 50)])
def test_players_of_a_race_are_random_and_different(races, size, players):
    drawn = load("events").fields(races, size, players)
    ordered = np.sort(drawn.player, axis=1)
    assert (np.diff(ordered, axis=1) > 0).all()
    assert ordered.min() == 0
    assert ordered.max() == players - 1
    assert len(np.unique(drawn.player, axis=0)) == (races if size > 2 else pytest.approx(0.4 * 100 * 99, rel=0.1))


def test_a_missing_peer_is_left_out(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCH))
    run = load("run")

    def absent(_races):
        raise ModuleNotFoundError(name="riix")

    contenders = {"riix Elo": (absent, 100), "by hand": (lambda races: races.player.sum, 20)}
    shape = run.Shape(lambda: load("events").fields(30, 2, 10), contenders)
    rows = run.measured("duels", shape)
    assert [(row.contender, row.events, row.ratio) for row in rows] == [("by hand", 20, 1.0)]
    assert capsys.readouterr().out == "duels: riix Elo is left out, since riix is not installed\n"


@pytest.mark.parametrize(
    ("events_per_s", "text"),
    [(9.64, "9.64"), (999.4, "999"), (999.6, "1 k"), (52_312.0, "52.3 k"), (999_600.0, "1 M"), (87.06e6, "87.1 M")],
)
def test_a_speed_has_three_digits(events_per_s, text, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    assert load("performance_page").speed(events_per_s) == text


@pytest.mark.parametrize(
    ("bounds", "target"),
    [
        ({"most": 2.0}, "≤2 met"),
        ({"most": 1.9}, "≤1.9 missed"),
        ({"least": 2.0}, "≥2 met"),
        ({"least": 3.0}, "≥3 missed"),
    ],
)
def test_the_median_meets_a_target_or_misses_it(bounds, target, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    targets = load("targets")
    rows = [targets.Row("posts", [2.0, 1.5, 3.0], "ms", **bounds), targets.Row("batches", [12_345.6], "duels/s")]
    lines = [line.split() for line in targets.table({"Service": rows})]
    assert lines == [
        ["figure", "spread", "target"],
        [],
        ["Service"],
        ["posts", "2", "ms", "±38%", *target.split()],
        ["batches", "12,346", "duels/s"],
    ]


def test_a_page_or_read_of_the_api_is_measured_with_names_of_the_pool(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    reads = load("reads")
    paths = reads.routes()
    assert {"/", "/{pool}", "/{pool}/players/{player}", "/api/v1/pools/{pool}/leaderboard"} <= {*paths}
    assert not [path for path in paths if path.startswith(("/admin", "/static")) or "export" in path]
    duel = pl.DataFrame({"event_id": ["e0", "e0"], "player": ["p1", "p2"]})
    sent = [next(reads.addresses(path, "small", duel)) for path in paths]
    assert all(address.startswith("/") and "{" not in address for address in sent)
    assert {"/small/events/e0", "/small/compare?player=p1&other=p2"} <= {*sent}


def test_duels_with_draws_are_won_equally_by_both_sides():
    place = load("events").duels_with_draws(10_000).place
    results = np.sign(place[:, 1] - place[:, 0])
    assert [(results == result).mean() for result in (-1, 0, 1)] == pytest.approx([0.4, 0.2, 0.4], abs=0.02)


def test_rows_are_matched_by_name_in_any_order(against):
    matched = against.match_rows(["elo", "gone", "stk"], ["stk", "new", "elo"])
    assert matched == (["stk", "elo"], ["gone"], ["new"])


def test_a_rounds_ratio_is_above_one_if_this_tree_is_faster(against):
    rounds = [({"elo": 100.0, "gone": 1.0}, {"elo": 200.0}), ({"elo": 10.0}, {"elo": 5.0, "new": 1.0})]
    assert against.round_ratios(rounds) == {"elo": [2.0, 0.5]}


def test_the_spread_has_quartiles_and_extremes(against):
    assert against.spread([1.0, 1.1, 0.9, 1.2, 0.8]) == (0.8, 0.9, 1.0, 1.1, 1.2, 5)
    assert against.spread([1.5]) == (1.5, 1.5, 1.5, 1.5, 1.5, 1)


@pytest.mark.parametrize(
    ("ratios", "slower"),
    [([0.96, 0.95, 0.94, 0.9], True), ([0.90, 0.99, 0.98, 0.91], False), ([0.975, 0.98, 0.975], False)],
)
def test_slower_means_three_percent_beyond_the_spread(against, ratios, slower):
    assert against.spread(ratios).slower is slower


def test_an_unknown_revision_is_rejected(against):
    with pytest.raises(SystemExit, match="no-such-revision is not a revision"), against.check_out("no-such-revision"):
        pass


def test_twice_killed_parts_are_compared_with_one_run(tmp_path, monkeypatch):
    parts = load("parts")
    monkeypatch.setattr(parts, "KINDS", dict.fromkeys(("whole", "parts", "many pools"), "large"))
    parts.write_pool(tmp_path / "large", 3 << 17, 500)
    options = {"system": "elo", "rows": 1 << 15}
    assert min(parts.run(kind, tmp_path, options)["cpu_s"] for kind in ("whole", "parts")) > 0.0
    for kill_at in (4, 8):
        assert parts.run("parts", tmp_path, options, kill_at, "killed") == {}
    parts.run("parts", tmp_path, options, name="killed")
    assert parts.same_bytes(tmp_path / "killed", tmp_path / "parts")
    assert parts.same_bits(tmp_path / "parts", tmp_path / "whole")
    duels = pl.read_parquet(tmp_path / "killed" / "ratings.parquet")
    duels.with_columns(pl.col("rating") + 1e-9).write_parquet(tmp_path / "killed" / "ratings.parquet")
    assert not parts.same_bytes(tmp_path / "killed", tmp_path / "parts")
    assert not parts.same_bits(tmp_path / "killed", tmp_path / "whole")
