"""Every version of a growing table finds a text's newest number."""

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.pool import texts as module
from podium.pool.texts import Texts

TEXTS = st.lists(
    st.sampled_from(["", "a", "b", "ä", "雪", "race 1", "race 2", "\0season"]) | st.text(max_size=5), max_size=9
)


@given(st.lists(TEXTS, max_size=8))
def test_every_version_finds_its_texts(parts):
    with mock.patch.object(module, "MAX_OPEN", 4):
        texts, every = Texts(), []
        versions = [(texts, every)]
        for part in parts:
            texts, every = texts.appended(part), every + part
            versions.append((texts, every))
    for version, expected in versions:
        assert [version[number] for number in range(version.size)] == expected
        for text in [*expected, "absent", "ab"]:
            newest = len(expected) - 1 - expected[::-1].index(text) if text in expected else -1
            assert version.find(text) == newest
        known_and_absent = [*expected, "absent", "ab"]
        assert version.find_all(known_and_absent) == [version.find(text) for text in known_and_absent]


def test_texts_with_the_same_hash_are_distinguished():
    names = ["plumless", "buckeroo"]  # the best-known pair with the same CRC-32
    with mock.patch.object(module, "MAX_OPEN", 0):
        texts = Texts().appended(names)
    level = texts._levels[0]
    assert np.unique(level.hashes).size == 1
    assert [texts.find(name) for name in names] == texts.find_all(names) == [0, 1]
