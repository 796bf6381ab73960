"""A stream that is killed goes on where it was, to the bits of one run; and only with what it began with."""

import json
import shutil

import polars as pl
import pytest
from duel_rows import duels
from polars.testing import assert_frame_equal
from test_parts import small_slices, sorted_history  # noqa: F401  (a fixture)

import podium
from podium.errors import OutputError, ParameterError, ResultsError
from podium.large.rating import rate_folder
from podium.support import part_files
from podium.systems import make_system

pytestmark = pytest.mark.usefixtures("small_slices")


class KilledError(BaseException):
    """What no code expects."""


@pytest.fixture
def results(tmp_path):
    """A folder of two pools, a file a pool, with ties in time across slices."""
    frame = duels(60, pools=2)
    for number, (_, rows) in enumerate(frame.partition_by("pool", as_dict=True).items()):
        path = tmp_path / "results" / f"{number}.parquet"
        path.parent.mkdir(exist_ok=True)
        rows.write_parquet(path)
    return tmp_path / "results"


def history_of(folder):
    files = sorted(folder.glob("*.parquet"))
    assert [path.name for path in files] == [f"part-{number:06}.parquet" for number in range(len(files))]
    return pl.concat([pl.read_parquet(path) for path in files])


def numbered(stream):
    for part in stream:
        yield stream.number, part.history


def run(results, place, system="elo", **options):
    for part in podium.rate_stream(
        results, system, history_to=place / "history", checkpoint=place / "checkpoint", every=2, **options
    ):
        states = part.states
    return states


@pytest.mark.parametrize(("system", "period"), [("glicko2", "1d"), ("elo-mmr", "event")])
def test_a_stream_killed_at_any_write_goes_on_to_the_bits_of_one_run(results, tmp_path, monkeypatch, system, period):
    whole = podium.rate(pl.concat([pl.read_parquet(path) for path in sorted(results.iterdir())]), system, period=period)
    written, until = 0, 7
    synchronise = part_files.synchronise

    def count_and_kill(path):
        nonlocal written
        written += 1
        synchronise(path)
        if written == until:
            raise KilledError

    monkeypatch.setattr(part_files, "synchronise", count_and_kill)
    place = tmp_path / "run"
    place.mkdir()
    kills = 0
    while True:
        written = 0
        try:
            states = run(results, place, system, period=period)
        except KilledError:
            kills += 1
            until += 1 + 2 * kills  # each time further, so that it comes to its end
            continue
        break
    assert kills > 2
    assert_frame_equal(states, whole.states, check_exact=True)
    assert_frame_equal(sorted_history(history_of(place / "history")), sorted_history(whole.history), check_exact=True)


def test_the_parts_that_follow_have_the_numbers_and_bits_of_one_run(results, tmp_path):
    stream = podium.rate_stream(results, "glicko2")
    whole = dict(numbered(stream))
    begun = podium.rate_stream(results, "glicko2", checkpoint=tmp_path / "state", every=2)
    for _ in range(6):
        next(begun)
    with pytest.raises(OutputError, match="another process rates with this checkpoint now"):
        next(podium.rate_stream(results, "glicko2", checkpoint=tmp_path / "state"))
    begun.close()
    again = podium.rate_stream(results, "glicko2", checkpoint=tmp_path / "state", every=100)
    later = dict(numbered(again))
    assert list(later) == list(range(4, len(whole)))
    for number, history in later.items():
        assert_frame_equal(history, whole[number], check_exact=True)


def test_a_finished_stream_gives_its_last_part_again(results, tmp_path):
    states = run(results, tmp_path)
    saved = json.loads((tmp_path / "checkpoint" / "state.json").read_text())
    assert saved["finished"]
    assert list((tmp_path / "checkpoint" / "ids").iterdir()) == []
    before = history_of(tmp_path / "history")
    stream = podium.rate_stream(results, history_to=tmp_path / "history", checkpoint=tmp_path / "checkpoint")
    (last,) = list(stream)
    assert_frame_equal(last.states, states, check_exact=True)
    assert_frame_equal(history_of(tmp_path / "history"), before, check_exact=True)


def test_a_folder_of_ratings_comes_out_of_a_checkpoint_as_of_one_run(results, tmp_path):
    whole = podium.rate(results)
    for _ in range(2):  # the second time from the checkpoint of a finished run
        rated = rate_folder(results, make_system("elo"), "event", None, checkpoint=tmp_path / "state")
        assert repr(rated) == repr(whole)
        assert_frame_equal(rated.states, whole.states, check_exact=True)
        assert_frame_equal(rated.leaderboard(), whole.leaderboard(), check_exact=True)


