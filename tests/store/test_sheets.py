"""Corrected sheets: the pool is as if the corrected sheet had been sent first."""

import random
import signal
from collections import Counter
from contextlib import closing
from itertools import count, product

import pytest
from extent import times
from killed import amend_sheet_half, status_of

from podium.log.database import StoreError
from podium.store import Store
from podium.store.writing import proposals
from podium.store.writing.proposals import Sheet
from podium.store.writing.submission import ConflictError
from podium.systems import find

LEAGUE = Sheet("league.csv")
NAMES = ["Ana", "Ben", "Cleo", "Dan", "Eve", "Fritz"]


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, new_url):
    with closing(Store(new_url(request.param))) as opened:
        yield opened


def a_match(day, one, other, score="1-0"):
    return {"day": day, "one": one, "other": other, "score": score}


def rows_of(matches, dated=True):
    """Return the rows that importers make of matches, named by date, names and a count."""
    rows, seen = [], Counter()
    for each in matches:
        name = f"{each['one']} - {each['other']}"
        name = f"2025-01-{each['day']:02} {name}" if dated else name
        seen[name] += 1
        event_id = name if seen[name] == 1 else f"{name} #{seen[name]}"
        when = {"started_at": f"2025-01-{each['day']:02}T00:00:00Z"} if dated else {}
        places = {"1-0": (1, 2), "0-1": (2, 1), "½-½": (1, 1)}[each["score"]]
        rows += [
            {"event_id": event_id, "player": each[side], "position": place} | when
            for side, place in zip(("one", "other"), places, strict=True)
        ]
    return rows


def bits(store, pool="main"):
    """Return the exact ledger, without the ids and numbers of events."""
    history = store.history(pool)
    return history.drop([each for each in ("pool", "event_id", "sequence") if each in history.columns]).rows()


def edited(rng, matches):
    """Return a sheet after one edit by a club's secretary."""
    sheet = [dict(each) for each in matches]
    place = rng.randrange(len(sheet))
    one, other = rng.sample(NAMES, 2)
    match rng.randrange(8):
        case 0:
            sheet[place]["one"] = next(
                each for each in NAMES if each not in (sheet[place]["one"], sheet[place]["other"])
            )
        case 1:
            sheet[place]["day"] = rng.randint(1, 9)
        case 2 if len(sheet) > 3:
            del sheet[place]
        case 3:
            sheet.insert(place, a_match(rng.randint(1, 9), one, other, rng.choice(["1-0", "0-1", "½-½"])))
        case 4:
            rng.shuffle(sheet)
        case 5:
            sheet.insert(rng.randrange(len(sheet)), dict(sheet[place]))
        case 6:
            sheet[place]["score"] = rng.choice(["1-0", "0-1", "½-½"])
        case 7:
            sheet.append(a_match(9, one, other))
    return sheet


# Each pair of values occurs once; `make soak` runs all combinations.
PAIRS = [
    ("sqlite", "elo", True),
    ("sqlite", "adaptive", False),
    ("postgresql", "elo", False),
    ("postgresql", "adaptive", True),
]
WAYS = times(PAIRS, [*product(("sqlite", "postgresql"), ("elo", "adaptive"), (True, False))])


