"""One player under two names in an event: the store rejects it, and ignores it in older logs."""

from contextlib import closing
from unittest import mock

import pytest
import sqlalchemy as sa
from races import calling, event, ratings
from races import rows as race

import podium
from podium.log.database import StoreError
from podium.log.schema import metadata, pools
from podium.store.upgrading import upgrade_pools
from podium.store.writing import execution, submission
from podium.systems import find

pytestmark = pytest.mark.portable
RENAMED = r"'ana' and 'anna' \(rows 1 and 3 of event e\d\) are the same player since 'ana' was renamed to 'anna'; "
MERGED = r"'x' and 'ben' \(rows 1 and 2 of event e\d\) are the same player since 'x' was merged into 'ben'; "


def everything(store):
    """Return every row of every table."""
    with store.engine.connect() as connection:
        return [sorted(map(str, connection.execute(sa.select(table)).all())) for table in metadata.sorted_tables]


def replay(*races):
    rated = podium.rate([row for rows in races for row in rows], "elo").ratings
    return dict(zip(rated["player"], rated["rating"], strict=True))


def fill(store):
    """Store a pool in which Ana has a second name, and x is merged into ben."""
    store.create_pool("main", find("elo")())
    store.submit("main", race(1, ["ana", "ben", "cleo"]))
    store.submit("main", race(2, ["x", "cleo"]))
    store.rename("main", "ana", "anna")
    store.merge("main", "x", "ben")


@pytest.fixture(params=["sqlite", "postgresql"])
def filled(request, filled_store):
    with closing(filled_store(request.param, fill)) as opened:
        yield opened


@pytest.mark.parametrize(("order", "message"), [(["ana", "ben", "anna"], RENAMED), (["x", "ben", "cleo"], MERGED)])
def test_results_with_one_player_twice_are_rejected(order, message, filled):
    before = everything(filled)
    with pytest.raises(podium.ResultsError, match=message):
        filled.submit("main", [*race(3, ["cleo", "new"]), *race(4, order)])
    with pytest.raises(podium.ResultsError, match=message):
        filled.submit("main", race(4, order), dry_run=True)
    with pytest.raises(podium.ResultsError, match=message):
        filled.amend("main", race(1, order))
    assert everything(filled) == before
    sent = [
        (race(4, order), "one", {}),
        (race(5, ["ben", "cleo"]), "two", {}),
        (race(6, ["cleo", "anna"]), "three", {}),
    ]
    refused, *taken = filled.submit_each("main", sent)
    assert isinstance(refused, podium.ResultsError)
    assert [receipt.event_id for receipts in taken for receipt in receipts] == ["e5", "e6"]
    assert filled.verify() == []


def test_a_renamed_player_counts_once_without_any_merge(store):
    store.create_pool("main", find("elo")())
    store.submit("main", race(1, ["ana", "ben"]))
    store.rename("main", "ana", "anna")
    before = everything(store)
    for act, rows in ((store.submit, race(2, ["ana", "ben", "anna"])), (store.amend, race(1, ["ana", "ben", "anna"]))):
        with pytest.raises(podium.ResultsError, match=RENAMED):
            act("main", rows)
    assert everything(store) == before


def test_every_event_with_a_repeated_player_is_named(filled):
    with pytest.raises(podium.ResultsError) as error:
        filled.submit("main", [*race(4, ["ana", "cleo", "anna"]), *race(5, ["x", "ben"])])
    assert [fault.column for fault in error.value.faults] == ["player", "player"]
    assert "event e4" in str(error.value)
    assert "event e5" in str(error.value)


def test_a_player_can_have_two_names_in_two_heats(filled):
    rows = [
        row | {"heat": heat} for heat, order in (("1", ["ana", "ben"]), ("2", ["anna", "x"])) for row in race(4, order)
    ]
    assert [each.player for each in filled.submit("main", rows)[0].changes] == ["anna", "ben"]
    assert filled.verify() == []


def test_a_match_with_one_player_twice_is_rejected(filled):
    before = everything(filled)
    for entrants, why in (
        (["ana", "anna"], "'ana' was renamed to 'anna'"),
        (["ben", "x"], "'x' was merged into 'ben'"),
    ):
        message = (
            rf"match m: .*{entrants[0]!r} and {entrants[1]!r} \(entrants 1 and 2\) are the same player since {why}; "
        )
        with pytest.raises(podium.ResultsError, match=message):
            filled.register("main", "m", entrants)
    assert everything(filled) == before


