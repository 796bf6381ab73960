"""Events in a pool's life: replaced matches, seasons, names, other systems and daily ranks."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from extent import several
from races import START, ratings
from races import rows as race

import podium
from podium.ledger.leaderboard import Eligibility
from podium.log.database import StoreError
from podium.log.pools import day_of
from podium.log.schema import log
from podium.log.statements import microseconds
from podium.pool.fold import Draft, Entry
from podium.store import Store
from podium.store.keys import create_key, find_key, list_keys, rotate_key, valid_keys
from podium.store.writing import administration, submission
from podium.systems import find, names
from podium.views.models import BoardRow, answer_from


def fill(store):
    store.create_pool("main", find("glicko2")())
    for number in range(6):
        store.submit("main", race(number, "abcd" if number % 3 else "dcba"))


@pytest.fixture(params=["sqlite", "postgresql"])
def filled(request, filled_store):
    with closing(filled_store(request.param, fill)) as opened:
        yield opened


def statuses(store, *event_ids):
    return [(store.event("main", each).status, store.event("main", each).reason) for each in event_ids]


def test_a_player_missing_from_a_registered_match_has_quit(filled):
    registered = filled.register("main", "m", ["a", "b", {"player": "c", "team": None}, "new"])
    assert (registered.status, registered.entrants) == ("open", ("a", "b", "c", "new"))
    assert filled.waiting_matches("main") == ["m"]
    (receipt,) = filled.submit("main", race(9, "ba"), match_ids={"e9": "m"})
    assert [each.player for each in receipt.changes] == ["b", "a", "c", "new"]
    assert [each.status for each in filled.event("main", "e9").entries] == ["finished"] * 2 + ["quit"] * 2
    assert filled.match("main", "m").status == "reported"
    assert filled.waiting_matches("main") == []
    (again,) = filled.submit("main", race(9, "ba"), match_ids={"e9": "m"})
    assert again.duplicate
    truth = podium.Live("glicko2")
    for number in range(6):
        truth.rate(race(number, "abcd" if number % 3 else "dcba"))
    truth.rate(race(9, "ba") + [row | {"status": "quit", "position": None} for row in race(9, ["c", "new"])])
    assert ratings(filled) == {name: state.rating for (_, name), state in truth.ratings.items()}
    assert filled.verify() == []


@pytest.mark.parametrize("larger_first", [True, False])
def test_the_result_with_more_entrants_of_a_match_counts(filled, larger_first):
    before = ratings(filled)
    filled.register("main", "m", list("abcd"))
    sent = [race(8, "abc", minute=8), race(9, "d", minute=7)]
    for rows in sent if larger_first else reversed(sent):
        filled.submit("main", rows, match_ids={rows[0]["event_id"]: "m"})
    assert statuses(filled, "e8", "e9") == [("rated", ""), ("superseded", "superseded")]
    assert filled.match("main", "m").results == ("e8", "e9")
    assert filled.verify() == []
    filled.void("main", "e8")  # now the other result counts
    assert statuses(filled, "e8", "e9") == [("voided", "voided"), ("rated", "")]
    filled.unvoid("main", "e8")
    assert statuses(filled, "e9") == [("superseded", "superseded")]
    filled.amend("main", race(9, "dcba", minute=7))  # now it has all entrants
    assert statuses(filled, "e8", "e9") == [("superseded", "superseded"), ("rated", "")]
    filled.void("main", "e9")
    filled.void("main", "e8")
    assert ratings(filled) == before
    assert filled.verify() == []


def test_a_match_without_a_result_changes_no_rating(filled, monkeypatch):
    before = ratings(filled)
    filled.register("main", "m", ["a", "b"], held_s=60.0)
    later = microseconds(datetime.now(UTC)) + 120_000_000
    for module in (administration, submission):
        monkeypatch.setattr(module, "now", lambda: later)
    assert filled.match("main", "m").status == "expired"
    assert filled.waiting_matches("main") == []
    with pytest.raises(StoreError, match=r"has expired. If the result should count, submit it without match_id"):
        filled.submit("main", race(9, "ab"), match_ids={"e9": "m"})
    assert ratings(filled) == before
    assert filled.verify() == []


def test_registering_again_changes_nothing(filled):
    filled.register("main", "m", ["a", "b"])
    assert filled.register("main", "m", ["a", "b"]).status == "open"
    with pytest.raises(StoreError, match="already registered with different entrants"):
        filled.register("main", "m", ["a", "c"])
    for match_id, entrants, held_s in (("x", [], 9.0), ("x", ["a", "a"], 9.0), ("x", ["a"], 0.0), ("", ["a"], 9.0)):
        with pytest.raises(podium.ParameterError):
            filled.register("main", match_id, entrants, held_s=held_s)
    with pytest.raises(podium.UnknownError, match="no registered match 'x'"):
        filled.submit("main", race(9, "ab"), match_ids={"e9": "x"})
    with pytest.raises(podium.UnknownError):
        filled.submit("main", race(9, "ab"), match_ids={"e10": "m"})
    assert filled.verify() == []


@pytest.mark.parametrize("system", several(names()))
def test_a_season_keeps_a_share_of_each_lead(system, new_url):
    store = Store(new_url("sqlite"))
    store.create_pool("main", find(system)())
    for number in range(6):
        facts = {"time_s": 60.0, "score": 9.0, "played_s": 300.0, "duration_s": 300.0}
        rows = [row | {name: value + row["position"] * (-1) ** (name == "score") for name, value in facts.items()}
                for row in race(number, "abc")]  # fmt: skip
        store.submit("main", rows)
    made = find(system)()
    level = made.level
    at = made.state_type._fields.index(level)
    start = made.newcomer()[at]
    players = list("abc")
    before = [state[at] for state in store.system_and_states("main", players)[1]]
    shown = [state.rating for state in store.system_and_states("main", players)[1]]
    store.begin_season("main", "second", START + timedelta(days=1), keep=0.25, widens=False)
    after = [state[at] for state in store.system_and_states("main", players)[1]]
    assert after == pytest.approx([start + 0.25 * (each - start) for each in before], abs=1e-9)
    moved = [state.rating for state in store.system_and_states("main", players)[1]]
    assert [a - b for a, b in zip(moved, shown, strict=True)] == pytest.approx(
        [a - b for a, b in zip(after, before, strict=True)], abs=1e-9
    )
    ended = store.board("main", Eligibility(), START + timedelta(hours=23))
    assert sorted(ended["rating"].to_list()) == sorted(shown)
    store.begin_season("main", "third", START + timedelta(days=2), keep=0.0, widens=False)
    assert [state[at] for state in store.system_and_states("main", players)[1]] == pytest.approx([start] * 3, abs=1e-9)
    assert sorted(store.season_leaderboard("main", "second")["rating"].to_list()) == pytest.approx(sorted(moved))
    assert [each.name for each in store.seasons("main")] == ["second", "third"]
    assert store.verify() == []
    store.close()


def test_a_season_of_an_earlier_version_keeps_deviations(filled):
    """Its log entry says nothing about them."""
    entry = Entry(7, "season", "old", b'{"started_at": 0, "keep": 0.5}')
    with filled.reading("main") as pool:
        draft = Draft.of(pool.snapshot)
    draft.follow([entry])
    assert [(each.keep, each.widens) for each in draft.seasons.values()] == [(0.5, False)]
    filled.begin_season("main", "s", START + timedelta(hours=1), keep=0.5, widens=False)
    truth = podium.Live("glicko2")
    for number in range(6):
        truth.rate(race(number, "abcd" if number % 3 else "dcba"))
    truth.reset(0.5)
    filled.submit("main", race(90, "dcab"))
    truth.rate(race(90, "dcab"))
    assert ratings(filled) == {name: state.rating for (_, name), state in truth.ratings.items()}
    with pytest.raises(StoreError, match="already a season"):
        filled.begin_season("main", "s", START + timedelta(hours=1), keep=0.5)


def test_a_late_event_of_a_past_season_changes_the_next_one(filled):
    filled.begin_season("main", "s", START + timedelta(hours=1), keep=0.5)
    filled.submit("main", race(90, "dcab"))
    filled.submit("main", race(7, "cab", minute=7))
    truth = podium.Live("glicko2")
    for number in range(6):
        truth.rate(race(number, "abcd" if number % 3 else "dcba"))
    truth.rate(race(7, "cab"))
    truth.reset(0.5, widens=True)
    truth.rate(race(90, "dcab"))
    assert ratings(filled) == {name: state.rating for (_, name), state in truth.ratings.items()}
    assert filled.verify() == []
    assert [each.event_id for each in filled.player("main", "a").history][:3] == ["e90", None, "e7"]
    with pytest.raises(StoreError, match="already a season 's'"):
        filled.begin_season("main", "s", START, keep=1.0)
    assert filled.begin_season("main", "s", START + timedelta(hours=1), keep=0.5) == 0
    for odd in ({"keep": 1.5}, {"keep": 0.5, "starts": datetime.now(UTC) + timedelta(days=2)}):
        with pytest.raises(podium.ParameterError):
            filled.begin_season("main", "t", **({"starts": START} | odd))
    with pytest.raises(podium.UnknownError):
        filled.season_leaderboard("main", "t")


def test_a_renamed_player_keeps_the_rating(filled):
    before = sorted(ratings(filled).values())
    filled.rename("main", "a", "Äna")
    assert sorted(ratings(filled).values()) == before
    filled.submit("main", race(9, "ab"))  # a server that does not know the new name
    assert {"Äna", "b", "c", "d"} == set(ratings(filled))
    assert filled.submit("main", race(9, "ab"))[0].duplicate
    assert "Äna" in filled.results("main").frame["player"].to_list()
    assert filled.event("main", "e0").entries[3].player == "Äna"
    with pytest.raises(StoreError, match="Merge the two"):
        filled.rename("main", "Äna", "b")
    with pytest.raises(podium.UnknownError):
        filled.rename("main", "nobody", "x")
    filled.rename("main", "Äna", "a")
    assert filled.rank("main", "Äna").player == "a"
    assert filled.verify() == []


def test_a_name_can_be_removed(filled, tmp_path):
    filled.submit("main", race(7, ["Gunhild", "b"]))
    filled.submit("main", race(8, ["Gunhild II", "c"]))
    filled.rename("main", "Gunhild", "Gunhild the Great")
    filled.merge("main", "Gunhild II", "Gunhild the Great")
    before = sorted(ratings(filled).values())
    pseudonym = filled.anonymize("main", "Gunhild the Great", actor="admin")
    assert sorted(ratings(filled).values()) == before
    assert pseudonym in ratings(filled)
    assert filled.verify() == []
    with filled.engine.begin() as connection:
        stored = [connection.execute(sa.select(table)).all() for table in log.metadata.sorted_tables]
    assert "Gunhild" not in str(stored)
    for name in ("Gunhild", "Gunhild II", "Gunhild the Great"):
        with pytest.raises(podium.UnknownError):
            filled.rank("main", name)
    assert [each.kind for each in filled.log("main")][-1] == "anonymize"
    filled.submit("main", race(9, ["Gunhild", "b"]))
    assert filled.rank("main", pseudonym).events == 3
    with pytest.raises(podium.UnknownError):
        filled.rank("main", "Gunhild")
    assert filled.verify() == []


def test_a_change_of_system_recalculates_the_pool(filled):
    assert filled.configure("main", find("elo").from_text({"k": 10})) == 24
    rows = [row for number in range(6) for row in race(number, "abcd" if number % 3 else "dcba")]
    expected = podium.rate(rows, "elo", k=10).ratings
    assert ratings(filled) == dict(zip(expected["player"], expected["rating"], strict=True))
    assert filled.pools()[0].system == find("elo").from_text({"k": 10})
    with pytest.raises(podium.ResultsError, match="stk needs it"):
        filled.configure("main", find("stk")())
    assert filled.pools()[0].system.name == "elo"
    assert filled.verify() == []


def test_a_dry_run_shows_every_change_and_stores_nothing(filled):
    before, version = ratings(filled), filled.version("main")
    preview = filled.amend("main", race(2, "dbca"), dry_run=True)
    assert (ratings(filled), filled.version("main")) == (before, version)
    done = filled.amend("main", race(2, "dbca"))
    assert preview.changes == done.changes
    last = {each.player: each.rating for each in preview.effects}
    assert last == ratings(filled)
    assert sum(each.event_id != "e2" for each in preview.effects) == preview.rerated
    (alone,) = filled.submit("main", race(9, ["new", "a"]), dry_run=True)
    assert {(each.player, each.rating_was) for each in alone.effects} == {("new", None), ("a", None)}
    assert "new" not in ratings(filled)
    moved = filled.amend("main", race(5, "abcd", minute=2), dry_run=True)
    assert moved.totals.events == len({each.event_id for each in moved.effects})
    gone = filled.void("main", "e5", dry_run=True)
    assert [each.rating for each in gone.effects] == [None] * 4
    assert filled.verify() == []


def test_daily_ranks_follow_the_current_log(filled):
    filled.submit("main", race(10, "badc", minute=60 * 24 * 3))
    first = day_of(START.date()) + 1
    assert filled.snapshot_days("main") == [*range(first, day_of(datetime.now(UTC).date()) + 1)]
    for number in (11, 12):  # e11 is later, e12 is on the first day
        filled.submit("main", race(number, "cb" if number == 11 else "dab", minute=60 * 24 * 2 if number == 11 else 30))
        for day in range(first, first + 4):
            begins = START.replace(hour=0) + timedelta(days=day - first + 1)
            board = filled.board("main", Eligibility(), begins - timedelta(seconds=1))
            assert {(each.player, each.rank, each.rating) for each in filled.ranks_on("main", day)} == {
                *board.select("player", "rank", "rating").iter_rows()
            }
            for player, rank, rating in board.select("player", "rank", "rating").iter_rows():
                (own,) = (each for each in filled.ranks_of("main", player) if each.day == begins.date())
                assert (own.rank, own.rating) == (rank, rating)
    for day in (first - 1, first + 100_000):
        with pytest.raises(podium.UnknownError, match="no ranks for"):
            filled.ranks_on("main", day)


def test_the_library_and_the_store_agree(filled, monkeypatch):
    rated = filled.rated("main")
    monkeypatch.setattr("podium.live.live.replay", None)  # the store reads its records instead
    assert filled.history("main").equals(rated.history)
    for event_id, name in (("e0", "a"), ("e3", "c"), ("e5", "d")):
        one, other = filled.explain("main", event_id, name), rated.explain(event_id, name)
        assert (one.rating_before, one.delta, one.summary) == (other.rating_before, other.delta, other.summary)
        assert one.rows.equals(other.rows)
        assert one.to_dict() == other.to_dict()
        assert filled.what_if("main", event_id, name) == rated.what_if(event_id, name)
    for rules in (Eligibility(min_events=3), Eligibility(max_deviation=250.0), Eligibility(active_within=timedelta(1))):
        get_standing = filled.board("main", rules)
        theirs = rated.leaderboard(
            min_events=rules.min_events or 0, max_deviation=rules.max_deviation, active_within=rules.active_within
        )
        assert get_standing.equals(theirs.select(get_standing.columns))
    at = START + timedelta(minutes=3, seconds=30)
    theirs = rated.leaderboard(min_events=0, at=at)
    get_standing = filled.board("main", Eligibility(), at)
    assert get_standing.equals(theirs.select(get_standing.columns))
    assert filled.predict("main", ["a", "b", "zed"]).entrants.equals(rated.predict(["a", "b", "zed"]).entrants)


def test_players_have_neighbours_and_comparisons(filled):
    for number in range(10, 30):
        filled.submit("main", race(number, [f"p{number}", "a"]))
    whole = tuple(answer_from(BoardRow, each) for each in filled.leaderboard("main", top=1000).players)
    for k in (0, 5, len(whole) - 1):
        near = filled.neighbours("main", whole[k].player, 3)
        assert near == whole[max(0, k - 3) : k + 4]
    assert sum(each.players for each in filled.distribution("main")) == len(whole)
    filled.submit("main", [*race(40, "ab", heat="1"), *race(40, "ba", heat="2"), *race(40, "ab", heat="3")])
    meetings = filled.compare("main", "a", "b").meetings
    assert (meetings[0].event_id, meetings[0].wins, meetings[0].draws, meetings[0].losses) == ("e40", 2, 0, 1)
    before = {each.player: each.rating_before for each in filled.event("main", "e40").changes}
    assert (meetings[0].rank, meetings[0].lead) == (None, before["a"] - before["b"])  # positions do not add up
    assert [(each.rank, each.other_rank) for each in meetings if each.event_id == "e1"] == [(1, 2)]
    assert sum(each.wins for each in meetings) == 2 + 4
    assert sum(each.losses for each in meetings) == 1 + 2
    with pytest.raises(podium.ParameterError):
        filled.compare("main", "a", "a")


def test_a_repeated_event_of_a_batch_is_a_duplicate(filled):
    plain, odd = race(9, "ab"), race(10, "ab", ranked=False, weight=2.0)
    filled.submit("main", plain + odd)
    assert filled.submit("main", plain)[0].duplicate
    assert filled.submit("main", [row | {"ranked": True, "weight": 1.0} for row in plain])[0].duplicate
    assert filled.verify() == []


def test_submissions_are_stored_together_and_rejected_separately(filled):
    outcomes = filled.submit_each(
        "main",
        [
            (race(9, "ab"), "one", {}),
            ([row | {"position": -1} for row in race(10, "ab")], "two", {}),
            (race(11, "ba"), "three", {}),
            (race(1, "ab"), "four", {}),
        ],
    )
    assert outcomes[0][0].status == outcomes[2][0].status == "rated"
    assert isinstance(outcomes[1], podium.ResultsError)
    assert isinstance(outcomes[3], StoreError)
    together = filled.submit_each("main", [(race(20, "ab"), "one", {}), (race(21, "cd"), "two", {})])
    assert [each[0].event_id for each in together] == ["e20", "e21"]
    assert [each.actor for each in filled.log("main", after=together[0][0].seq - 1)] == ["one", "two"]
    assert filled.verify() == []


def test_the_reason_for_separate_submissions_is_logged(filled, caplog):
    caplog.set_level("DEBUG", logger="podium.store.store")
    filled.submit_each("main", [(race(20, "ab"), "one", {}), (race(1, "ba"), "two", {})])
    (record,) = caplog.records
    assert record.levelname == "DEBUG"
    assert "2 submissions are taken one by one" in record.getMessage()
    assert "event 'e1' is known with different content" in record.getMessage()
    caplog.clear()
    filled.submit_each("main", [(race(22, "ab"), "one", {}), (race(23, "cd"), "two", {})])
    assert caplog.records == []


def test_keys_can_be_replaced(store):
    old = create_key(store.engine, "server", "write", None, 5.0)
    (known,) = list_keys(store.engine)
    new = rotate_key(store.engine, known.id, timedelta(minutes=5))
    with store.engine.connect() as connection:
        assert find_key(connection, new).role == find_key(connection, old).role == "write"
    assert valid_keys(store.engine, [1, 2, 3]) == {1, 2}
    rotate_key(store.engine, 2)
    assert valid_keys(store.engine, [1, 2, 3]) == {1, 3}
    with store.engine.connect() as connection:
        assert find_key(connection, new) is None
    with pytest.raises(podium.UnknownError):
        rotate_key(store.engine, 2)
    with pytest.raises(podium.ParameterError):
        create_key(store.engine, "x", "write", None, -1.0)


def test_playing_times_without_a_length_give_a_warning(filled):
    rows = [row | {"played_s": 60.0} for row in race(50, "ab")]
    (warned,) = filled.submit("main", rows)
    (plain,) = filled.submit("main", [row | {"event_id": "other", "duration_s": 90.0} for row in rows])
    assert [each.startswith("played_s has no effect") for each in warned.warnings] == [True]
    assert plain.warnings == ()
