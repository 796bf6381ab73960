"""An anonymized player's names are removed everywhere; later results under them still count for the player."""

import json
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
import zstandard

import podium
from podium.log import log as log_entries
from podium.log.chain import parse_head
from podium.log.database import StoreError
from podium.log.schema import log, report, title
from podium.log.statements import metadata
from podium.results.mentions import Mentions
from podium.store import Store
from podium.store.waiting import Owner, WaitingFile, keep_waiting
from podium.store.writing import anonymizing
from podium.store.writing.proposals import Sheet
from podium.store.writing.submission import ConflictError
from podium.systems import find

NAME = "Zebedee Quux"
SOON = datetime.now(UTC) + timedelta(days=1)


def a_race(event_id, winner, *others, **more):
    field = [winner, *others]
    return [
        {"event_id": event_id, "started_at": f"2025-01-{len(field):02}T00:00Z", "player": each, "position": place}
        | more
        for place, each in enumerate(field, start=1)
    ]


@pytest.fixture
def pool(store):
    store.create_pool("main", find("elo")())
    return store


def test_results_under_a_removed_name_count_for_the_anonymized_player(pool):
    pool.submit("main", a_race("1", NAME, "Ben"))
    player = pool.anonymize("main", NAME)
    assert pool.submit("main", a_race("1", NAME, "Ben"))[0].duplicate
    pool.submit("main", a_race("2", NAME, "Ben", "Cleo"))
    pool.amend("main", a_race("1", "Ben", NAME))
    assert {row.player: row.events for row in pool.leaderboard("main").players} == {player: 2, "Ben": 2, "Cleo": 1}
    with pytest.raises(podium.UnknownError):
        pool.rank("main", NAME)
    assert pool.verify() == []


def test_other_spellings_of_a_removed_name_count_for_the_anonymized_player(pool):
    pool.submit("main", a_race("1", "Zoë  Quux", "zoe"))
    player = pool.anonymize("main", "Zoë  Quux")
    pool.submit("main", a_race("2", "ZOE QUUX", "zoe", "Zoe Quuxx"))
    events = {row.player: row.events for row in pool.leaderboard("main").players}
    assert events == {player: 2, "zoe": 2, "Zoe Quuxx": 1}
    pool.rename("main", player, "Zoe Quux")
    pool.submit("main", a_race("3", "ZOE QUUX", "zoe"))
    assert {"Zoe Quux", "ZOE QUUX"} < {row.player for row in pool.leaderboard("main").players}


def test_a_removed_name_can_be_restored(pool):
    pool.submit("main", a_race("1", NAME, "Ben"))
    player = pool.anonymize("main", NAME)
    pool.rename("main", "Ben", NAME)
    pool.submit("main", a_race("2", NAME, player, "Cleo"))
    assert pool.rank("main", NAME).events == 2


def tables_of(store):
    with store.engine.connect() as connection:
        return {table.name: connection.execute(sa.select(table)).all() for table in metadata.sorted_tables}


def mentions_of(store, *names):
    """Return the tables, log pages and exports that still contain a name."""
    found = Mentions(names or (NAME,))
    cells = ((table, text_of(each)) for table, rows in tables_of(store).items() for row in rows for each in row)
    stored = {table for table, text in cells if text in found}
    return stored | {"export" for line in store.export_pool("main") if line in found}


