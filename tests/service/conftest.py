"""A store of many pools, and somebody who looks at its pages."""

from unittest import mock

import pytest
from leagues import add_names, add_season, add_states
from page_words import people

from podium.service import app
from podium.service.admin.uploads import UploadProcess
from podium.store import Store


@pytest.fixture(scope="session", autouse=True)
def one_upload_process():
    """All services have the process that reads uploads: it takes longer to start than most tests take."""
    process, end = UploadProcess(), UploadProcess.end
    with mock.patch.object(app, "UploadProcess", return_value=process), mock.patch.object(process, "end"):
        yield
    end(process)


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
