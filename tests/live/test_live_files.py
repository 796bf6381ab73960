"""Saved and loaded live ratings continue exactly as if they had never been saved."""

import io
import json
import zipfile

import polars as pl
import pytest

import podium
from podium.errors import OutputError
from podium.systems.elo import Elo
from podium.version import SAME_RATINGS


def rated(system="glicko", **parameters):
    live = podium.Live(system, **parameters)
    live.rate_one("m1", ["ana", "ben", "cy"], started_at="2024-05-01T18:00Z", sequence=2)
    live.rate_one("m2", ["cy", "ana"], pool="duels")
    return live


def replace_header(path, **changes):
    """Write the file again with a changed header."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["live.json"]) | changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {"live.json": json.dumps(header)}).items():
            archive.writestr(name, content)


def test_loaded_ratings_continue_with_the_same_bits_and_know_earlier_events(tmp_path):
    live, path = rated(), tmp_path / "ratings.live"
    live.save(path)
    loaded = podium.Live.load(path, "glicko")
    assert loaded.ratings == live.ratings
    assert loaded.leaderboard().equals(live.leaderboard())
    for event, started in (("m1", "2024-05-03"), ("m3", "2024-05-01T17:59Z")):
        with pytest.raises(podium.ResultsError, match=r"was rated before|is before the latest"):
            loaded.rate_one(event, ["ana", "ben"], started_at=started)
    with pytest.raises(podium.ResultsError, match=r"sequence.* is before the latest"):
        loaded.rate_one("m3", ["ana", "ben"], started_at="2024-05-01T18:00Z", sequence=1)
    for each in (live, loaded):
        each.rate_one("m3", ["ben", "dev"], started_at="2024-06-01")
    assert loaded.ratings == live.ratings
    again = tmp_path / "again.live"
    live.save(path)
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()


def test_a_file_without_players_can_be_loaded(tmp_path):
    podium.Live(k=30).save(tmp_path / "empty")
    loaded = podium.Live.load(tmp_path / "empty")
    assert (loaded.ratings, loaded.system.k) == ({}, 30.0)


def test_a_file_of_another_system_is_rejected(tmp_path):
    path = tmp_path / "ratings.live"
    rated("elo", k=30).save(path)
    with pytest.raises(podium.ParameterError, match="holds ratings of elo, not of glicko"):
        podium.Live.load(path, "glicko")
    with pytest.raises(podium.ParameterError, match="with k 30, but now it is 20"):
        podium.Live.load(path, "elo", k=20)
    with pytest.raises(podium.ParameterError, match="parameters were given without the name of their system"):
        podium.Live.load(path, k=30)
    assert podium.Live.load(path, "elo", k=30).ratings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arithmetic": SAME_RATINGS - 1}, f"was rated by revision {SAME_RATINGS - 1} of the arithmetic"),
        ({"format": 3, "podium": "9.9"}, "was written by Podium 9.9, and this version"),
        ({"system": "stakes"}, "'stakes' is not a system.*Give Live.load the system itself"),
        ({"system": "elo", "parameters": {"k": -1}}, "k is -1"),
        ({"format": "new"}, "is damaged, or is not a file from Live.save"),
    ],
)
def test_a_file_of_another_version_is_rejected(tmp_path, changes, message):
    path = tmp_path / "ratings.live"
    rated().save(path)
    replace_header(path, **changes)
    with pytest.raises(podium.ParameterError, match=f"ratings.live: .*{message}"):
        podium.Live.load(path)


def test_other_and_damaged_files_are_rejected(tmp_path):
    path = tmp_path / "ratings.live"
    with pytest.raises(podium.ParameterError, match="cannot be read"):
        podium.Live.load(path)
    rated().save(path)
    for content in (b"", b"event_id,player\n", path.read_bytes()[:-300], path.read_bytes().replace(b"PAR1", b"PAR2")):
        path.write_bytes(content)
        with pytest.raises(podium.ParameterError, match=r"is damaged, or is not a file from Live\.save"):
            podium.Live.load(path)


def test_a_failed_save_leaves_the_existing_file(tmp_path):
    path = tmp_path / "ratings.live"
    path.mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        rated().save(path)
    assert list(tmp_path.iterdir()) == [path]


def test_an_older_file_without_shown_deviations_gives_the_same_ratings(tmp_path):
    path, older = tmp_path / "ratings.live", tmp_path / "older.live"
    live = rated("adaptive")
    live.save(path)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(older, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "players.parquet":
                players = pl.read_parquet(io.BytesIO(content))
                players = players.with_columns(pl.col("state.filtered").alias("state.deviation"))
                players.drop("state.filtered").write_parquet(table := io.BytesIO())
                content = table.getvalue()
            copy.writestr(name, content)
    replace_header(older, arithmetic=SAME_RATINGS)
    loaded = podium.Live.load(older, "adaptive")
    for each in (live, loaded):
        each.rate_one("m3", ["ben", "cy", "ana"], started_at="2024-06-01")
    states = [{who: state._replace(deviation=0.0) for who, state in each.ratings.items()} for each in (live, loaded)]
    assert states[0] == states[1]


class Own(Elo):
    """A user's own system, which is not registered by name."""

    name = "own-elo"


def test_load_accepts_a_users_own_system(tmp_path):
    podium.Live(Own(k=30)).save(tmp_path / "own")
    with pytest.raises(podium.ParameterError, match="'own-elo' is not a system"):
        podium.Live.load(tmp_path / "own")
    assert podium.Live.load(tmp_path / "own", Own(k=30)).system == Own(k=30)
