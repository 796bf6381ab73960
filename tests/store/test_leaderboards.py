"""Leaderboards and rank changes, page by page, match a plain recalculation."""

from datetime import date, datetime, timedelta
from random import Random

import polars as pl
import pytest
from extent import in_turn, times
from histories import DAYS, POOL, SYSTEMS, next_act
from model import Truth
from races import START, rows

from podium.errors import ParameterError, PodiumError, UnknownError
from podium.ledger.history import can_be_provisional
from podium.ledger.leaderboard import Eligibility
from podium.log.pools import date_of
from podium.systems import find
from podium.views.board import EVERYBODY
from podium.views.boards import pages
from podium.views.player_models import Listing
from podium.views.reader import Answers

LISTINGS = [Listing(), Listing(provisional=True), Listing(min_events=3), Listing(active_within=timedelta(minutes=4))]
LISTINGS += [Listing(2, timedelta(minutes=9), provisional=True), Listing(10**6)]


def walked(store, listing, top):
    """Return every page of a leaderboard."""
    pages = [store.leaderboard(POOL, listing, top=top)]
    while pages[-1].next is not None:
        pages.append(store.leaderboard(POOL, listing, top=top, after=pages[-1].next))
    return pages


def expected_board(store, listing):
    """Return the number of players, the listed ones and the provisional ones, from the whole leaderboard."""
    board = store.board(POOL, Eligibility()).to_dicts()
    newest = max((row["last_played_at"] for row in board), default=None)
    fitting = [
        row
        for row in board
        if row["events"] >= (listing.min_events or 0)
        and (listing.active_within is None or row["last_played_at"] >= newest - listing.active_within)
    ]
    all_listed = listing.provisional or not can_be_provisional(store.pool(POOL).system)
    listed = [row for row in fitting if all_listed or not row["provisional"]]
    beside = [row for row in fitting if row["provisional"] and not all_listed]
    return len(board), listed, beside


def check_boards(store, tops=(2,)):
    """Compare every page of every listing with the recomputation."""
    history = store.history(POOL)
    history = history.filter(~history["event_id"].is_null()) if history.height else history
    newest = history["event_id"][-1] if history.height else None
    curves = {
        name: part["rating"].to_list()
        for (name,), part in store.history(POOL).group_by(["player"], maintain_order=True)
    }
    deltas = dict(history.filter(event_id=newest).select("player", "delta").iter_rows()) if newest else {}
    for listing in LISTINGS:
        players, listed, beside = expected_board(store, listing)
        scores = [store.pool(POOL).system.score(row["rating"], row.get("deviation")) for row in listed]
        shared = pl.Series(scores, dtype=pl.Float64).rank("min", descending=True).to_list()
        ranks = dict(zip([row["player"] for row in listed], shared, strict=True))
        by_name = {row["player"]: row for row in listed + beside}
        for top in tops:
            pages = walked(store, listing, top)
            found = [row for page in pages for row in page.players]
            assert [row.rating for row in found] == [row["rating"] for row in listed]
            assert {row.player: row.rank for row in found} == ranks
            assert all((page.listed, page.rated) == (len(listed), players) for page in pages)
            assert all(not page.provisional for page in pages[1:])
            provisional = pages[0].provisional
            assert [row.rating for row in provisional] == [row["rating"] for row in beside[:20]]
            assert all(row.rank is None and row.provisional for row in provisional)
            for row in (*found, *provisional):
                known = by_name[row.player]
                assert (row.rating, row.events, row.provisional) == (
                    known["rating"],
                    known["events"],
                    known["provisional"],
                )
                assert (row.last_played_at, row.deviation) == (known["last_played_at"], known.get("deviation"))
                assert row.spark == tuple(curves[row.player][-16:])
                assert row.newest_change == deltas.get(row.player)
            assert (pages[0].newest.event_id if pages[0].newest else None) == newest
            for number, page in enumerate(pages):
                for row in page.players:
                    cursor = store.page_of(POOL, listing, row.player, top=top)
                    assert cursor == (pages[number - 1].next if number else "")
            assert all(store.page_of(POOL, listing, row["player"], top=top) is None for row in beside)
        entrants = store.newest_entrants(POOL, listing).players
        assert {row.player: row.rank for row in entrants} == {name: ranks[name] for name in deltas if name in ranks}
        assert [row.newest_change for row in entrants] == sorted((row.newest_change for row in entrants), reverse=True)


def run_acts(store, seed):
    """Run a random history of 30 acts. Yield the number of each act after it has succeeded."""
    rng, truth = Random(seed), Truth(SYSTEMS[0])  # noqa: S311
    for number in range(30):
        act = next_act(rng, truth)
        try:
            act.run(store)
        except PodiumError:  # for example a merge of two opponents
            continue
        act.model(truth)
        yield number


@pytest.mark.parametrize("seed", range(times(1, 20)))
def test_leaderboards_of_random_histories_match_a_recalculation(store, seed):
    """The histories have late and corrected results, voids, merges and seasons."""
    store.create_pool(POOL, find(SYSTEMS[0])())
    check_boards(store)
    for number in run_acts(store, seed):
        if number == 14:
            check_boards(store)
    check_boards(store, tops=(2, 50))
    assert store.verify(POOL) == []


@pytest.mark.parametrize("seed", range(times(2, 20)))
def test_rows_that_are_used_again_equal_new_rows(store, seed):
    store.create_pool(POOL, find(SYSTEMS[0])())
    used = store.snapshots.answers
    for _ in run_acts(store, seed):
        for listing in LISTINGS[:3]:
            found = walked(store, listing, 3)
            store.snapshots.answers = Answers(10**8)
            assert found == walked(store, listing, 3)
            store.snapshots.answers = used


