"""Pictures of the served pages for the documentation: the example season in a browser. Run by `make screenshots`.

`python docs/screenshots.py FOLDER` takes those of the questions in docs/service.md, as a phone shows their answers.
"""

import re
import shutil
import sys
import threading
import time
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

from podium.cli.demo import plan_races, season_path, season_store
from podium.service import create_app

FOLDER = Path(__file__).parent / "pictures"
MAX_BYTES = 150_000
DESK, PHONE = (1280, 1060), (390, 844)
PICTURES = {  # the page, the screen and the scheme of each
    "why": ("/bikes/events/bikes-058/Dragana", DESK, "light"),
    "why-phone": ("/bikes/events/bikes-058/Dragana", PHONE, "dark"),
    "home": ("/", DESK, "light"),
    "leaderboard": ("/bikes", DESK, "dark"),
    "player": ("/bikes/players/Dragana", DESK, "light"),
    "player-phone": ("/bikes/players/Dragana", PHONE, "light"),
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


QUESTION = re.compile(r"(?m)^\| ([^|]+\?) \| `([^`]+)` \|")


def questions() -> dict[str, tuple[str, tuple[int, int], str]]:
    """The questions of players, as pictures of the pages that answer them."""
    text = (FOLDER.parent / "service.md").read_text(encoding="utf-8")
    named = ((f"{number:02}-{re.sub('[^a-z]+', '-', question.lower()).strip('-')}", page)
             for number, (question, page) in enumerate(QUESTION.findall(text), start=1))  # fmt: skip
    return {name: (page, PHONE, "light") for name, page in named}


def take(address: str, folder: Path, pictures: dict[str, tuple[str, tuple[int, int], str]]) -> None:
    """Take pictures of the pages at an address."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit("there is no Chromium: run tests/install_chromium.sh")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, (page, (width, height), scheme) in pictures.items():
            tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            if page.endswith("?me"):
                tab.goto(address + page)
                tab.click("button[name=me]")
            tab.goto(address + page.removesuffix("?me"), wait_until="load")
            tab.wait_for_timeout(500)
            picture = folder / f"{name}.png"
            tab.screenshot(path=picture)
            tab.close()
            if picture.stat().st_size > MAX_BYTES:
                raise SystemExit(
                    f"{picture.name} has {picture.stat().st_size:,} bytes; at most {MAX_BYTES:,} are wanted"
                )
        browser.close()


def main() -> None:
    """Serve the season, and take the pictures."""
    folder, pictures = (Path(sys.argv[1]), questions()) if len(sys.argv) > 1 else (FOLDER, PICTURES)
    folder.mkdir(parents=True, exist_ok=True)
    with season_store(season_path()) as store:
        if folder != FOLDER:
            plan_races(store)
        server = uvicorn.Server(uvicorn.Config(create_app(store), port=0, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        try:
            take(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", folder, pictures)
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    main()
