"""Compressed states of a pool's system."""

import numpy as np
import pytest

from podium.pool.states import BLOCK_EVENTS, States

FIELDS = 3


def rows_of(count, seed=1):
    return np.random.default_rng(seed).normal(size=(count, FIELDS))


@pytest.mark.parametrize("count", [0, 1, BLOCK_EVENTS - 1, BLOCK_EVENTS, BLOCK_EVENTS + 1, 3 * BLOCK_EVENTS + 5])
def test_states_are_read_as_written(count):
    rows = rows_of(count)
    states = States(FIELDS).replaced_from(0, [rows])
    positions = np.random.default_rng(2).permutation(count)
    assert states.size == count
    assert states.part().tobytes() == rows.tobytes()
    assert states.at(positions).tobytes() == rows[positions].tobytes()


@pytest.mark.parametrize("position", [0, 1, BLOCK_EVENTS, BLOCK_EVENTS + 1, 70])
def test_replacing_states_changes_no_earlier_states_or_objects(position):
    rows, later = rows_of(70), rows_of(45, seed=3)
    states = States(FIELDS).replaced_from(0, [rows[:50], rows[50:]])
    other = states.replaced_from(position, [later])
    assert other.part().tobytes() == np.concatenate([rows[:position], later]).tobytes()
    assert states.part().tobytes() == rows.tobytes()


def test_states_stored_by_another_version_are_rejected():
    part = {"state": np.zeros((2, FIELDS + 1))}
    with pytest.raises(ValueError, match="do not match this version"):
        States(FIELDS).of_parts([part])
