"""Results at web addresses from a local server, and cells that a spreadsheet would calculate."""

import threading
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from urllib.parse import urlsplit

import polars as pl
import pytest
from commands import run, streams

from podium.support import addresses

SEASON = "event_id,player,position\n1,=Ana,1\n1,Ben,2\n"
PGN = '[Event "Club"]\n[White "Ana"]\n[Black "Ben"]\n[Result "1-0"]\n\n1. e4 1-0\n'


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        page, _, _ = self.path.partition("?")
        moved = {"/moved": "https://sheets.example.org/season", "/round": "/round", "/plain": "http://example.org/x"}
        self.send_response(302 if page in moved else 200 if page in {"/season", "/games.pgn"} else 404)
        if page in moved:
            self.send_header("Location", moved[page])
        self.end_headers()
        self.wfile.write({"/season": SEASON, "/games.pgn": PGN}.get(page, "").encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    """Run a server that answers for every https address without a certificate."""
    connect = addresses.connect

    def connect_here(parts):
        return HTTPConnection(*served.server_address) if parts.scheme == "https" else connect(parts)

    monkeypatch.setattr(addresses, "connect", connect_here)
    addresses.fetch.cache_clear()
    with HTTPServer(("127.0.0.1", 0), Pages) as served:
        threading.Thread(target=partial(served.serve_forever, 0.01), daemon=True).start()
        yield
        served.shutdown()


@pytest.mark.usefixtures("server")
def test_a_file_is_downloaded_again_after_a_minute(monkeypatch):
    url, clock = "https://example.org/season", [1_000.0]
    monkeypatch.setattr(addresses.time, "monotonic", lambda: clock[0])
    before = addresses.download(url)
    monkeypatch.setattr("test_addresses.SEASON", SEASON.replace("Ben", "Cleo"))
    assert addresses.download(url) == before
    clock[0] += addresses.KEPT_S
    assert b"Cleo" in addresses.download(url)


@pytest.mark.usefixtures("server")
def test_commands_read_https_addresses(tmp_path):
    assert "=Ana" in run("rate", "https://sheets.example.org/season?output=csv", "-f", "csv")
    assert "=Ana" in run("rate", "https://sheets.example.org/moved", "-f", "csv")
    assert "Ana" in run("rate", "https://example.org/games.pgn", "-f", "csv")
    store = ("--db", tmp_path / "podium.db")
    run("pool", "create", "main", *store)
    assert "rated" in run("ingest", "https://example.org/season", "--pool", "main", "--order", "sequence", *store)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.org/none", "the server answers 404"),
        ("https://example.org/round", "more than 5 redirects"),
        ("https://example.org/plain", "it leads to an address without https"),
        ("https://example.org/ä", "UnicodeEncodeError"),
    ],
)
def test_addresses_without_a_file_are_explained(url, reason):
    for words in (("rate",), ("import", "pgn")):
        found = run(*words, url, *(("--dry-run",) if words[0] == "import" else ()), status=2)
        assert f"{url}: cannot be read ({reason}" in found


def test_private_addresses_are_not_read():
    for host in ("127.0.0.1", "[::1]", "169.254.169.254"):
        with pytest.raises(OSError, match="is not a public address"):
            addresses.connect(urlsplit(f"https://{host}/x.csv"))


@pytest.mark.usefixtures("server")
def test_large_files_are_not_read(monkeypatch):
    monkeypatch.setattr(addresses, "MAX_BYTES", 9)
    with pytest.raises(OSError, match="it is larger than"):
        addresses.download("https://example.org/season")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "::1", "fe80::1", "fd00::1",
     "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "64:ff9b:1::7f00:1", "::127.0.0.1",
     "fec0::1", "192.0.0.8", "::ffff:0:7f00:1", "255.255.255.255"],
)  # fmt: skip
def test_private_addresses_are_recognized_in_every_form(address):
    assert not addresses.is_public(ip_address(address))
    assert addresses.is_public(ip_address("93.184.216.34"))
    assert addresses.is_public(ip_address("2606:4700::1111"))


def test_names_are_never_formulas_in_a_spreadsheet(tmp_path):
    season, ratings, sheet = tmp_path / "season.csv", tmp_path / "ratings.csv", tmp_path / "ratings.xlsx"
    season.write_text(SEASON)
    first = run("rate", season, "--ratings", ratings, "--history", tmp_path / "history.csv")
    run("rate", season, "--ratings", sheet)
    for name in ("ratings.csv", "history.csv"):
        assert set(pl.read_csv(tmp_path / name)["player"]) == {"'=Ana", "Ben"}
    assert set(pl.read_excel(sheet)["player"]) == {"=Ana", "Ben"}
    _, again = streams("rate", season, "--start", ratings)
    assert "'=Ana" not in again
    assert again != first
