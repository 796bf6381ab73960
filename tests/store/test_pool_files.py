"""Exported, imported, closed and deleted pools: an import gives the same log and ratings, or nothing."""

import json
import sys
from contextlib import closing
from datetime import UTC, date, datetime

import pytest
import sqlalchemy as sa
from races import calling, event, rows

import podium
from podium.cli import main
from podium.log.database import StoreError
from podium.log.log import Head
from podium.log.pools import day_of
from podium.log.schema import api_key, metadata
from podium.store import Store
from podium.store.keys import create_key, create_webhook, list_keys
from podium.store.writing.proposals import Sheet
from podium.systems import find

FORGOTTEN = "Wilhelmina Forgettable"
DAY = day_of(date(2025, 1, 2))


def fill(store):
    """Store a pool with every kind of log entry, whose player numbers alternate with another pool's."""
    store.create_pool("other", find("elo")())
    store.submit("other", rows(1, ["ana", "zoë"]))
    store.create_pool("main", find("glicko2")(), actor="admin")
    for number, names in enumerate((["ana", "ben", "José"], ["ben", FORGOTTEN], ["ana", "东"])):
        store.submit("main", rows(number, names), actor='server "one"')
    store.submit("main", [*rows(3, ["ben", "ana"]), *rows(4, ["old", "José"])], actor="server")
    store.register("main", "lobby", ["ana", "José", "ben"])
    store.submit("main", rows(5, ["José", "ana"]), match_ids={"e5": "lobby"})
    store.submit("main", rows(6, ["ana"], ranked=False), sheet=Sheet("Frühjahr.csv", '[columns]\nplayer = "Fahrer"\n'))
    store.plan_fixture("main", "tonight", starts_at=datetime(2025, 2, 1, tzinfo=UTC), entrants=["José", "never seen"])
    store.plan_fixture("main", "off", starts_at=datetime(2025, 2, 2, tzinfo=UTC), title="Größter <Preis>")
    store.cancel_fixture("main", "off")
    store.amend("main", rows(3, ["ana", "ben"]), reason="wrong <way> round")
    store.merge("main", "old", "ana", reason="the same")
    store.rename("main", "ben", "Benoît")
    for number, car in enumerate(["rot", "röt", "blue"], start=17):
        store.submit("main", rows(number, ["ana", "José"], **{"shared:car": car}))
    store.merge("main", "rot", "röt", kind="car")
    store.rename("main", "blue", "blau", kind="car")
    store.begin_season("main", "Frühling", datetime(2025, 1, 1, 0, 3, tzinfo=UTC), keep=0.5)
    store.void("main", "e0", reason=f"{FORGOTTEN} saw it")
    store.anonymize("main", FORGOTTEN)
    store.describe_pool("main", title="Größte <Liga>", contact="https://club.example/a?b=c", public=True, actor="admin")
    store.describe_pool("main", player_word="Fahrer", points_scheme="f1 drop=2", display="tiers=A:1", reports="9% 9h")
    return store


def carried_rows(store, pool):
    """Return the rows that derive from a pool's log, without the numbers that depend on the database."""
    with store.engine.connect() as connection:
        (number,) = connection.execute(sa.text("SELECT id FROM pool WHERE name = :name"), {"name": pool}).scalars()
        seqs = connection.execute(sa.text("SELECT seq, place FROM log WHERE pool_id = :pool"), {"pool": number})
        places = dict(seqs.all())
        apart = (
            "log",
            "removed",
            "correction",
            "webhook",
            "pool_fact",
            "hindsight",
            "kept",
            "running",
            "player_link",
            "report",
            "snapshot",
            "snapshot_day",
        )  # unused tables, numbers, and data of one database
        tables = [each for each in metadata.sorted_tables if "pool_id" in each.c and each.name not in apart]
        found = {}
        for table in tables:
            several = connection.execute(sa.select(table).where(table.c.pool_id == number)).mappings()
            cleared = [
                {name: places[value] if name in ("seq", "content_seq") else value for name, value in row.items()}
                | {"pool_id": 0}
                for row in several
            ]
            found[table.name] = sorted(map(str, cleared))
        return found


