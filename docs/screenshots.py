"""Take the picture of the front page, from the served pages of the example season: `make screenshots`."""

import shutil
import threading
import time
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from podium.cli.demo import season_path, season_store
from podium.service import create_app

PICTURE = Path(__file__).parent / "pictures" / "why.png"
PAGE = "/bikes/events/bikes-058/Dragana"
MAX_BYTES = 150_000
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def take(address: str) -> None:
    """Take a picture of the card with the reasons, to the end of its steps."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit("there is no Chromium: run tests/install_packages.sh")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 500, "height": 1060}, device_scale_factor=2)
        tab.goto(address + PAGE)
        tab.evaluate("document.querySelectorAll('ol.why ~ *').forEach(element => element.remove())")
        tab.locator("#why").screenshot(path=PICTURE)
        browser.close()
    if PICTURE.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{PICTURE.name} has {PICTURE.stat().st_size:,} bytes; at most {MAX_BYTES:,} are wanted")


def main() -> None:
    """Serve the season and take the picture."""
    with season_store(season_path()) as store:
        server = uvicorn.Server(uvicorn.Config(create_app(store), port=0, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        try:
            take(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    main()
