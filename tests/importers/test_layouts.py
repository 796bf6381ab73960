"""The same results in many layouts give the same ratings through the command line, the upload form and Python."""

import csv
import io
import random
import warnings

import layouts_of as layouts
import polars as pl
import pytest
from commands import run
from extent import times

import podium
from podium.service.admin.reading import Upload, read_file

RAGGED = {"a block per race"}  # layouts that no data frame can hold
OF_FORM = {".pgn": ("pgn", "chess")}  # format and pool to choose in the form
SEEDS = range(times(1, 100))


def ratings(rated):
    return dict(rated.ratings.select("player", "rating").iter_rows())


def by_command(path):
    table = csv.DictReader(io.StringIO(run("rate", path, "-s", "elo", "-f", "csv")))
    return {row["player"]: float(row["rating"]) for row in table}


def by_form(path):
    upload = read_file(path, path.name, *OF_FORM.get(path.suffix, ("results", "default")), answers=())
    assert isinstance(upload, Upload), upload
    return ratings(podium.rate(upload.rows))


def by_python(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes about the layout
        return ratings(podium.rate(source))


def entrances(path, name):
    found = {"command": by_command(path), "form": by_form(path), "path": by_python(path)}
    if path.suffix == ".csv" and name not in RAGGED:
        frame = pl.read_csv(path, separator=";" if name == "semicolons" else ",")
        found |= {"polars": by_python(frame), "pandas": by_python(frame.to_pandas())}
    return found


def written(folder, ending, make, results):
    path = folder / f"results.{ending}"
    if ending in ("xlsx", "parquet"):
        make(path, results)
    else:
        path.write_text(make(results), encoding="utf-8")
    return path


def assert_alike(path, name, expected):
    for entrance, found in entrances(path, name).items():
        assert found == expected, entrance


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", layouts.RACE_LAYOUTS)
def test_races_are_rated_alike_in_every_layout_and_through_every_interface(name, seed, tmp_path):
    chance = random.Random(seed)  # noqa: S311
    races = layouts.draw_races(chance, chance.randint(3, 9))
    path = written(tmp_path, *layouts.RACE_LAYOUTS[name], races)
    assert_alike(path, name, by_python(layouts.race_rows(races)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", layouts.MATCH_LAYOUTS)
def test_matches_are_rated_alike_in_every_layout_and_through_every_interface(name, seed, tmp_path):
    chance = random.Random(seed)  # noqa: S311
    rounds = layouts.draw_rounds(chance, chance.randint(3, 7), draws=name not in layouts.WITHOUT_DRAWS)
    path = written(tmp_path, *layouts.MATCH_LAYOUTS[name], rounds)
    assert_alike(path, name, by_python(layouts.match_rows(rounds)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_crosstable_is_rated_as_one_event_of_all_its_games(seed, tmp_path):
    chance = random.Random(seed)  # noqa: S311
    games = [(a, b, chance.choice([1, 0, 0.5])) for k, a in enumerate(layouts.NAMES) for b in layouts.NAMES[:k]]
    rows = [
        {"event_id": "all", "heat": f"{a} - {b}", "player": who, "score": points}
        for a, b, result in games
        for who, points in ((a, result), (b, 1 - result))
    ]
    path = written(tmp_path, "csv", layouts.crosstable, games)
    expected = by_python(rows)
    for entrance, found in entrances(path, "a crosstable").items():
        assert found == pytest.approx(expected, abs=1e-9), entrance
