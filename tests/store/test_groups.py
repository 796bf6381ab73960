"""Tables of clubs and countries: the mean of the best players who have a rank and are active."""

import pytest
from races import calling, rows

import podium
from podium.systems import find

CLUBS = {"ana": "Wolves", "ben": "Wolves", "cleo": "Wolves", "dee": "Bears", "eve": "Bears", "flo": "Solo & <b>"}


@pytest.fixture
def pool(store):
    store.create_pool("main", find("elo")(), display="factor=2")
    for number in range(1, 4):
        store.submit("main", rows(number, tuple(CLUBS)))
    store.set_details("main", [{"player": name, "club": club, "country": "DE"} for name, club in CLUBS.items()])
    return store


def test_a_club_has_the_mean_score_of_its_best_players(pool):
    scores = {row.player: row.score for row in pool.leaderboard("main").players}
    wolves, bears, solo = pool.group_ranks("main", best=2)
    assert (wolves.rank, wolves.name, wolves.players, wolves.best) == (1, "Wolves", 3, ("ana", "ben"))
    assert wolves.score == (scores["ana"] + scores["ben"]) / 2
    assert (bears.rank, bears.score) == (2, (scores["dee"] + scores["eve"]) / 2)
    assert (solo.rank, solo.players, solo.score) == (None, 1, scores["flo"])
    (germany,) = pool.group_ranks("main", "country", 6)
    assert germany.score == pytest.approx(sum(scores.values()) / 6)
    assert pool.group_ranks("main", "division") == ()
    with pytest.raises(podium.ParameterError, match="best"):
        pool.group_ranks("main", best=0)
    for name in ("discord", "link"):
        with pytest.raises(podium.UnknownError, match="grouped"):
            pool.group_ranks("main", name)


def test_merged_moved_and_anonymized_players_count_once_and_in_the_right_club(pool):
    pool.set_details("main", [{"player": "ana", "club": "Bears"}])
    assert [(group.name, group.players) for group in pool.group_ranks("main")] == [
        ("Bears", 3), ("Wolves", 2), ("Solo & <b>", 1),
    ]  # fmt: skip
    name = pool.anonymize("main", "ana")
    assert name not in {player for group in pool.group_ranks("main") for player in group.best}
    assert {group.name: group.players for group in pool.group_ranks("main")}["Bears"] == 2


def test_players_without_an_event_in_a_year_do_not_count(pool):
    late = [{"event_id": "late", "started_at": "2099-01-01", "player": name, "position": place}
            for place, name in enumerate(("dee", "eve"), start=1)]  # fmt: skip
    pool.submit("main", late)
    assert [(group.name, group.best) for group in pool.group_ranks("main", best=1)] == [("Bears", ("dee",))]


def test_the_page_the_api_and_the_board_show_them(pool):
    with calling(pool, "read") as client:
        path = "/api/v1/pools/main/groups/club"
        assert [each["name"] for each in client.get(path, params={"best": 2}).json()] == [
            "Wolves",
            "Bears",
            "Solo & <b>",
        ]
        assert client.get("/api/v1/pools/main/groups/steam").status_code == 422
        assert client.get(path, params={"best": 0}).status_code == 422
        page = client.get("/main/groups/club?best=2").text
        assert '<a href="/main?club=Solo%20%26%20%3Cb%3E"><bdi>Solo &amp; &lt;b&gt;</bdi></a>' in page
        assert "mean score of the 2 best players" in page
        assert client.get("/main/groups/steam").status_code == 404
        board = client.get("/main").text
        assert '<a href="/main/groups/country">Countries</a><a href="/main/groups/club">Clubs</a>' in board
        assert "groups/division" not in board
        assert "No player with a rank has a division here." in client.get("/main/groups/division").text