def test_saved_ratings_and_pools_with_a_state_go_on(results, tmp_path):
    podium.rate(duels(9, pools=2), "podium").save(tmp_path / "spring.parquet")
    later = tmp_path / "later.parquet"
    duels(40, pools=2, first=9).write_parquet(later)
    options = {"start": tmp_path / "spring.parquet", "checkpoint": tmp_path / "state", "every": 1}
    begun = podium.rate_stream(later, "podium", **options)
    next(begun), next(begun)
    begun.close()
    for part in podium.rate_stream(later, "podium", **options):
        states = part.states
    whole = podium.rate(later, "podium", start=tmp_path / "spring.parquet")
    assert_frame_equal(states, whole.states, check_exact=True)


def test_results_without_a_row_have_a_checkpoint_too(tmp_path):
    duels(3).clear().write_parquet(tmp_path / "empty.parquet")
    for _ in range(2):
        assert list(podium.rate_stream(tmp_path / "empty.parquet", checkpoint=tmp_path / "state")) == []


def test_an_id_that_comes_again_after_a_kill_is_refused(tmp_path):
    frame = duels(30).with_columns(event_id=pl.col("event_id").replace("e25", "e3"))
    frame.write_parquet(tmp_path / "duels.parquet")
    begun = podium.rate_stream(tmp_path / "duels.parquet", checkpoint=tmp_path / "state", every=1)
    for _ in range(4):
        next(begun)
    begun.close()
    with pytest.raises(ResultsError, match=r"row 51, column event_id: is the id of an event that .*, row 7, begins"):
        list(podium.rate_stream(tmp_path / "duels.parquet", checkpoint=tmp_path / "state"))


def test_another_stream_does_not_go_on_from_a_checkpoint(results, tmp_path):
    run(results, tmp_path)
    place = {"history_to": tmp_path / "history", "checkpoint": tmp_path / "checkpoint"}

    def refused(message, *arguments, **options):
        with pytest.raises(ParameterError, match=message):
            next(podium.rate_stream(*arguments, **(place | options)))

    refused("holds ratings of elo, not of glicko2: go on with elo", results, "glicko2")
    refused("with k .*, now it is 20: go on with the same parameters", results, "elo:k=20")
    refused("with the period event, not 1w", results, period="1w")
    refused("is of a stream with history: name its folder, or delete the checkpoint", results, history_to=None)
    podium.rate(duels(1)).save(tmp_path / "start.parquet")
    refused("started from other ratings", results, start=tmp_path / "start.parquet")
    state = json.loads((tmp_path / "checkpoint" / "state.json").read_text())
    (tmp_path / "checkpoint" / "state.json").write_text(json.dumps(state | {"arithmetic": 1}))
    refused(r"comes from another version \(.* 1 .*; now .*\): go on with that version, or delete", results)
    (tmp_path / "checkpoint" / "state.json").write_text(json.dumps(state))
    duels(2, first=99).write_parquet(results / "2.parquet")
    refused("is of other results: 2.parquet is new since; put them back as they were, or delete", results)
    (results / "2.parquet").unlink()
    duels(60).write_parquet(results / "1.parquet")
    refused("1.parquet has changed", results)
    (results / "1.parquet").unlink()
    refused("1.parquet is gone", results)


def test_what_could_not_be_read_again_has_no_checkpoint(tmp_path):
    for source, start in ((duels(3), None), ([duels(3)], None)):
        with pytest.raises(ParameterError, match="needs the path of a Parquet file, or of a folder of them"):
            next(podium.rate_stream(source, start=start, checkpoint=tmp_path / "state"))
    duels(3).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ParameterError, match="needs the path of the ratings to start from; save them first"):
        next(podium.rate_stream(tmp_path / "a.parquet", start=podium.rate(duels(1)), checkpoint=tmp_path / "state"))
    with pytest.raises(ParameterError, match="every is 0; it must be at least 1"):
        podium.rate_stream(duels(3), every=0)


def test_folders_of_something_else_and_damaged_ones_are_refused(results, tmp_path):
    run(results, tmp_path)
    with pytest.raises(OutputError, match="is no checkpoint, and holds other files"):
        next(podium.rate_stream(results, checkpoint=tmp_path / "history"))
    with pytest.raises(OutputError, match="holds a history already; name another folder"):
        next(podium.rate_stream(results, history_to=tmp_path / "history"))
    (tmp_path / "history" / "part-000001.parquet").unlink()
    with pytest.raises(OutputError, match=r"part-000001\.parquet of the history is missing; delete the checkpoint"):
        run(results, tmp_path)
    shutil.rmtree(tmp_path / "history")
    (tmp_path / "checkpoint" / "state.json").write_text("{")
    with pytest.raises(OutputError, match="is no checkpoint that can be read"):
        run(results, tmp_path)
    shutil.rmtree(tmp_path / "checkpoint")
    begun = podium.rate_stream(results, checkpoint=tmp_path / "checkpoint", every=1)
    for _ in range(3):
        next(begun)
    begun.close()
    damaged = next((tmp_path / "checkpoint").glob("standing-*.parquet"))
    damaged.unlink()
    with pytest.raises(OutputError, match="the checkpoint is damaged"):
        next(podium.rate_stream(results, checkpoint=tmp_path / "checkpoint"))