@pytest.mark.parametrize(("kind", "target"), [("sqlite", "postgresql"), ("postgresql", "sqlite")])
def test_an_imported_pool_has_the_same_head_and_ratings(kind, target, new_url):
    with closing(fill(Store(new_url(kind)))) as source, closing(Store(new_url(target))) as store:
        lines = list(source.export_pool("main"))
        assert FORGOTTEN.casefold() not in "".join(lines).casefold()
        store.create_pool("first", find("elo")())
        store.submit("first", rows(1, ["José", "ana", "x", "y"]))
        imported = store.import_pool(iter(lines))
        assert imported.head == Head(**json.loads(lines[0])["head"])
        assert imported.pool == "main"
        assert store.verification("main", [imported.head]).findings == []
        assert list(store.export_pool("main")) == lines
        before, after = carried_rows(source, "main"), carried_rows(store, "main")
        assert before == after
        assert all(before[name] for name in before)  # every table had rows to import
        assert store.history("main").equals(source.history("main"))
        again = store.submit("main", rows(3, ["Benoît", "ana"]))
        assert again[0].duplicate
        assert store.submit("main", rows(5, ["José", "ana"]), match_ids={"e5": "lobby"})[0].duplicate
        for each in (source, store):
            each.submit("main", rows(9, ["José", "new", "ben"]))
            each.unmerge("main", "old")
            assert each.verify() == []
        assert store.leaderboard("main") == source.leaderboard("main")
        assert store.pool_summary("main") == source.pool_summary("main")
        assert store.pool("main").description.public
        with pytest.raises(StoreError, match="there is already a pool 'main'"):
            store.import_pool(lines)
        assert store.import_pool(lines, name="twice").head == imported.head
        assert store.verify() == []


def counts(store):
    with store.engine.connect() as connection:
        return {
            each.name: connection.execute(sa.select(sa.func.count()).select_from(each)).scalar()
            for each in metadata.sorted_tables
        }


def with_fields(line, **changes):
    return json.dumps(json.loads(line) | changes, ensure_ascii=False) + "\n"


def test_an_altered_file_is_rejected_with_its_line(new_url):
    with closing(fill(Store(new_url("sqlite")))) as source:
        lines = list(source.export_pool("main"))
    log = next(k for k, line in enumerate(lines) if '"place":1,' in line and k)
    amended = next(k for k, line in enumerate(lines) if '"kind":"amend"' in line)
    files = []
    for k in range(log, len(lines)):
        fields = json.loads(lines[k])
        altered = with_fields(lines[k], actor=fields["actor"] + "x")
        files.append(([*lines[:k], altered, *lines[k + 1 :]], f"line {k + 1}: the chain is broken"))
        if k + 1 < len(lines):
            files.append(([*lines[:k], *lines[k + 1 :]], f"line {k + 1}: the chain is broken"))
            files.append(([*lines[:k], lines[k + 1], lines[k], *lines[k + 2 :]], f"line {k + 1}: the chain is broken"))
    text = json.loads(lines[amended])["reason"] | {"text": "all well"}
    files += [
        (lines[:-1], "ends with log entry"),
        ([*lines, lines[-1]], f"line {len(lines) + 1}: the chain is broken"),
        (lines[1:], "line 1: podium_pool is missing"),
        ([], "line 1: podium_pool is missing"),
        (["event_id,player\n"], "line 1: this is not a JSON object"),
        ([lines[0], *lines[2:]], f"line {log}: player is missing"),
        ([lines[0], lines[1], *lines[1:]], "is not the log of a pool"),
        ([lines[0], with_fields(lines[1], player=2**70), *lines[2:]], "is not the log of a pool"),
        ([lines[0], with_fields(lines[1], name="\ud800"), *lines[2:]], "is not the log of a pool"),
        ([with_fields(lines[0], podium_pool=2), *lines[1:]], "has format 2"),
        ([with_fields(lines[0], system="elos"), *lines[1:]], "elos"),
        ([*lines[:amended], with_fields(lines[amended], reason=text), *lines[amended + 1 :]], "the reason was altered"),
        (
            [*lines[: log + 1], with_fields(lines[log + 1], kind="destroy"), *lines[log + 2 :]],
            "does not support log entries of kind",
        ),
    ]
    with closing(Store(new_url("sqlite"))) as store:
        empty = counts(store)
        for file, expected in files:
            with pytest.raises((StoreError, podium.ParameterError), match=expected):
                store.import_pool(file)
            assert counts(store) == empty
        store.import_pool(lines)


