"""Equal ratings share the best of their ranks, in memory and in a table."""

from typing import Any

import numpy as np
import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from podium.ledger.leaderboard import with_ranks
from podium.pool.columns import Columns
from podium.pool.standings import Standings
from podium.systems.elo import Elo
from podium.views.board import EVERYBODY, Board


@example([])
@example([3.0, 3.0, 2.0, 1.0, 1.0, 1.0])
@given(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 1500.0, 1500.0000001]), max_size=9))
def test_a_leaderboard_and_a_table_have_the_same_ranks(ratings):
    names = {"pool": ["main"] * len(ratings), "player": [str(k) for k in range(len(ratings))]}
    schema = {"pool": pl.String, "player": pl.String, "rating": pl.Float64}
    table = with_ranks(Elo(), pl.DataFrame(names | {"rating": ratings}, schema=schema))
    expected = table.sort(pl.col("player").cast(pl.Int64))["rank"].to_list()
    scores, zeros = np.array(ratings, np.float64), np.zeros(len(ratings), np.int64)
    slots = 2 * np.arange(len(ratings))
    standings = Standings(Elo(), Columns({}), 0, slots, zeros, zeros, scores, zeros, scores, zeros)
    pool: Any = None  # a full leaderboard reads nothing else of the pool
    board = Board(pool, EVERYBODY, standings)
    entries = np.arange(len(ratings))
    assert board.ranks(entries) == expected