@pytest.mark.parametrize(("store", "system", "dated"), WAYS, indirect=["store"])
def test_a_corrected_sheet_gives_the_same_pool_as_a_correct_one(store, system, dated):
    rng = random.Random(f"{dated} {system}")  # noqa: S311  (no secret)
    for trial in range(times(2, 40)):
        pool = f"p{trial}"
        store.create_pool(pool, find(system)(), order="dated" if dated else "sequence")
        sheet = [
            a_match(day, *rng.sample(NAMES, 2), rng.choice(["1-0", "0-1", "½-½"])) for day in (1, 1, 1, 2, 3, 3, 5, 8)
        ]
        store.submit(pool, rows_of(sheet, dated), sheet=LEAGUE)
        for step in range(4):
            for _ in range(rng.randint(1, 3)):
                sheet = edited(rng, sheet)
            rows = rows_of(sheet, dated)
            seen = store.amend_sheet(pool, rows, sheet=LEAGUE, dry_run=True)
            done = store.amend_sheet(pool, rows, sheet=LEAGUE)
            assert (seen.new, seen.other, seen.gone, seen.same) == (done.new, done.other, done.gone, done.same)
            assert seen.totals == done.totals
            assert len(done.new) + len(done.other) + done.same == len(sheet)
            fresh = f"fresh{trial}{step}"
            store.create_pool(fresh, find(system)(), order="dated" if dated else "sequence")
            store.submit(fresh, rows)
            assert bits(store, pool) == bits(store, fresh)
            before = store.version(pool)
            again = store.amend_sheet(pool, rows, sheet=LEAGUE)
            assert (again.new, again.other, again.gone, again.same) == ((), (), (), len(sheet))
            assert all(each.duplicate for each in store.submit(pool, rows, sheet=LEAGUE))
            assert store.version(pool) == before
    assert store.verify() == []