def test_a_closed_pool_accepts_nothing_until_it_is_reopened(new_url):
    with closing(fill(Store(new_url("sqlite")))) as store:
        assert store.close_pool("main", actor="admin")
        assert not store.close_pool("main")
        version = store.version("main")
        for act in (
            lambda: store.submit("main", rows(7, "ab")),
            lambda: store.submit("main", rows(7, "ab"), dry_run=True),
            lambda: store.void("main", "e3"),
            lambda: store.register("main", "m", ["ana"]),
            lambda: store.unmerge("main", "old"),
            lambda: store.rename("main", "ana", "anna"),
            lambda: store.configure("main", find("elo")()),
            lambda: store.begin_season("main", "s", datetime(2025, 1, 2, tzinfo=UTC), keep=0.5),
        ):
            with pytest.raises(StoreError, match="podium pool reopen"):
                act()
        with calling(store) as client:
            answer = client.post("/api/v1/pools/main/events", json=event(7))
            assert (answer.status_code, "is closed" in answer.json()["detail"]) == (409, True)
        assert store.version("main") == version
        store.submit("other", rows(7, "ab"))
        store.anonymize("main", "José")
        assert [each.kind for each in store.log("main", after=version)] == ["anonymize"]
        assert store.verify() == []
        with store.engine.begin() as connection:
            connection.execute(sa.text("UPDATE pool SET closed = NOT closed"))
        assert len([each for each in store.verify() if "the pool's closed is stored as" in each]) == 2
        with store.engine.begin() as connection:
            connection.execute(sa.text("UPDATE pool SET closed = NOT closed"))
        assert store.reopen_pool("main", actor="admin")
        assert not store.reopen_pool("main")
        assert store.submit("main", rows(7, "ab"))[0].status == "rated"
        assert [each.kind for each in store.log("main", after=version)] == ["anonymize", "reopen", "submit"]
        assert store.verify() == []


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_deleted_pool_leaves_nothing_behind(kind, new_url):
    with closing(Store(new_url(kind))) as store:
        store.create_pool("stays", find("elo")())
        store.submit("stays", rows(1, "ab"))
        create_key(store.engine, "all", "write")
        before = counts(store)
        fill(store)
        create_key(store.engine, "server", "write", "main")
        create_webhook(store.engine, "main", "https://example.org/podium")
        with pytest.raises(StoreError, match=r"is open. Close it first with `podium pool close`"):
            store.delete_pool("main")
        for name in ("main", "other"):
            store.close_pool(name)
            store.delete_pool(name)
        assert counts(store) == before
        assert [each.name for each in list_keys(store.engine)] == ["all"]
        with pytest.raises(podium.UnknownError):
            store.delete_pool("main")
        assert store.verify() == []
        with store.engine.connect() as connection:
            assert connection.execute(sa.select(api_key.c.pool)).scalars().all() == [None]
        store.create_pool("main", find("elo")())  # the name can be used again


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in this process."""
    monkeypatch.chdir(tmp_path)

    def command(*words, status=0):
        monkeypatch.setattr(sys, "argv", ["podium", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        assert stop.value.code == status, printed
        return printed.out if status == 0 else printed.err

    return command


def test_commands_export_import_and_check_pools(run, tmp_path):
    with closing(fill(Store("podium.db"))) as store:
        receipt = store.void("main", "e1", reason="late")
        (entry,) = (each.seq for each in store.log("main") if each.reason == "late")
    (tmp_path / "receipt.json").write_text(
        json.dumps([{"head": {"place": receipt.head.place, "hash": receipt.head.hash}}])
    )
    assert f"main: head {receipt.head}; 1 reason is blanked\n" in run("verify")
    assert f"main: head {receipt.head}" in run("db", "backup", "copy.db")
    run("reason", "blank", "--pool", "main", "--entry", entry)
    assert "late" not in run("pool", "log", "main", "--format", "csv")
    for head in ("receipt.json", receipt.head):
        assert "2 reasons are blanked" in run("verify", "--pool", "main", "--head", head)
    assert f"log entries {receipt.head.place + 2} to 99 were removed: the log ends before the head 99:" in run(
        "verify", "--pool", "main", "--head", f"99:{receipt.head.hash}", status=1
    )
    for wrong in ("none.json", "7:ab", "0:" + receipt.head.hash):
        assert "is neither a file nor a head" in run("verify", "--head", wrong, status=2)
    assert "main is written to main.jsonl" in run("pool", "export", "main", "-o", "main.jsonl")
    assert run("pool", "export", "main") == (tmp_path / "main.jsonl").read_text(encoding="utf-8")
    assert run("verify", "--head", "main.jsonl")
    assert "events" in run("pool", "import", "main.jsonl", "--db", "new.db", "--as", "Main")
    assert "there is already a pool 'Main'" in run(
        "pool", "import", "main.jsonl", "--db", "new.db", "--as", "Main", status=2
    )
    assert "cannot be read" in run("pool", "import", "none.jsonl", status=2)
    assert run("verify", "--db", "new.db", "--head", "main.jsonl")
    assert "is closed" in run("pool", "close", "main", "--actor", "admin")
    assert "main,glicko2,closed" in run("pool", "list", "--format", "csv")
    assert "'mian' is not its name" in run("pool", "delete", "main", "--yes", "mian", status=2)
    assert "main is open" in run("pool", "reopen", "main")
    assert "is open. Close it first" in run("pool", "delete", "main", "--yes", "main", status=2)
    run("pool", "close", "main")
    assert "is deleted" in run("pool", "delete", "main", "--yes", "main")
    assert "main" not in run("pool", "list", "--format", "csv")
