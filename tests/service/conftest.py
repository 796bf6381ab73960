"""A store of many pools, and somebody who looks at its pages."""

import pytest
from leagues import add_names, add_season, add_states
from page_words import people

from podium.store import Store


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    """A store with the season's bikes, names of all kinds, and pools in every state."""
    opened = Store(str(tmp_path_factory.mktemp("pages") / "podium.db"))
    add_season(opened, ("bikes",))
    add_names(opened)
    add_states(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def visitor(season):
    with people(season) as client:
        yield client
