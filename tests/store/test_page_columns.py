"""Derived values for pages: ranks within events, established players, folded names and titles."""

import re
from contextlib import closing
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from races import calling, event, rows
from snapshots import snapshot_of
from test_overtaken import prepared

from podium.log.players import names_of
from podium.log.schema import log, title
from podium.pool.columns import numbers_of
from podium.store import Store
from podium.store.writing.submission import ConflictError
from podium.systems import find

both_kinds = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
PAGE = {"title": "Grand Prix", "url": "https://example.org/1"}


def heats(number, **results):
    """Return event e`number` with each player's scores by heat. None means the player quit the heat."""
    table = []
    for name, scores in results.items():
        for heat, score in enumerate(scores, start=1):
            (row,) = rows(number, [name])
            status = {"status": "quit"} if score is None else {"score": score}
            table.append({k: v for k, v in row.items() if k != "position"} | {"heat": str(heat)} | status)
    return table


def ranked(store):
    """Return each player's rank and field size in each event. None stands for a season."""
    snapshot = snapshot_of(store)
    with store.reading("main") as pool:
        names = names_of(pool)
    found = {}
    for position in range(snapshot.events.order.size):
        uid, field = (int(snapshot.events.order.value(name, position)) for name in ("uid", "field"))
        ranks = found.setdefault(snapshot.events.id_of(uid), {})
        first, stop = snapshot.span(position)
        numbers = numbers_of(snapshot.rows.part("slot", first, stop)).tolist()
        for number, rank in zip(numbers, snapshot.rows.part("rank", first, stop).tolist(), strict=True):
            ranks[names[number]] = rank or None, field
    return found


def filled(url, system="elo"):
    """Return a pool whose events were decided in many ways."""
    store = Store(url)
    store.create_pool("main", find(system)())
    tied = rows(1, "abcd")
    tied[2]["position"], tied[3]["status"] = 2, "disqualified"
    store.submit("main", tied)
    store.submit("main", heats(2, a=(1.0, 2.0, 0.1), b=(2.0, 2.0, 0.2), c=(4.0, None, 0.0), d=(2.1, 1.0, 0.0)))
    store.submit("main", [row | {"heat": heat} for heat in "12" for row in rows(3, "ab")])
    overall = [row | {"heat": "overall"} for row in rows(4, "bc")]
    store.submit("main", [row | {"heat": heat} for heat in "12" for row in rows(4, "abc")] + overall)
    timed = [{"time_s": 60.0 + ord(row["player"]), "heat": heat} | row for heat in "12" for row in rows(5, "cba")]
    for row in timed:
        del row["position"]
    store.submit("main", timed[:-1])
    store.begin_season("main", "s", datetime(2026, 1, 1, tzinfo=UTC), keep=0.5)
    return store


@both_kinds
def test_a_change_has_the_overall_rank_and_the_field_size(kind, new_url):
    with closing(filled(new_url(kind))) as store:
        expected = {
            "e1": {"a": (1, 3), "b": (2, 3), "c": (2, 3)},
            "e2": {"a": (3, 4), "b": (1, 4), "c": (2, 4), "d": (3, 4)},  # 3.1, 4.2, 4, 3.1
            "e3": {"a": (None, 2), "b": (None, 2)},
            "e4": {"a": (None, 3), "b": (1, 3), "c": (2, 3)},
            "e5": {"b": (1, 3), "c": (2, 3), "a": (3, 3)},
            None: dict.fromkeys("abcd", (None, 0)),
        }
        assert ranked(store) == expected
        assert store.verify() == []
        store.amend("main", rows(1, "cab"))
        store.submit("main", rows(0, "bd"))
        expected |= {"e0": {"b": (1, 2), "d": (2, 2)}, "e1": {"c": (1, 3), "a": (2, 3), "b": (3, 3)}}
        assert ranked(store) == expected
        assert store.verify() == []
        lines = list(store.export_pool("main"))
        before = snapshot_of(store).standings.ratings
        with prepared():  # the other system has its own overall result
            store.configure("main", find("trials")())
        assert ranked(store) == expected
        assert snapshot_of(store).standings.ratings.tolist() != before.tolist()
        assert store.verify() == []
        store.close_pool("main")
        store.delete_pool("main")
        store.import_pool(lines)
        assert ranked(store) == expected


