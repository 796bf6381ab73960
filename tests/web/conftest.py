"""A served store of pools, and a browser for its pages."""

import functools
import os
import shutil
import threading
import time
from contextlib import ExitStack, contextmanager
from unittest import mock
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import uvicorn
from leagues import fill
from playwright.sync_api import Locator, Page, sync_playwright

from podium.service import create_app
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
START_S = 20


class Site:
    """The pages of a store at an address."""

    def __init__(self, store, address):
        self.store, self.address = store, address

    def get(self, path, accept="text/html", **headers):
        """Return the status, the headers and the text of a response."""
        request = Request(self.address + path, headers={"Accept": accept} | headers)  # noqa: S310  (this machine)
        try:
            with urlopen(request) as answer:  # noqa: S310
                return answer.status, answer.headers, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.headers, error.read().decode()


@contextmanager
def serving(store):
    """Serve the pages of a store as `podium serve` does."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(store), port=0, log_level="error", lifespan="on", timeout_graceful_shutdown=5)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    started = time.monotonic()
    while not server.started:
        assert time.monotonic() - started < START_S, "the service does not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Site(store, f"http://127.0.0.1:{port}")
    server.should_exit = True
    thread.join()
    store.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Serve pools of all kinds."""
    store = Store(str(tmp_path_factory.mktemp("web") / "podium.db"))
    fill(store)
    with serving(store) as served:
        yield served


@pytest.fixture
def league(site, request):
    """Return a private pool and an admin key for it."""
    name = f"league {request.node.name}"
    site.store.create_pool(name, find("elo")(), player_word="driver")
    return name, create_key(site.store.engine, "Ann", "admin", name)


@pytest.fixture
def new_site(tmp_path):
    """Serve a store without an admin."""
    with serving(Store(str(tmp_path / "podium.db"))) as served:
        yield served


CHROMIUM = pytest.StashKey()
LARGE_TEXT = "--blink-settings=defaultFontSize=32"  # twice the default, like a reader's setting


def chromium():
    """Return the path of Chromium, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def launch(browser_type, *more):
    """Start Chromium without animations, so that a click does not hit a moving target."""
    launched = browser_type.launch(executable_path=chromium(), args=[*ARGUMENTS, *more])
    for begin in (launched.new_context, launched.new_page):
        setattr(launched, begin.__name__, functools.partial(begin_calmly, begin))
    return launched


def begin_calmly(begin, **options):
    begun = begin(reduced_motion="reduce", **options)
    begun.set_default_timeout(60_000)  # a system's first ratings and reasons can wait for a compiler
    return begun


def until_loaded(act):
    """Wait for the next page's load after a click or a key, because Playwright waits only for its first byte."""

    @functools.wraps(act)
    def act_and_wait(target, *given, **options):
        act(target, *given, **options)
        (target if isinstance(target, Page) else target.page).wait_for_load_state()

    return act_and_wait


@pytest.fixture(scope="module")
def browser(request):
    """Start Chromium, which `tests/install_packages.sh` installs. Without it a test fails in CI, and skips elsewhere.

    All modules of this folder share it, and no others: it keeps an event loop in this thread, and others need
    their own.
    """
    if chromium() is None:
        message = "there is no Chromium: run tests/install_packages.sh"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    folder = request.node.parent
    if CHROMIUM not in folder.stash:
        running = ExitStack()
        for kind in (Page, Locator):
            for name in ("click", "press"):
                running.enter_context(mock.patch.object(kind, name, until_loaded(getattr(kind, name))))
        playwright = running.enter_context(sync_playwright())
        folder.stash[CHROMIUM] = launch(playwright.chromium)

        def close():
            folder.stash[CHROMIUM].close()
            del folder.stash[CHROMIUM]
            running.close()

        folder.addfinalizer(close)
    return folder.stash[CHROMIUM]


@pytest.fixture
def large_browser(browser):
    """Start Chromium with all text twice as large."""
    other = launch(browser.browser_type, LARGE_TEXT)
    yield other
    other.close()


@pytest.fixture
def large_text(large_browser, site):
    """Return a phone's page with all text twice as large."""
    return large_browser.new_page(base_url=site.address, viewport={"width": 390, "height": 844})


@functools.cache
def page_in(browser, address, script):
    return browser.new_context(java_script_enabled=script, base_url=address).new_page()


@pytest.fixture
def screens(browser, site):
    """Return a function that opens a page with a width, a color scheme, and scripts if wanted.

    All tests share one page with scripts and one without, because each page is a process. Nobody is signed in.
    """
    with ExitStack() as deaf:

        def screen(width, scheme="light", *, script=True, **listeners):
            page = page_in(browser, site.address, script)
            page.context.clear_cookies()
            page.set_viewport_size({"width": width, "height": 844 if width < 600 else 800})
            page.emulate_media(color_scheme=scheme)
            for event, listener in listeners.items():
                page.on(event, listener)
                deaf.callback(page.remove_listener, event, listener)
            return page

        yield screen
