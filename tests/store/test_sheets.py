"""Sheets that are sent again: the pool is as if the mended sheet had been sent first, whatever was edited in it."""

import json
import random
from collections import Counter
from contextlib import closing

import pytest
from killed import status_of
from races import calling

from podium.store import Store
from podium.store.rating.events import Sheet
from podium.store.sql.database import StoreError
from podium.store.writing.submission import ConflictError
from podium.systems import find

LEAGUE = Sheet("league.csv")
NAMES = ["Ana", "Ben", "Cleo", "Dan", "Eve", "Fritz"]


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, new_url):
    with closing(Store(new_url(request.param))) as opened:
        yield opened


def match(day, one, other, score="1-0"):
    return {"day": day, "one": one, "other": other, "score": score}


def rows_of(matches, dated=True):
    """The rows that the importers make of matches: named by date, names and a count."""
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
    """The ledger to the bit, without what events are called and numbered."""
    history = store.history(pool)
    return history.drop([each for each in ("pool", "event_id", "sequence") if each in history.columns]).rows()


def edited(rng, matches):
    """A sheet after one edit of a club's secretary."""
    sheet = [dict(each) for each in matches]
    place = rng.randrange(len(sheet))
    one, other = rng.sample(NAMES, 2)
    match rng.randrange(8):
        case 0:
            sheet[place]["one"] = next(each for each in NAMES if each not in (sheet[place]["one"], sheet[place]["other"]))
        case 1:
            sheet[place]["day"] = rng.randint(1, 9)
        case 2 if len(sheet) > 3:
            del sheet[place]
        case 3:
            sheet.insert(place, globals()["match"](rng.randint(1, 9), one, other, rng.choice(["1-0", "0-1", "½-½"])))
        case 4:
            rng.shuffle(sheet)
        case 5:
            sheet.insert(rng.randrange(len(sheet)), dict(sheet[place]))
        case 6:
            sheet[place]["score"] = rng.choice(["1-0", "0-1", "½-½"])
        case 7:
            sheet.append(globals()["match"](9, one, other))
    return sheet


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("system", ["elo", "podium"])
def test_a_mended_sheet_gives_the_pool_of_one_that_was_always_so(store, dated, system):
    rng = random.Random(f"{dated} {system}")
    for trial in range(6):
        pool = f"p{trial}"
        store.create_pool(pool, find(system)())
        sheet = [match(day, *rng.sample(NAMES, 2), rng.choice(["1-0", "0-1", "½-½"])) for day in (1, 1, 1, 2, 3, 3, 5, 8)]
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
            store.create_pool(fresh, find(system)())
            store.submit(fresh, rows)
            assert bits(store, pool) == bits(store, fresh)
            before = store.version(pool)
            again = store.amend_sheet(pool, rows, sheet=LEAGUE)
            assert (again.new, again.other, again.gone, again.same) == ((), (), (), len(sheet))
            assert all(each.duplicate for each in store.submit(pool, rows, sheet=LEAGUE))
            assert store.version(pool) == before
    assert store.verify() == []
