"""Equal ratings share the best of their ranks, in a list that stands best first as in a table."""

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from podium.ledger.leaderboard import with_ranks
from podium.pool.standings import shared_ranks
from podium.systems.elo import Elo


@example([])
@example([3.0, 3.0, 2.0, 1.0, 1.0, 1.0])
@given(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 1500.0, 1500.0000001]), max_size=9))
def test_a_list_and_a_table_have_the_same_ranks(ratings):
    best_first = sorted(ratings, reverse=True)
    board = {"pool": ["main"] * len(ratings), "player": [str(k) for k in range(len(ratings))], "rating": best_first}
    schema = {"pool": pl.String, "player": pl.String, "rating": pl.Float64}
    table = with_ranks(Elo(), pl.DataFrame(board, schema=schema)).sort(pl.col("player").cast(pl.Int64))
    assert shared_ranks(best_first) == table["rank"].to_list()
