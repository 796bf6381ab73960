"""Simulated seasons: they are reproducible and contain what was set, and systems find their skills."""

import dataclasses
from typing import Any

import numpy as np
import polars as pl
import pytest
from extent import times
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.analysis.recovery import recover
from podium.analysis.simulation import BOUNDS, Scenario, simulate
from podium.cli.commands import build
from podium.probability.gamma import performances
from podium.probability.ranks import rank_distribution
from podium.systems import find, names


@settings(max_examples=25)
@given(
    kw=st.fixed_dictionaries(
        {
            "players": st.integers(2, 12),
            "events": st.integers(0, 12),
            "entrants": st.integers(2, 6),
            "heats": st.integers(1, 2),
            "laps": st.integers(1, 3),
            "schedule": st.sampled_from(["random", "grid", "matched"]),
            "teams": st.sampled_from([0, 2]),
            "quits": st.sampled_from([0.0, 0.3, 1.0]),
            "newcomers": st.sampled_from([0.0, 1.0]),
            "resolution_s": st.sampled_from([0.01, 5.0]),
            "seed": st.integers(0, 99),
        }
    )
)
def test_a_season_is_a_results_table_and_reproducible(kw):
    simulated, again = simulate(Scenario(**kw)), simulate(Scenario(**kw))
    assert simulated.results.equals(again.results)
    assert simulated.skills.equals(again.skills)
    if simulated.results.is_empty():
        return
    read = podium.read_results(simulated.results)
    assert read.frame.height == simulated.results.height
    per_event = simulated.results.group_by("event_id", "player").len()
    assert per_event.height == simulated.skills.height
    assert (per_event["len"] == kw["heats"]).all()
    stayed = simulated.results.group_by("event_id", "heat" if kw["heats"] > 1 else pl.lit(1)).agg(
        (pl.col("status") == "finished").any()
    )
    assert stayed["status"].all()
    if kw["laps"] > 1:
        summed = simulated.laps.group_by("event_id", "heat", "player").agg(pl.col("time_s").sum())
        heat = pl.col("heat") if kw["heats"] > 1 else pl.lit("1").alias("heat")
        both = simulated.results.with_columns(heat).join(summed, on=["event_id", "heat", "player"], suffix="_laps")
        assert np.abs(both["time_s"] - both["time_s_laps"]).max() <= 0.5 * kw["resolution_s"] + 1e-6


def test_wins_follow_the_model():
    """Two players with a very fine clock: within four standard errors."""
    base: dict[str, Any] = {
        "players": 2,
        "entrants": 2,
        "newcomers": 0.0,
        "leavers": 0.0,
        "drift": 0.0,
        "jumps": 0.0,
        "quits": 0.0,
    }
    simulated = simulate(Scenario(events=40_000, resolution_s=1e-9, **base))
    skill = dict(simulated.skills.select("player", "skill").unique().iter_rows())
    chance = rank_distribution(performances([skill["p1"], skill["p2"]]))[0, 0]
    wins = simulated.results.filter(player="p1")["position"].to_numpy() == 1
    assert abs(wins.mean() - chance) < 4.0 * np.sqrt(chance * (1.0 - chance) / wins.size)


def test_each_schedule_chooses_different_fields():
    spreads = {}
    for schedule in ("random", "matched"):
        skills = simulate(Scenario(events=300, schedule=schedule, drift=0.0, jumps=0.0)).skills
        spreads[schedule] = skills.group_by("event_id").agg(pl.col("skill").std())["skill"].mean()
    assert spreads["matched"] < 0.4 * spreads["random"]
    grid = simulate(Scenario(events=300, schedule="grid", newcomers=0.0, leavers=0.0)).skills
    fields = grid.group_by("event_id").agg(pl.col("player").sort().str.join(" "))["player"]
    assert fields.n_unique() == 25


def test_players_join_leave_and_improve_suddenly():
    skills = simulate(Scenario(events=2000, newcomers=0.5, leavers=0.5, jumps=1.0, drift=0.0)).skills
    career = skills.group_by("player", maintain_order=True).agg(
        first=pl.int_range(pl.len()).first(), leaps=(pl.col("skill").diff().abs() > 200.0).sum()
    )
    assert career["leaps"].max() == 1
    assert (career["leaps"] == 1).mean() > 0.5


@pytest.mark.parametrize("end", [0, 1])
def test_a_season_with_extreme_settings_is_a_results_table(end):
    wide: dict[str, Any] = {
        name: BOUNDS[name][end] for name in ("days", "skill_deviation", "drift", "jump", "ideal_s", "spread")
    }
    season = simulate(players=9, events=9, jumps=1.0, resolution_s=min(wide["ideal_s"], 5.0), **wide)
    assert podium.read_results(season.results).frame.height == season.results.height