def test_cars_of_a_corrected_sheet_match_those_of_a_correct_one(store):
    """One car differs, one is missing, and one was renamed in the pool meanwhile."""

    def cars(*names):
        rows = rows_of([a_match(day, "Ana", "Ben") for day in range(1, len(names) // 2 + 1)])
        return [row | {"shared:car": name} for row, name in zip(rows, names, strict=True) if name]

    store.create_pool("main", find("adaptive")(shared="car"))
    store.submit("main", cars("X", "Y", "Y", "X", "X", "Z"), sheet=LEAGUE)
    again = store.amend_sheet("main", cars("X", "Y", "Y", "X", "X", "Z"), sheet=LEAGUE)
    assert (again.other, again.same) == ((), 3)
    store.rename("main", "Y", "Y2", kind="car")
    mended = cars("X", "Y", "Y", "New", "X", "Z", "Z", "New")
    done = store.amend_sheet("main", mended, sheet=LEAGUE)
    assert (len(done.new), len(done.other), done.gone, done.same) == (1, 1, (), 2)
    assert done.other[0].sentence == "row 2 is player Ben, shared:car New (car), and was player Ben, shared:car X (car)"
    store.create_pool("fresh", find("adaptive")(shared="car"))
    store.submit("fresh", mended)
    store.rename("fresh", "Y", "Y2", kind="car")
    assert bits(store) == bits(store, "fresh")
    assert store.equipment("main") == store.equipment("fresh")
    assert store.verify() == []


@pytest.fixture
def league(store):
    """Store a pool with a sheet of three days, and return the sheet."""
    store.create_pool("main", find("elo")())
    sheet = [a_match(1, "Ana", "Ben"), a_match(1, "Cleo", "Dan"), a_match(2, "Ana", "Cleo"), a_match(3, "Ben", "Dan")]
    store.submit("main", rows_of(sheet), sheet=LEAGUE)
    return sheet


def test_a_corrected_date_is_a_change_of_the_same_match(store, league):
    league[2]["day"] = 4
    done = store.amend_sheet("main", rows_of(league), sheet=LEAGUE)
    assert (done.new, done.gone, done.same) == ((), (), 3)
    ((event_id, why),) = done.other
    assert event_id == "2025-01-02 Ana - Cleo"  # its pages and links still work
    assert "2025-01-04" in why
    assert "2025-01-02" in why
    assert str(done) == "0 new, 1 differs, 0 gone, 3 the same"
    league.append(a_match(2, "Ana", "Cleo"))  # this match gets the former id of another event
    again = store.amend_sheet("main", rows_of(league), sheet=LEAGUE)
    assert again.new == ("2025-01-02 Ana - Cleo #2",)
    assert store.verify() == []


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("more", [{}, {"title": 'A "cup", they say', "url": "https://example.org/1"}])
@pytest.mark.portable
def test_the_order_of_rows_within_an_event_does_not_matter(store, dated, more):
    """Places matter: in a list in order of finish, another order gives other places."""
    when = {"started_at": "2025-01-02T00:00:00Z"} if dated else {}
    race = [{"event_id": "r1", "player": name, "position": place} | when | more for place, name in enumerate("abcd", 1)]
    store.create_pool("main", find("elo")(), order="dated" if dated else "sequence")
    store.submit("main", race, sheet=LEAGUE)
    before = store.version("main"), bits(store)
    for rows in (race[::-1], [race[k] for k in (2, 0, 3, 1)]):
        assert [each.duplicate for each in store.submit("main", rows, sheet=LEAGUE)] == [True]
        assert store.amend("main", rows).duplicate
        done = store.amend_sheet("main", rows, sheet=LEAGUE)
        assert (done.new, done.other, done.gone, done.kept, done.same) == ((), (), (), (), 1)
    assert (store.version("main"), bits(store)) == before
    listed = [row | {"position": place} for place, row in enumerate(race[::-1], 1)]
    with pytest.raises(ConflictError):
        store.submit("main", listed, sheet=LEAGUE)
    done = store.amend_sheet("main", listed, sheet=LEAGUE)
    assert ([each.event_id for each in done.other], done.same) == (["r1"], 0)
    if more:
        listed = [row | {"title": "Another"} for row in listed]
        done = store.amend_sheet("main", listed, sheet=LEAGUE)
        assert ([each.event_id for each in done.other], done.same) == (["r1"], 0)
    renamed = [row | {"event_id": "cup"} for row in listed[::-1]]
    done = store.amend_sheet("main", renamed, sheet=LEAGUE)  # found by its content despite another id
    assert (done.new, done.other, done.gone, done.same) == ((), (), (), 1)
    assert store.verify() == []


def test_a_corrected_name_voids_a_match_and_adds_another(store, league):
    league[0]["one"] = "Anna"
    done = store.amend_sheet("main", rows_of(league), sheet=LEAGUE, reason="it was Anna", actor="Jo")
    assert (done.new, done.gone) == (("2025-01-01 Anna - Ben",), ("2025-01-01 Ana - Ben",))
    record = store.event_record("main", "2025-01-01 Ana - Ben")
    assert [(each.kind, each.actor, each.reason) for each in record[1:]] == [("void", "Jo", "it was Anna")]
    league[0]["one"] = "Ana"
    back = store.amend_sheet("main", rows_of(league), sheet=LEAGUE)
    assert (back.new, back.gone) == (("2025-01-01 Ana - Ben",), ("2025-01-01 Anna - Ben",))
    assert store.verify() == []


def test_manual_corrections_stay_and_are_named(store, league):
    by_hand = rows_of([a_match(1, "Ana", "Ben", "0-1")])
    store.amend("main", by_hand)
    store.void("main", "2025-01-01 Cleo - Dan")
    league[2]["score"] = "0-1"
    seen = store.amend_sheet("main", rows_of(league), sheet=LEAGUE, dry_run=True)
    done = store.amend_sheet("main", rows_of(league), sheet=LEAGUE)
    assert seen.kept == done.kept
    assert [each.event_id for each in done.other] == ["2025-01-02 Ana - Cleo"]
    corrected, voided = done.kept
    assert corrected.event_id == "2025-01-01 Ana - Ben"
    assert "was corrected by hand, and stays as it is" in corrected.sentence
    assert "position 1.0, and was player Ana, position 2.0" in corrected.sentence
    assert voided == ("2025-01-01 Cleo - Dan", "was voided by hand, and stays void")
    assert str(done) == "0 new, 1 differs, 0 gone, 2 corrected by hand, 1 the same"
    assert store.amend_sheet("main", rows_of(league), sheet=LEAGUE).kept == done.kept  # it is named again
    gone = store.amend_sheet("main", rows_of(league[1:]), sheet=LEAGUE, dry_run=True)
    assert not gone.gone
    assert "the sheet no longer has it" in gone.kept[-1].sentence

    league[0]["score"] = "0-1"  # the sheet adopts the correction
    assert [each.event_id for each in store.amend_sheet("main", rows_of(league), sheet=LEAGUE).kept] == [
        voided.event_id
    ]
    league[0]["score"] = "½-½"  # from now on the sheet decides again
    assert [each.event_id for each in store.amend_sheet("main", rows_of(league), sheet=LEAGUE).other] == [
        "2025-01-01 Ana - Ben"
    ]
    done = store.amend_sheet("main", rows_of(league), sheet=LEAGUE, overrule=True)
    assert (done.new, done.kept) == ((voided.event_id,), ())
    store.create_pool("fresh", find("elo")())
    store.submit("fresh", rows_of(league))
    assert bits(store) == bits(store, "fresh")
    assert store.verify() == []


def test_renamed_and_anonymized_players_are_recognised(store, league):
    store.rename("main", "Ana", "Anna Sieber")
    assert store.amend_sheet("main", rows_of(league), sheet=LEAGUE).same == 4
    forgotten = store.anonymize("main", "Dan")
    for sheet in (league, [*league, a_match(8, "Ben", "Cleo")]):
        done = store.amend_sheet("main", rows_of(sheet), sheet=LEAGUE)
        assert (done.same, done.other, done.gone, done.kept) == (4, (), (), ())
    assert {row.player for row in store.leaderboard("main").players} == {"Anna Sieber", "Ben", "Cleo", forgotten}
    for each in league:
        each.update({side: "Anna Sieber" for side in ("one", "other") if each[side] == "Ana"})
    done = store.amend_sheet("main", rows_of([*league, a_match(8, "Ben", "Cleo")]), sheet=LEAGUE)
    assert (done.same, done.new, done.gone) == (5, (), ())  # the sheet has other names, but the ids stay
    assert all(each.duplicate for each in store.submit("main", rows_of(league), sheet=LEAGUE))


def test_amending_a_sheet_is_atomic(store, league, monkeypatch):
    mended = [*league[1:], a_match(9, "Eve", "Fritz")]
    before = store.version("main"), bits(store), store.sheets("main")

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(proposals, "keep_sheet", fail)
        with pytest.raises(KeyboardInterrupt):
            store.amend_sheet("main", rows_of(mended), sheet=LEAGUE)
    store.amend_sheet("main", rows_of(mended), sheet=LEAGUE, dry_run=True)
    assert (store.version("main"), bits(store), store.sheets("main")) == before
    store.amend_sheet("main", rows_of(mended), sheet=LEAGUE)
    assert store.verify() == []


@pytest.mark.portable
def test_a_kill_while_amending_leaves_the_old_or_the_new_sheet(store, league):
    url = store.engine.url.render_as_string(hide_password=False)
    mended = rows_of([*league[1:3], a_match(3, "Dan", "Ben"), a_match(9, "Eve", "Fritz")])
    store.create_pool("fresh", find("elo")())
    store.submit("fresh", mended)
    new, old = bits(store, "fresh"), bits(store)
    assert old != new
    for step in count(1, 4):
        died = status_of(amend_sheet_half, url, mended, LEAGUE, step) == -signal.SIGKILL
        done = bits(store) == new
        assert done or (died and bits(store) == old)
        assert [each.events for each in store.sheets("main")] == [4]
        assert store.verify() == []
        if done:
            break
    assert step > 8
    again = store.amend_sheet("main", mended, sheet=LEAGUE)
    assert (again.new, again.other, again.gone, again.same) == ((), (), (), 4)


def test_a_new_season_needs_a_prefix_for_its_ids(store):
    rounds = [{"event_id": "Round 1", "player": name, "position": place} for place, name in enumerate("abc", 1)]
    old = [row | {"started_at": "2025-01-01T00:00:00Z"} for row in rounds]
    new = [row | {"started_at": "2026-01-01T00:00:00Z"} for row in rounds]
    store.create_pool("main", find("elo")())
    store.submit("main", old, sheet=LEAGUE)
    cup = Sheet("league-2026.csv")
    for send in (store.submit, store.amend_sheet):
        with pytest.raises(ConflictError, match=r"--prefix 2026/ (gives|for new IDs)"):
            send("main", new, sheet=cup)
    last = [{**row, "position": 4 - row["position"]} for row in new]
    with pytest.raises(ConflictError, match="is it from another season"):
        store.amend_sheet("main", last, sheet=LEAGUE)
    store.submit("main", new, sheet=cup._replace(prefix="2026/"))
    assert [each.event_id for each in store.event_list("main").events] == ["2026/Round 1", "Round 1"]
    more = [*new, *({**row, "event_id": "Round 2"} for row in new)]
    done = store.amend_sheet("main", more, sheet=cup._replace(prefix="2026/"))
    assert (done.same, done.new) == (1, ("2026/Round 2",))
    assert store.amend_sheet("main", more, sheet=cup).same == 2  # the prefix is now known


def test_a_sheet_is_recognised_by_its_name_or_content(store, league):
    other = Sheet("league (2).csv")
    done = store.amend_sheet("main", rows_of(league[:3]), sheet=other)
    assert (done.sheet, done.same, len(done.gone)) == ("league.csv", 3, 1)
    done = store.amend_sheet("main", rows_of(league[:1]), sheet=Sheet("extract.csv"))  # most of the sheet is missing
    assert (done.is_first, done.gone) == (True, ())
    with pytest.raises(StoreError, match=r"none of the 3 events that league.csv added to pool 'main' are in it now"):
        store.amend_sheet("main", rows_of([a_match(7, "Eve", "Fritz")]), sheet=LEAGUE)
    done = store.amend_sheet("main", rows_of(league[1:3]), sheet=LEAGUE)
    assert (done.same, done.gone) == (2, ())  # another sheet also has it
    assert {each.name: each.events for each in store.sheets("main")} == {"league.csv": 2, "extract.csv": 1}


def test_an_undated_pool_keeps_its_numbers_and_inserts_new_ones(store):
    store.create_pool("main", find("elo")(), order="sequence")
    sheet = [a_match(1, "Ana", "Ben"), a_match(1, "Cleo", "Dan"), a_match(1, "Eve", "Fritz")]
    store.submit("main", rows_of(sheet, dated=False), sheet=LEAGUE)
    sheet.insert(1, a_match(1, "Ana", "Fritz"))
    done = store.amend_sheet("main", rows_of(sheet, dated=False), sheet=LEAGUE)
    assert (len(done.new), done.other, done.same) == (1, (), 3)
    events = store.event_list("main").events
    assert [(each.sequence, each.event_id) for each in events] == [
        (3.0, "Eve - Fritz"), (2.0, "Cleo - Dan"), (1.5, "Ana - Fritz"), (1.0, "Ana - Ben")
    ]  # fmt: skip


def test_an_imported_pool_keeps_its_sheets(store, league, new_url):
    league[2]["day"] = 4
    store.amend_sheet("main", rows_of(league), sheet=LEAGUE._replace(map="[columns]\n"))
    with closing(Store(new_url("sqlite"))) as other:
        other.import_pool(store.export_pool("main"))
        assert other.sheets("main") == store.sheets("main")
        done = other.amend_sheet("main", rows_of(league[:3]), sheet=LEAGUE)
        assert (done.same, done.gone) == (3, ("2025-01-03 Ben - Dan",))
        assert other.verify() == []
