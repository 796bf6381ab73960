"""Pages that show the distribution of ratings."""

import re

from page_words import main_of, words

from podium.service.web.distribution import bar_width, rating_at, rating_ranges
from podium.support.words import part
from podium.views.models import RatingCount


def test_a_distribution_counts_every_player(season, visitor):
    html = main_of(visitor.get("/bikes/distribution", headers={"Cookie": f"me={part('Zoë')}"}))
    body = re.search(r"<tbody>(.*?)</tbody>", html, re.DOTALL)[1]
    counts = [int(each) for each in re.findall(r'<td class="n">(\d+)</td>', body)]
    assert sum(counts) == len(season.leaderboard("bikes").players)
    assert words(re.search(r'<tr class="me".*?</tr>', body, re.DOTALL)[0]).startswith("1950 to 2000 you 1")
    assert "Your rating is 1951" in words(html)
    assert "Your rating" not in words(main_of(visitor.get("/bikes/distribution", headers={"Cookie": "me=nobody"})))


def test_a_limited_number_of_bars_covers_all_ratings():
    for low, high in ((0, 0), (-7, 3), (1000, 1040), (999, 2999), (-(10**9), 10**9)):
        counts = [RatingCount(low, 3), *([RatingCount(high, 5)] if high > low else [])]
        ranges = rating_ranges(counts, bar_width(counts), float(low))
        assert sum(each.players for each in ranges) == sum(each.players for each in counts)
        assert len(ranges) <= 41
        assert all(each.low % (each.high - each.low) == 0 for each in ranges)
        assert [each.is_own for each in ranges] == [True] + [False] * (len(ranges) - 1)
    assert rating_ranges([], 1, None) == ()
    quarters = [RatingCount(1, 1), RatingCount(2, 2), RatingCount(9, 1)]
    assert [rating_at(quarters, share) for share in (0.25, 0.5, 0.75)] == [1, 2, 2]
    assert rating_at([], 0.5) == 0
