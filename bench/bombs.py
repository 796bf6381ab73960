"""What uploads that mean harm cost the service: how long each takes, how much it grows, and who waits meanwhile.

    python bench/bombs.py [--only NAME]

It starts a server of its own on a free port of the loopback address, with a database in a folder that it removes, signs
in and sends each file as a browser does, while another connection posts results of races. Prints a line a file.
"""

import argparse
import gzip
import io
import re
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import httpx2
import polars as pl
import zstandard
from serving import free_port, serving

HEAD = "event_id,player,position\n"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
MOST = 7_900_000  # bytes: the service takes no more
RACE = {"entries": [{"player": "ana", "position": 1}, {"player": "ben", "position": 2}]}


def archive(**members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as opened:
        for name, text in members.items():
            opened.writestr(name, text)
    return content.getvalue()


def workbook(sheet, extra="", doctype=""):
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{TYPES}"><Default Extension="rels" ContentType="application/vnd.'
        'openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{LINKS}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" '
        'r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{LINKS}"><Relationship Id="rId1" '
        f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'{doctype}<worksheet xmlns="{MAIN}">{extra}<sheetData>{sheet}</sheetData>'
        "</worksheet>",
    }
    return archive(**parts)


def row(number, *cells):
    text = "".join(f'<c r="{name}{number}" t="inlineStr"><is><t>{value}</t></is></c>' for name, value in cells)
    return f'<row r="{number}">{text}</row>'


def ods(rows):
    office, table, text = (f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in ("office", "table", "text"))
    head = f'<office:document-content xmlns:office="{office}" xmlns:table="{table}" xmlns:text="{text}">'
    body = f'<office:body><office:spreadsheet><table:table table:name="S">{rows}</table:table>'
    end = "</office:spreadsheet></office:body></office:document-content>"
    return archive(mimetype="application/vnd.oasis.opendocument.spreadsheet", **{"content.xml": head + body + end})


def parquet(rows, columns=1):
    content = io.BytesIO()
    frame = pl.select(**{f"player{k}" if k else "player": pl.repeat("ana", rows) for k in range(columns)})
    frame.write_parquet(content)
    return content.getvalue()