def test_only_changed_rows_are_made_again(sqlite_store, monkeypatch):
    store, made, make = sqlite_store, [], pages.answer_from

    def answer_from(kind, row, **given):
        made.append(row.player)
        return make(kind, row, **given)

    monkeypatch.setattr(pages, "answer_from", answer_from)
    store.create_pool(POOL, find("elo")())
    for number, players in enumerate(["abcdef"] * 3 + ["ef", "ef"], start=1):
        store.submit(POOL, rows(number, players))
        made.clear()
        store.leaderboard(POOL, EVERYBODY, top=3)
    assert made == []
    store.rename(POOL, "b", "Bea")
    assert [row.player for row in store.leaderboard(POOL, EVERYBODY, top=3).players] == ["a", "Bea", "c"]
    assert made == ["Bea"]
    store.void(POOL, "e5")  # the last rows of the ledger are other ones now
    store.leaderboard(POOL, EVERYBODY, top=3)
    assert made == ["Bea", "a", "Bea", "c"]


@pytest.mark.parametrize(("store", "top"), in_turn(["sqlite", "postgresql"], [1, 4]), indirect=["store"])
def test_equal_ratings_share_ranks_across_pages(store, top):
    """Three groups have the same results, so their players have equal ratings."""
    store.create_pool(POOL, find("trials")())
    for number in range(9):
        field = Random(number).sample(range(5), 5 if number else 4)  # noqa: S311
        for group in "abc":
            order = [f"{group}{who}" for who in field]
            when = START + timedelta(hours=number)
            store.submit(
                POOL,
                [
                    {"event_id": f"{group}{number}", "started_at": when, "player": name, "position": place // 2}
                    for place, name in enumerate(order, start=2)
                ],
            )
    check_boards(store, tops=(top,))
    assert len({row.rank for row in store.leaderboard(POOL, Listing(provisional=True)).players}) <= 5
    assert store.verify() == []


def test_leaderboards_without_players_and_with_one(store):
    store.create_pool(POOL, find("elo")())
    page = store.leaderboard(POOL, Listing())
    assert (page.players, page.next, page.listed, page.rated, page.since, page.newest) == ((), None, 0, 0, None, None)
    assert store.newest_entrants(POOL, Listing()).players == ()
    store.submit(POOL, rows(1, "ab"))
    store.void(POOL, "e1")
    assert store.leaderboard(POOL, Listing()).players == ()
    with pytest.raises(UnknownError):
        store.page_of(POOL, Listing(), "a")
    store.unvoid(POOL, "e1")
    store.submit(POOL, rows(2, "ac"))
    check_boards(store)
    (row,) = store.leaderboard(POOL, Listing(min_events=2)).players
    assert (row.player, row.rank) == ("a", 1)
    for wrong in ("x", "nan,1", "1e999,1", "1,99999999999999999999", ","):
        with pytest.raises(ParameterError, match="cursor"):
            store.leaderboard(POOL, Listing(), after=wrong)


def test_rank_changes_count_from_the_start_of_the_newest_day(store):
    """They exist only without filters, and compare ranks among the same players."""
    store.create_pool(POOL, find("folyami")())
    for number in range(6):
        store.submit(POOL, rows(number, "abcd"))  # folyami's ratings are established after five events
    assert store.leaderboard(POOL, Listing()).since is None  # nobody had a rank at the start of the first day
    day = DAYS.start + 1
    late = 60 * 24 * (day - (START.date() - date(1970, 1, 1)).days)
    for number in range(6, 11):
        store.submit(POOL, rows(number, "edcba", minute=late + number))
    check_moves(store, day)
    store.void(POOL, "e8")  # an event of the newest day
    check_moves(store, day)
    store.amend(POOL, rows(2, "dcba"))  # an event of the day before
    check_moves(store, day)
    everybody = store.leaderboard(POOL, Listing(provisional=True))
    assert everybody.since == date_of(day)
    assert {row.player for row in everybody.players if row.is_new} == {"e"}
    filtered = store.leaderboard(POOL, Listing(min_events=1))
    assert filtered.since is None
    assert all(row.move is None and not row.is_new for row in filtered.players)
    for number in range(6):
        store.void(POOL, f"e{number}")
    page = store.leaderboard(POOL, Listing(provisional=True))
    assert page.since is None
    assert all(row.move is None and not row.is_new for row in page.players)


def check_moves(store, day):
    """Compare the rank changes of established players with the leaderboard at the start of a day."""
    before = datetime.combine(date_of(day), datetime.min.time(), START.tzinfo) - timedelta(seconds=1)
    then = store.board(POOL, Eligibility(), before).to_dicts()
    ranks = {row["player"]: row["rank"] for row in then if not row["provisional"]}
    page = store.leaderboard(POOL, Listing())
    assert page.since == date_of(day)
    assert ranks.keys() == set("abcd")
    moves = {row.player: ranks[row.player] - row.rank if row.player in ranks else None for row in page.players}
    assert {row.player: row.move for row in page.players} == moves
    assert any(moves.values())
    assert {row.player for row in page.players if row.is_new} == moves.keys() - ranks.keys()
    card = store.player_card(POOL, "a")
    assert (card.move, card.since) == (moves["a"], date_of(day))


def test_a_change_of_system_changes_the_established_players(store):
    store.create_pool(POOL, find("folyami")())
    for number in range(6):
        store.submit(POOL, rows(number, "abcd" if number < 4 else "ab"))
    assert store.leaderboard(POOL, Listing()).listed == 2
    for other in (find("elo")(), find("glicko")(conservative=2.0)):
        store.configure(POOL, other)
        assert store.leaderboard(POOL, Listing()).listed == 4
        check_boards(store)
        assert store.verify() == []