@pytest.mark.parametrize(
    "wrong",
    [
        {"players": 1},
        {"events": -1},
        {"entrants": 2.5},
        {"quits": 1.5},
        {"schedule": "fair"},
        {"teams": 1},
        {"shape": 0},
        {"spread": 0.0},
        {"spread": 1e300},
        {"resolution_s": 121.0},
        {"days": 1e9},
        {"skill_deviation": -3.0},
        {"drift": float("nan")},
    ],
)
def test_impossible_seasons_are_rejected(wrong):
    with pytest.raises(podium.ParameterError):
        Scenario(**wrong)


@pytest.fixture(scope="module")
def season():
    return simulate(Scenario(events=1500, jumps=0.2, players=100))


STARTING_RATED = {
    name: {"first_ratings": False} for name in ("dwz", "fide")
}  # nobody has a rating before a simulated season
PRECISE = ["folyami", "trials", "trueskill", "elo-mmr", "openskill-pl"]


def test_every_system_finds_the_skills(season):
    with pytest.raises(podium.ParameterError, match="fide: all ratings are equal"):
        recover(season.results, season.skills, [find("fide")()])
    tested = times([*PRECISE, "elo", "fide"], names())
    systems = [find(name)(**STARTING_RATED.get(name, {})) for name in tested]
    recovery = recover(season.results, season.skills, systems)
    by_name = {row["system"]: row for row in recovery.summary.iter_rows(named=True)}
    assert set(by_name) == set(tested)
    for name in PRECISE:
        assert by_name[name]["rank_correlation"] > 0.9
        assert by_name[name]["rmse"] < 0.5 * 250.0
        assert by_name[name]["found"] > 0.9
    assert by_name["folyami"]["events_to_50"] < by_name["elo"]["events_to_50"]
    assert by_name["folyami"]["lag"] < by_name["elo"]["lag"]
    assert recovery.progress["part"].unique().sort().to_list() == list(range(1, 11))


def test_a_perfect_system_has_no_error(season):
    """The ratings are the skills themselves, so all measured errors are zero."""
    from podium.analysis import recovery

    history = season.skills.with_columns(
        pool=pl.lit("default"),
        rating_before=pl.col("skill") / 2.0 + 7.0,
        number=pl.int_range(1, pl.len() + 1).over("player"),
    ).with_columns(
        part=pl.int_range(pl.len()) * 10 // pl.len() + 1,
        leap=(pl.col("skill") - pl.col("skill").shift().over("player")).fill_null(0.0),
    )
    line = recovery.fitted_line(history, "perfect")
    assert line == pytest.approx((-14.0, 2.0))
    summary = recovery.summary(
        history.with_columns(error=line[0] + line[1] * pl.col("rating_before") - pl.col("skill")), line
    )
    assert summary["rmse"] == pytest.approx(0.0, abs=1e-9)
    assert summary["events_to_50"] == 0.0
    assert summary["leaps"] > 5
    late = history.with_columns(
        rating_before=pl.col("rating_before").shift().over("player").fill_null(pl.col("rating_before"))
    )
    assert recovery.lag_after_leaps(late, line)[0] == 1.0
    assert summary["inflation"] == pytest.approx(0.0, abs=1e-9)


def test_skills_that_do_not_fit_are_rejected(season):
    elo = [find("elo")()]
    for wrong, message in (
        (season.skills.drop("skill"), "the skills have no skill column"),
        (season.skills.head(100), "the skills are missing for"),
        (pl.concat([season.skills, season.skills.head(1)]), "twice"),
        (season.skills.with_columns(skill=pl.lit("high")), "the skills are not numbers"),
        (season.skills.with_columns(skill=pl.lit(float("nan"))), "the skills are missing for"),
    ):
        with pytest.raises(podium.ParameterError, match=message):
            recover(season.results, wrong, elo)
    few = season.results.head(80)
    with pytest.raises(podium.ParameterError, match="too few events"):
        recover(few, season.skills, elo)


def test_the_commands_write_and_read_a_season(tmp_path, capsys):
    for suffix in (".csv", ".parquet", ".json", ".jsonl"):
        out, skills = tmp_path / f"season{suffix}", tmp_path / f"skills{suffix.upper()}"
        options = ["--set", "events=400", "--set", "players=20", "--set", "schedule=grid", "--seed", "5"]
        build()(["simulate", "-o", str(out), "--skills", str(skills), *options], standalone_mode=False)
        assert "400 events" in capsys.readouterr().out
        build()(
            ["recovery-test", str(out), "--skills", str(skills), "--system", "elo", "--format", "json"],
            standalone_mode=False,
        )
        assert '"rank_correlation"' in capsys.readouterr().out
    build()(["simulate", "--describe"], standalone_mode=False)
    assert capsys.readouterr().out.count("=") == len(dataclasses.fields(Scenario))
    for wrong in (["--set", "player=3"], ["--set", "players=many"], ["--laps", str(tmp_path / "laps.csv")]):
        with pytest.raises(podium.ParameterError):
            build()(["simulate", "-o", str(tmp_path / "x.csv"), *wrong], standalone_mode=False)
