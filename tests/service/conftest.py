"""A store with many pools, and a visitor of its pages."""

from unittest import mock

import pytest
from leagues import add_names, add_season, add_states
from page_words import people

from podium.service import app
from podium.service.admin.uploads import UploadProcess
from podium.store import Store


@pytest.fixture(scope="session", autouse=True)
def one_upload_process():
    """Give all services the same upload process, because it starts more slowly than most tests run."""
    process, end = UploadProcess(), UploadProcess.end
    with mock.patch.object(app, "UploadProcess", return_value=process), mock.patch.object(process, "end"):
        yield
    end(process)


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    """Return a store with the example season, pools with unusual names, and pools in every state."""
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
