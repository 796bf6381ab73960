"""SuperTuxKart with deviations, compared with an independent implementation."""

from golden import assert_history_is


def test_a_history_equals_the_independent_implementation(shared):
    assert_history_is(shared, "stk-rd", "stk_rd_3")