def bombs():
    """Files by name, each with its format and content."""
    good = row(1, ("A", "event_id"), ("B", "player")) + row(2, ("A", "e1"), ("B", "ana"))
    cell = '<table:table-cell office:value-type="string"{}><text:p>x</text:p></table:table-cell>'
    wide = cell.format(' table:number-columns-repeated="16384"')
    laughs = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10 if k else "ha"}">' for k in range(9))
    line, races = "e1,ana,1\n", "".join(f"e{k},p{k % 999},{k % 9}\n" for k in range(400_000))
    numbers = "".join(f"<c><v>{k}</v></c>" for k in range(9))
    return {
        "far cell.xlsx": workbook(row(1, ("A", "x")) + row(1_048_576, ("XFD", "y"))),
        "untrue dimension.xlsx": workbook(good, '<dimension ref="A1:XFD1048576"/>'),
        "tall.xlsx": workbook(good + row(1_048_576, ("A", "y"))),
        "dense.xlsx": workbook("".join(f"<row>{numbers}</row>" for _ in range(900_000))),
        "laughs.xlsx": workbook("<row><c><v>&l8;</v></c></row>", doctype=f"<!DOCTYPE x [{laughs}]>"),
        "repeated.ods": ods(f'<table:table-row table:number-rows-repeated="65536">{wide}</table:table-row>'),
        "dense.ods": ods(f"<table:table-row>{cell.format('') * 9}</table:table-row>" * 100_000),
        "wide.csv": (",".join(f"c{k}" for k in range(600_000)) + "\n").encode(),
        "commas.csv": b"," * MOST,
        "lines.csv": b"a,b\n" + b"\n" * MOST,
        "long cell.csv": (HEAD + 'e1,"' + "x" * MOST + '",1\n').encode(),
        "quote.csv": (HEAD + '"').encode() + b"e1,ana,1\n" * (MOST // 9),
        "rows.csv": (HEAD + races)[:MOST].encode(),
        "one event.csv": (HEAD + "".join(f"e1,p{k},1\n" for k in range(99_000))).encode(),
        "utf-16.csv": (HEAD + races[:3_000_000]).encode("utf-16"),
        "latin.csv": HEAD.encode() + b"e1,\xe9\xff\xfe,1\n" * (MOST // 12),
        "digits.csv": (HEAD + "e1,ana," + "9" * 7_000_000 + "\n").encode(),
        "rows.csv.gz": gzip.compress((HEAD + line * 11_000_000).encode()),
        "zeros.csv.gz": gzip.compress(bytes(900_000_000)),
        "rows.csv.zst": zstandard.compress((HEAD + line * 11_000_000).encode(), 19),
        "rows.parquet": parquet(10_000_000),
        "more rows.parquet": parquet(50_000_000),
        "wide.parquet": parquet(1, 20_000),
        "deep.json": b"[" * 3_900_000 + b"]" * 3_900_000,
        "keys.json": ("[{" + ",".join(f'"k{k}":1' for k in range(500_000)) + "}]").encode(),
        "keys.jsonl": "\n".join(f'{{"k{k}":1}}' for k in range(400_000)).encode(),
        "digits.json": b'[{"event_id":"e","player":"a","position":' + b"9" * 7_000_000 + b"}]",
        "racetime deep.json": ("racetime", b'{"races":' + b"[" * 3_900_000 + b"]" * 3_900_000 + b"}"),
        "comments.pgn": ("pgn", b'[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n' + b"{(" * 3_900_000),
        "games.pgn": ("pgn", b'[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1-0\n\n' * 160_000),
    }


def resident(pid):
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


class Posts:
    """Posts races of another pool, twenty a second, and notes how long each answer took."""

    def __init__(self, url, key):
        self.http, self.took, self.ends = httpx2.Client(base_url=url, timeout=60.0), [], threading.Event()
        self.http.headers["Authorization"] = f"Bearer {key}"
        self.thread = threading.Thread(target=self.run)

    def run(self):
        """Post until the end."""
        number = 0
        while not self.ends.wait(0.05):
            number += 1
            started = time.perf_counter()
            event = {"event_id": f"e{number}", "started_at": "2026-01-01T00:00:00Z"} | RACE
            answer = self.http.post("/api/v1/pools/other/events", json=event)
            assert answer.is_success, answer.text  # noqa: S101
            self.took.append(time.perf_counter() - started)


def send(http, name, form, content):
    token = re.search(r'name="token" value="([^"]+)"', http.get("/admin/main/upload").text)[1]
    return http.post("/admin/main/upload", data={"token": token, "format": form}, files={"file": (name, content)})


def outcome(answer):
    alert = re.search(r'role="alert">(.*?)</(?:section|div|p)>', answer.text, re.DOTALL)
    text = " ".join(re.sub(r"<[^>]+>", " ", alert[1] if alert else answer.text[-300:]).split())
    return f"{answer.status_code} {'shown' if answer.is_success else text[:120]}"


def measure(url, key, pid, only):
    signed_in = httpx2.Client(base_url=url, timeout=120.0, headers={"Accept": "text/html"})
    signed_in.post("/sign-in", data={"key": key}, headers={"Origin": url})
    with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}) as http:
        for pool in ("main", "other"):
            http.post("/api/v1/pools", json={"name": pool, "system": "elo"})
    posts = Posts(url, key)
    send(signed_in, "good.csv", "results", (HEAD + "e1,ana,1\ne1,ben,2\n").encode())
    posts.thread.start()
    time.sleep(3.0)
    before, slowest = resident(pid), 0.0
    for name, bomb in bombs().items():
        if only not in name:
            continue
        form, content = bomb if isinstance(bomb, tuple) else ("results", bomb)
        posts.took.clear()
        started, most, ends = time.perf_counter(), [before], threading.Event()

        def watch(most=most, ends=ends):
            while not ends.wait(0.02):
                most[0] = max(most[0], resident(pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        answer = send(signed_in, name, form, content)
        took = time.perf_counter() - started
        ends.set()
        watcher.join()
        slowest = max(slowest, took)
        waits = sorted(posts.took) or [0.0]
        figures = f"{took:6.2f} s  +{most[0] - before:4.0f} MB  posts p99 {waits[int(0.99 * (len(waits) - 1))]:.2f} s"
        print(f"{name:22} {len(content):>9,} B {figures}  {outcome(answer)}", flush=True)
    posts.ends.set()
    posts.thread.join()
    print(f"slowest {slowest:.2f} s; the service has {resident(pid) - before:+.0f} MB at the end")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="files whose name has this")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with serving(folder, port) as (server, key):
            measure(f"http://127.0.0.1:{port}", key, server.pid, args.only)


if __name__ == "__main__":
    main()