def test_a_match_registered_before_a_merge_still_works(store):
    store.create_pool("main", find("elo")())
    store.submit("main", [*race(1, "ab"), *race(2, "xb")])
    store.register("main", "m", ["a", "x", "b"])
    store.merge("main", "x", "a")
    assert store.register("main", "m", ["a", "x", "b"]).entrants == ("a", "x", "b")
    (receipt,) = store.submit("main", race(3, "xb"), match_ids={"e3": "m"})
    assert [each.player for each in receipt.changes] == ["a", "b"]
    with pytest.raises(podium.ResultsError, match="the same player since 'x' was merged into 'a'"):
        store.submit("main", race(4, "xa"), match_ids={"e4": "m"})  # otherwise it would be replaced and not rated
    assert store.verify() == []


def test_two_former_names_are_recognised(filled):
    filled.rename("main", "anna", "anne")
    with pytest.raises(podium.ResultsError, match="are the same player since both were renamed to 'anne'"):
        filled.submit("main", race(4, ["ana", "anna"]))


def test_the_service_names_both_names(filled):
    with calling(filled) as client:
        answer = client.post("/api/v1/pools/main/events", json=event(4, ["ana", "ben", "anna"]))
        assert (answer.status_code, answer.json()["field"]) == (422, "player")
        assert "'ana' and 'anna'" in answer.json()["detail"]
        body = {"match_id": "m", "entrants": [{"player": "ana"}, {"player": "anna"}]}
        answer = client.post("/api/v1/pools/main/matches", json=body)
        assert (answer.status_code, answer.json()["field"]) == (422, "entrants")


@pytest.fixture
def older(store):
    """Return a pool as an earlier version left it: `anna`, formerly `ana`, is in e2 twice."""
    store.create_pool("main", find("elo")())
    store.submit("main", race(1, ["ana", "ben"]))
    store.rename("main", "ana", "anna")
    store.submit("main", race(3, ["dan", "cleo"]))
    store.submit("main", race(4, ["dan2", "cleo"]))
    with mock.patch.object(submission, "refuse_player_twice"), mock.patch.object(execution, "refuse_unrateable"):
        assert store.submit("main", race(2, ["ana", "ben", "anna"]))[0].reason == "player_twice"
    with store.engine.begin() as connection:
        connection.execute(sa.update(pools).values(arithmetic=1))
    return store


def test_an_older_logs_event_with_a_repeated_player_is_left_out(older):
    (upgraded,) = upgrade_pools(older, "test")
    assert upgraded.error == ""
    others = [race(1, ["anna", "ben"]), race(3, ["dan", "cleo"]), race(4, ["dan2", "cleo"])]
    assert ratings(older) == replay(*others)
    twice = older.event("main", "e2")
    assert (twice.status, twice.reason, twice.changes) == ("unrated", "player_twice", ())
    assert older.verify() == []
    assert older.merge("main", "dan2", "dan") > 0
    assert older.verify() == []
    assert older.submit("main", race(9, ["ben", "dan"], minute=0))[0].status == "rated"
    others = [race(9, ["ben", "dan"], minute=0), *others[:2], race(4, ["dan", "cleo"])]
    assert ratings(older) == replay(*others)
    assert ratings(older) == {row["player"]: row["rating"] for row in older.rated("main").ratings.to_dicts()}
    assert older.submit("main", race(2, ["ana", "ben", "anna"]))[0].duplicate
    assert older.verify() == []
    assert older.amend("main", race(2, ["anna", "ben"])).status == "rated"
    assert ratings(older) == replay(
        *sorted([*others, race(2, ["anna", "ben"])], key=lambda rows: rows[0]["started_at"])
    )
    assert older.verify() == []


def test_a_merge_of_two_opponents_is_rejected(store):
    """They met before the merge would change any rating. Earlier versions accepted that, and `verify` failed."""
    store.create_pool("main", find("elo")())
    store.submit("main", race(0, ["x", "ben"], ranked=False))
    store.submit("main", [*race(1, ["ben", "cleo"]), *race(2, ["x", "cleo"])])
    before = everything(store)
    with pytest.raises(podium.ResultsError, match="'ben' took part in e0 as both"):
        store.merge("main", "x", "ben")
    assert everything(store) == before
    store.void("main", "e0")
    store.merge("main", "x", "ben")
    with pytest.raises(podium.ResultsError, match="'ben' took part in e0 as both"):
        store.unvoid("main", "e0")
    assert store.verify() == []
    store.amend("main", race(0, ["x", "dan"]))
    assert store.unvoid("main", "e0").status == "rated"
    with pytest.raises(StoreError):
        store.merge("main", "x", "dan")
    assert store.verify() == []
