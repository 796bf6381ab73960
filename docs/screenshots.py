"""Take pictures of the served pages for the documentation, with the example season: `make screenshots`."""

import shutil
import threading
import time
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from podium.cli.demo import season_path, season_store
from podium.service import create_app

FOLDER = Path(__file__).parent / "pictures"
MAX_BYTES = 150_000
DESK, PHONE = (1280, 1060), (390, 844)
PICTURES = {  # the page, the screen and the color scheme of each
    "why": ("/bikes/events/bikes-058/Dragana", DESK, "light"),
    "why-phone": ("/bikes/events/bikes-058/Dragana", PHONE, "dark"),
    "home": ("/", DESK, "light"),
    "leaderboard": ("/bikes", DESK, "dark"),
    "player": ("/bikes/players/Dragana", DESK, "light"),
    "player-phone": ("/bikes/players/Dragana", PHONE, "light"),
}
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def take(address: str) -> None:
    """Take every picture of the pages at an address."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit("there is no Chromium: run tests/install_packages.sh")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, (page, (width, height), scheme) in PICTURES.items():
            tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            tab.goto(address + page)
            picture = FOLDER / f"{name}.png"
            tab.screenshot(path=picture)
            tab.close()
            if picture.stat().st_size > MAX_BYTES:
                raise SystemExit(
                    f"{picture.name} has {picture.stat().st_size:,} bytes; at most {MAX_BYTES:,} are wanted"
                )
        browser.close()


def main() -> None:
    """Serve the season and take the pictures."""
    FOLDER.mkdir(exist_ok=True)
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