def text_of(value):
    if isinstance(value, bytes) and value.startswith(zstandard.FRAME_HEADER):
        value = zstandard.decompress(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


@pytest.fixture
def full(pool):
    """Return a pool that mentions one player in every possible text."""
    pool.submit("main", a_race("1", NAME, "Ben"), actor=f"{NAME}'s phone")
    pool.submit("main", a_race("2025 zebedee_quux-ben", "Ben", NAME, title="Quux, Zebedee wins"))
    teams = [{"team": "Zebedée Quux & Ben", "heat": "ZebedeeQuux 1"}, {"team": "Cleo & Dan", "heat": "ZebedeeQuux 1"}]
    teams[0] |= {"awards": "Zebedee Quux Cup"}
    rows = a_race("3", NAME, "Cleo", url=f"https://example.org/{NAME.replace(' ', '%20')}")
    pool.submit("main", [row | team for row, team in zip(rows, teams, strict=True)])
    pool.register("main", "m-zebedee-quux", [NAME, "Ben"])
    pool.submit("main", a_race("4", "Ben", NAME, "Cleo"), match_ids={"4": "m-zebedee-quux"})
    pool.plan_fixture("main", "next zebedee quux", starts_at=SOON, title=f"{NAME} v Ben", entrants=[NAME, "Ben"])
    pool.post_places("main", "next zebedee quux", [NAME, "Ben"])
    pool.begin_season("main", f"Season of {NAME}", datetime(2025, 1, 3, tzinfo=UTC), keep=0.5)
    pool.void("main", "1", reason=f"{NAME.upper()} said so")
    pool.unvoid("main", "1")
    pool.describe_pool("main", title=f"The {NAME} Cup", public=True, points_scheme="f1 +zebedee_quux_cup=1")
    pool.submit("main", a_race("2024-05-08 Cleo - Zebedee Quux", NAME, "Cleo"), sheet=Sheet("zebedee quux.csv"))
    keep_waiting(pool.engine, Owner(1, "session", "main", "file"), WaitingFile("x.csv", f"a,b\n{NAME},Ben".encode()))
    return pool


def test_no_table_or_export_mentions_a_removed_name(full, tmp_path):
    before = {row.rating for row in full.leaderboard("main").players}
    head = full.verification("main").heads[0].split()[2]
    assert full.keep_snapshot("main", entries=0)
    assert mentions_of(full) > {"player", "title", "brought", "log", "reason", "kept", "export"}
    seen = full.anonymization("main", NAME)
    assert full.anonymization("main", NAME) == seen  # a dry run stores nothing
    assert seen.player == NAME
    assert {"2025 zebedee_quux-ben", "m-zebedee-quux", "next zebedee quux"} <= {*seen.ids}
    assert full.anonymize("main", NAME, actor=f"{NAME}'s phone") == seen.name
    assert mentions_of(full) == set()
    assert {row.rating for row in full.leaderboard("main").players} == before
    checked = full.verification("main", [parse_head(head)])
    assert checked.findings == []
    assert f"3 titles are blanked; {seen.entries} entries are redacted" in checked.heads[0]
    other = Store(str(tmp_path / "other.db"))
    imported = other.import_pool(full.export_pool("main"))
    assert str(imported.head) in checked.heads[0]
    assert other.verify() == []
    other.close()


def test_a_repeat_with_a_replaced_id_gets_the_same_event(full):
    old, rows = "2025 zebedee_quux-ben", a_race("2025 zebedee_quux-ben", "Ben", NAME, title="Quux, Zebedee wins")
    public = full.anonymization("main", NAME).ids[old]
    full.anonymize("main", NAME)
    assert [(each.event_id, each.duplicate) for each in full.submit("main", rows)] == [(public, True)]
    assert full.event("main", old).event_id == public
    assert full.void("main", old).status == "voided"
    assert full.unvoid("main", old).status == "rated"
    with pytest.raises(ConflictError):
        full.submit("main", a_race(old, NAME, "Ben"))
    assert full.amend("main", a_race(old, NAME, "Ben", title="ZEBEDEE QUUX, at last")).event_id == public
    with pytest.raises(StoreError, match="there is already an event with that ID"):
        full.plan_fixture("main", old, starts_at=SOON)
    full.plan_fixture("main", "next zebedee quux", title=f"{NAME} v Ben")
    full.register("main", "m-zebedee-quux", [NAME, "Ben"])
    assert full.verify() == []
    assert mentions_of(full) == set()


def test_a_repeated_sheet_never_restores_a_removed_name(full):
    sheet, row = Sheet("zebedee quux.csv"), a_race("2024-05-08 Cleo - Zebedee Quux", NAME, "Cleo")
    player = full.anonymize("main", NAME)
    assert [each.duplicate for each in full.submit("main", row, sheet=sheet)] == [True]
    corrected = a_race("2024-05-08 Cleo - Zebedee Quux", "Cleo", NAME, title=f"{NAME} lost")
    done = full.amend_sheet("main", [*corrected, *a_race("new", NAME, "Ben")], sheet=sheet)
    assert (done.new, len(done.other), done.gone) == (("new",), 1, ())
    assert [each.name for each in full.sheets("main")] == ["sheet 1"]
    assert full.rank("main", player).events == 6
    assert mentions_of(full) == set()
    assert full.verify() == []


def test_a_sheet_with_a_prefix_never_restores_a_removed_name(pool):
    sheet, rows = Sheet("season.csv", prefix="2025/"), a_race(f"{NAME} Cup", NAME, "Ben")
    pool.submit("main", rows, sheet=sheet)
    pool.anonymize("main", NAME)
    assert [(each.event_id, each.duplicate) for each in pool.submit("main", rows, sheet=sheet)] == [("event 2", True)]
    done = pool.amend_sheet("main", a_race(f"{NAME} Cup", "Ben", NAME), sheet)
    assert [each.event_id for each in done.other] == ["event 2"]
    assert (done.new, done.gone, mentions_of(pool), pool.verify()) == ((), (), set(), [])


@pytest.mark.parametrize("heats", [("zebedee quux final", "semifinal"), ("1", f"a {NAME}", "b", "overall")])
def test_heats_without_a_removed_name_keep_their_order(pool, heats):
    rows = [row | {"heat": heat} for heat in heats for row in a_race("1", NAME, "Ben", "Cleo")]
    for row, position in zip(rows, (1, 2, 3, 3, 1, 2, 2, 3, 1, 3, 2, 1), strict=False):
        row["position"] = position
    pool.configure("main", find("elo-mmr")())
    pool.submit("main", rows)
    before = [row.rating for row in pool.leaderboard("main").players]
    pool.anonymize("main", NAME)
    assert [row.rating for row in pool.leaderboard("main").players] == before
    assert (mentions_of(pool), pool.verify()) == (set(), [])


def test_waiting_reports_do_not_mention_a_removed_name(pool):
    pool.describe_pool("main", reports="50%")
    pool.submit("main", a_race("1", "Ben", "Zoë Quux"))
    rows = [row | {"team": f"Team {row['player']}"} for row in a_race("2", "Ben", "Zoë Quux")]
    for row in rows:
        row["started_at"] = datetime.now(UTC).isoformat()
    pool.add_report("main", 1, rows, form="1")
    pool.anonymize("main", "Zoë Quux")
    with pool.engine.connect() as connection:
        (body,) = connection.execute(sa.select(report.c.body)).scalars()
    assert [row["team"] for row in json.loads(body)[2]] == ["Team Ben", "team 1"]


def test_details_of_a_merged_account_without_names_are_deleted(pool):
    pool.submit("main", a_race("1", "Zoe", "Ben"))
    pool.submit("main", a_race("2", NAME, "Dan", "Cleo"))
    account = pool.anonymize("main", "Zoe")
    pool.set_details("main", [{"player": account, "club": "Reds"}])
    pool.merge("main", account, NAME)
    pool.anonymize("main", NAME)
    assert pool.player_details("main") == ()


def test_no_title_in_a_sheet_without_ids_restores_a_removed_name(pool):
    made = dict.fromkeys([f"1 {NAME} - Ben", f"2 {NAME} - Ben"], "")
    sent = [a_race(event_id, NAME, "Ben", title=f"{NAME} wins") for event_id in made]
    pool.submit("main", sent[0], sheet=Sheet("a.csv", made=made))
    pool.anonymize("main", NAME)
    sent[1][0]["started_at"] = sent[1][1]["started_at"] = "2025-02-01T00:00Z"
    for rows in (sent[0], [*sent[0], *sent[1]]):
        pool.submit("main", rows, sheet=Sheet("a.csv", made=made))
    assert len(pool.event_list("main").events) == 2
    assert (mentions_of(pool), pool.verify()) == (set(), [])


def test_a_title_is_redacted_without_changing_its_log_entry(pool, tmp_path):
    rows = a_race("1", "Ben", "Cleo", title=f'{NAME}\'s "cup"', url="https://example.org/1")
    pool.submit("main", [*rows, *a_race("2", NAME, "Ben", title="Final")])
    assert pool.submit("main", rows)[0].duplicate
    pool.amend("main", a_race("1", "Ben", "Cleo", title="Other"))
    pool.amend("main", rows)
    assert [line.after for record in pool.event_record("main", "1") for line in record.lines] == [
        "title Other", f"title {NAME}'s \"cup\", address https://example.org/1"
    ]  # fmt: skip
    bodies = [row.body for row in tables_of(pool)["log"]]
    assert b"title" not in b"".join(bodies)
    pool.anonymize("main", NAME)
    assert mentions_of(pool) == set()
    assert [row.body for row in tables_of(pool)["log"]][: len(bodies)] == bodies
    assert "2 titles are blanked" in pool.verification("main").heads[0]
    assert "redacted" not in pool.verification("main").heads[0]
    assert [(each.title, each.url) for each in (pool.event("main", "1"), pool.event("main", "2"))] == [
        (None, None), ("Final", None)
    ]  # fmt: skip
    assert pool.submit("main", rows)[0].duplicate
    other = Store(str(tmp_path / "other.db"))
    other.import_pool(pool.export_pool("main"))
    assert other.verify() == pool.verify() == []
    assert other.event("main", "2").title == "Final"
    other.close()


def test_titles_in_bodies_of_earlier_versions_are_redacted(pool, monkeypatch, tmp_path):
    monkeypatch.setattr(log_entries, "TITLED", ())
    pool.submit("main", a_race("1", NAME, "Ben", title=f"{NAME} wins"))
    pool.plan_fixture("main", "soon", starts_at=SOON, title=f"{NAME} v Ben")
    monkeypatch.undo()
    assert tables_of(pool)["title"] == []
    lines = [*pool.export_pool("main")]
    old = Store(str(tmp_path / "old.db"))
    old.import_pool(line.replace(',"title":null,"hash"', ',"hash"') for line in lines)
    for each in (pool, old):
        assert (each.event("main", "1").title, each.fixture("main", "soon").title) == (f"{NAME} wins", f"{NAME} v Ben")
        each.plan_fixture("main", "soon", starts_at=SOON + timedelta(days=1))
        each.anonymize("main", NAME)
        assert mentions_of(each) == set()
        assert each.verify() == []
    old.close()


@pytest.mark.parametrize(("change", "fault"), [
    (sa.update(title).values(text=b',"title":"Semifinal"'), "altered"),
    (sa.update(title).values(salt=b"x"), "altered"),
    (sa.update(title).values(text=b""), "removed"),
    (sa.delete(title), "removed"),
])  # fmt: skip
def test_verify_finds_altered_and_removed_titles(pool, change, fault):
    pool.submit("main", a_race("1", NAME, "Ben", title="Final"))
    with pool.engine.begin() as connection:
        connection.execute(change)
    assert any(f"the title of log entry 2 (number 2, submit of '1') was {fault}" in each for each in pool.verify())


def test_verify_finds_an_altered_redacted_entry(full):
    full.anonymize("main", NAME)
    with full.engine.begin() as connection:
        connection.execute(sa.update(log).where(log.c.match_id.is_not(None)).values(present=1))
    assert any("was altered" in each for each in full.verify())


def test_removing_a_name_is_atomic(full, monkeypatch):
    before = tables_of(full)
    monkeypatch.setattr(anonymizing, "keep_removed", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        full.anonymize("main", NAME)
    assert tables_of(full) == before


@pytest.mark.parametrize(
    ("name", "text", "mentions"),
    [
        ("Ana Sample", "Race of ANA  SAMPLE", True), ("Ana Sample", "cleo-ana-sample", True),
        ("Ana Sample", "cleo_ana_sample_2", True), ("Ana Sample", "Sample, Ana", True),
        ("Ana van der Berg", "van der Berg, Ana wins", True), ("Łukasz O'Neill", "O'Neill, Lukasz", True),
        ("Ana Sample", "AnaSample", True), ("Ana Sample", "2024anasample", True),
        ("Ana Sample", "https://a.example/ana%20sample", True), ("Ana Sample", "Ana of Sample", False),
        ("Ana Sample", "Ana", False), ("José", "JOSE\u0301's cup", True), ("José", "Joseph", False),
        ("Ben", "Bens Rennen", True), ("Ben", "Bench", False), ("李娜", "李娜对王", True), ("racer1", "racer12", False),
        ("racer1", "racer1-x", True), ("7", "Round 7", False), ("7656119", "match-7656119", True),
        ("🔥", "a 🔥 b", True),
        ("a", "a v b", False), ("Łukasz", "lukasz", True), ("Zoë", "zoe", True),
    ],
)  # fmt: skip
def test_mentions_of_a_name_are_found(name, text, mentions):
    found = Mentions([name])
    assert (text in found) == mentions
    assert found.may_be_in(text) or not mentions