def test_ranks_match_the_explanation(new_url):
    for system in ("elo", "trials"):
        with closing(filled(new_url("sqlite"), system)) as store:
            for event_id, players in ranked(store).items():
                for name, (rank, _) in players.items() if event_id else ():
                    lines = store.explain("main", event_id, name).standings
                    deciding = lines.filter(heat="overall") if lines["heat"].n_unique() > 1 else lines
                    assert deciding.filter(player=name)["place"].to_list() == [rank][: rank is not None]


def test_a_title_is_content_but_changes_no_rating(new_url):
    with closing(Store(new_url("sqlite"))) as store:
        store.create_pool("main", find("elo")())
        plain, named = rows(1, "abc"), [row | PAGE for row in rows(2, "cab")]
        store.submit("main", plain)
        store.submit("main", named)
        store.submit("main", rows(3, "ba"))
        assert store.submit("main", [named[0], *rows(2, "cab")[1:]])[0].duplicate  # one title is enough
        for other in ([row | PAGE for row in plain], rows(2, "cab"), [row | PAGE | {"title": "B"} for row in named]):
            with pytest.raises(ConflictError, match=r"is known with different content: row 1 is .*title"):
                store.submit("main", other)
        before = snapshot_of(store).rows
        with prepared() as preparation:
            tried = store.amend("main", [row | {"title": "Final"} for row in plain], dry_run=True)
            receipt = store.amend("main", [row | {"title": "Final"} for row in plain])
        assert (tried.totals.changes, receipt.rerated, receipt.status) == (0, 0, "rated")
        assert receipt.changes == store.event("main", "e1").changes
        assert preparation.call_count == 0
        state = snapshot_of(store).rows.part("state")
        assert state.tobytes() == before.part("state").tobytes()
        assert store.submit("main", plain)[0].duplicate  # the original submission
        details = store.event("main", "e1")
        assert (details.title, details.url, details.corrected) == ("Final", None, True)
        store.amend("main", [row | {"title": "Final"} for row in rows(1, "bac")])
        store.void("main", "e2")
        assert store.event("main", "e2").title == "Grand Prix"
        store.unvoid("main", "e2")
        assert store.results("main").frame["title"].to_list() == ["Final"] * 3 + ["Grand Prix"] * 3 + [None] * 2
        assert store.rated("main").history.equals(store.history("main"))
        assert store.verify() == []
        store.import_pool(store.export_pool("main"), name="copy")
        assert store.event("copy", "e2").url == "https://example.org/1"


def test_content_without_a_title_has_the_same_log_entry(new_url):
    """Its digest, which identifies repeats, does not depend on the version."""
    with closing(Store(new_url("sqlite"))) as store:
        store.create_pool("main", find("elo")())
        store.submit("main", rows(1, "ab"))
        store.submit("main", [row | PAGE for row in rows(2, "ab")])
        with store.engine.connect() as connection:
            _, plain, named = (row.body.decode().splitlines() for row in connection.execute(sa.select(log.c.body)))
            (text,) = connection.execute(sa.select(title.c.text)).scalars()
    line = '{"event_id":"e1","started_at":"2025-01-01T00:01:00+00:00","position":1.0,"status":"finished","player":1}'
    assert plain[0] == line
    assert text == b',"title":"Grand Prix","url":"https://example.org/1"'
    assert re.search(r'"finished","sealed":"[0-9a-f]{64}","player":1}$', named[0])
    assert "sealed" not in named[1]


def test_the_service_accepts_and_shows_titles(new_url):
    with closing(Store(new_url("sqlite"))) as store:
        store.create_pool("main", find("elo")())
        with calling(store) as client:
            assert client.post("/api/v1/pools/main/events", json=event(1, "ab", **PAGE)).status_code == 201
            shown = client.get("/api/v1/pools/main/events/e1").json()
            assert {name: shown[name] for name in PAGE} == PAGE
            refused = client.post("/api/v1/pools/main/events", json=event(2, "ab", url="javascript:alert(1)"))
            assert refused.status_code == 422
            assert "is not the address of a page; write it in full" in refused.text
            amended = event(1, "ab", title="Other")
            assert client.put("/api/v1/pools/main/events/e1", json=amended).json()["changes"]
            shown = client.get("/api/v1/pools/main/events/e1").json()
            assert (shown["title"], shown["url"]) == ("Other", None)
