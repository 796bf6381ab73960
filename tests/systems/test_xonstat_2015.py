"""XonStat of 2015: a history rated by an independent implementation."""

from golden import assert_history_is


def test_the_golden_history_is_reproduced(shared):
    assert_history_is(shared, "xonstat-2015", "xonstat_2015_9")
