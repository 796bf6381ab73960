"""What the library refuses in words."""

from datetime import UTC, datetime, timedelta

import pytest

import podium
from podium.systems import find

UNDATED = [{"event_id": "e", "player": name, "position": place} for place, name in enumerate("abc", 1)]
NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def rated():
    return podium.rate(UNDATED, "elo")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda rated: rated.predict(["a", "b"], top=0), "top is 0; it must be a whole number of at least 1"),
        (lambda rated: rated.predict(["a", "b"], top=1.5), "top is 1.5; it must be a whole number"),
        (lambda rated: rated.strengths(top=2.5), "top is 2.5; it must be a whole number"),
        (lambda rated: rated.predict([{"player": "a", "shared": "x"}, "b"]), "a: shared is 'x'; write things by kind"),
        (lambda rated: rated.leaderboard(at=NOON), "a date needs the column started_at in the results"),
        (lambda rated: rated.leaderboard(active_within=timedelta(days=1)), "activity needs the column started_at in"),
        (lambda _: podium.rate(UNDATED, "podium").hindsight().at(NOON), "a date needs the column started_at in the"),
        (lambda _: podium.evaluate(UNDATED, "elo", weight="entry"), "weight 'entry' is not one of"),
        (lambda _: podium.evaluate(UNDATED, "elo", workers=2), "an engine and its workers are for a dataset"),
        (lambda _: podium.rate(UNDATED, find("elo")(), k=3), "elo is an instance already; give parameters with a name"),
        (lambda _: find("podium")(shared="a/b/c/d/e/f/g/h"), "podium: shared names 8 kinds; at most"),
    ],
)
def test_what_cannot_be_is_refused_in_words(act, message, rated):
    with pytest.raises(podium.PodiumError, match=message):
        act(rated)
