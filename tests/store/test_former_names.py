"""A renamed system: stored pools, exports and saved ratings still work, with their words and hashes.

`before_adaptive.zip` is from before the renaming. It holds a database, an export of its pool, and saved ratings.
"""

import json
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa
from races import rows

import podium
from podium.cli import main
from podium.errors import ParameterError
from podium.store import Store
from podium.store.upgrading import upgrade_pools
from podium.systems import current_name, find, make_system, names

FILES = Path(__file__).with_name("before_adaptive.zip")
RACES = [
    row | {"shared:car": "red", "started_at": f"2025-02-0{number}T12:00:00Z"}
    for number in (8, 9)
    for row in rows(number, ["ana", "ben", "cleo"])
]


@pytest.fixture
def before(tmp_path):
    """Return the folder of the files."""
    with zipfile.ZipFile(FILES) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def log_of(store):
    """Return the stored log entries of pool main."""
    with store.engine.connect() as connection:
        return connection.execute(sa.text("SELECT seq, kind, body, hash FROM log ORDER BY seq")).all()


def systems_in(entries):
    return [json.loads(entry.body)["system"] for entry in entries if entry.kind == "configure"]


def test_a_former_name_finds_the_system_but_is_not_listed():
    assert find("podium") is find("adaptive")
    assert make_system("podium:shared=car") == make_system("adaptive:shared=car")
    assert (current_name("podium"), current_name("elo")) == ("adaptive", "elo")
    assert "podium" not in names()
    assert (find("podium").name, find("podium").title) == ("adaptive", "Adaptive")


def test_a_database_with_the_former_name_verifies_and_accepts_results(before):
    with closing(Store(f"sqlite:///{before / 'before.db'}", must_exist=True)) as store:
        stored = log_of(store)
        assert systems_in(stored) == ["podium", "podium"]
        assert [pool.system.name for pool in store.pools()] == ["adaptive"]
        assert [upgraded.error for upgraded in upgrade_pools(store, "test")] == [""]
        assert store.verify() == []
        store.submit("main", rows(7, ["ana", "ben"]))
        store.configure("main", find("podium")(shared="car"))
        assert log_of(store)[: len(stored)] == stored
        assert systems_in(log_of(store)) == ["podium", "podium", "adaptive"]
        assert store.verify() == []


def test_an_export_with_the_former_name_gives_the_same_log(before, tmp_path):
    lines = (before / "before.jsonl").read_text(encoding="utf-8").splitlines()
    header = json.loads(lines[0])
    assert header["system"] == "podium"
    with closing(Store(f"sqlite:///{tmp_path / 'other.db'}")) as store:
        imported = store.import_pool(lines, source="before.jsonl")
        assert (imported.head.place, imported.head.hash, imported.moved) == (
            header["entries"], header["head"]["hash"], 0,
        )  # fmt: skip
        assert store.verify() == []
        store.submit("main", rows(7, ["ana", "ben"]))
        again = [json.loads(line) for line in store.export_pool("main")]
        assert again[0]["system"] == "adaptive"


def test_saved_ratings_with_the_former_name_still_work(before):
    origin = pl.read_parquet_metadata(before / "before.parquet")
    assert "podium" in origin.values()
    rated = podium.rate(RACES, "adaptive", shared="car", start=before / "before.parquet")
    again = podium.rate(RACES, "podium", shared="car", start=before / "before.parquet")
    assert rated.history.equals(again.history)
    with pytest.raises(ParameterError, match="ratings of adaptive"):
        podium.rate(RACES, "elo", start=before / "before.parquet")


def test_saved_live_ratings_with_the_former_name_still_work(before):
    live = podium.Live.load(before / "live")
    assert live.system == find("adaptive")(shared="car")
    assert podium.Live.load(before / "live", live.system).rate(RACES).equals(live.rate(RACES))


def test_a_new_pool_writes_the_current_name(tmp_path):
    with closing(Store(f"sqlite:///{tmp_path / 'new.db'}")) as store:
        store.create_pool("main", find("podium")())
        assert systems_in(log_of(store)) == ["adaptive"]


@pytest.mark.parametrize("given", ["podium", "Podium", "podium:growth=no", "adaptive"])
def test_commands_accept_the_former_name_and_show_the_current_one(given, tmp_path, monkeypatch, capsys):
    url = f"sqlite:///{tmp_path / 'karts.db'}"
    monkeypatch.setattr(sys, "argv", ["podium", "pool", "create", "karts", "-s", given, "--db", url])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("pool karts is rated with adaptive")


def test_old_entry_kinds_are_shown_with_their_current_names(tmp_path):
    """The log keeps the stored words and their hashes."""
    with closing(Store(f"sqlite:///{tmp_path / 'new.db'}")) as store:
        store.create_pool("main", find("elo")())
        store.submit("main", rows(1, ["ana", "ben"]))
        store.void("main", "e1")
        store.unvoid("main", "e1")
        store.anonymize("main", "ana")
        kinds = ["configure", "submit", "void", "unvoid", "anonymize"]
        assert [entry.kind for entry in log_of(store)][: len(kinds)] == [
            "configure", "submit", "void", "restore", "pseudonymise",
        ]  # fmt: skip
        assert [each.kind for each in store.log("main")][: len(kinds)] == kinds
        assert [each["kind"] for each in store.news("main", 0)][: len(kinds)] == kinds
        assert [each.kind for each in store.event_record("main", "e1")] == kinds[1:4]
        assert store.verify() == []
