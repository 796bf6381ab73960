"""Measure what hostile requests cost the service: their time, its growth in memory, and the delay of other clients.

    python bench/bombs.py [--only NAME] [--set files|requests]

The script starts its own server on a free port of the loopback address, with a database in a temporary folder. It signs
in and sends each file as a browser does, while another connection posts race results. Then it sends forms, JSON and
requests for stakes that were once expensive. It prints one line for each: bytes sent, seconds until the last answer,
growth of the service and of the process that reads files (MB), the 99th percentile of the other posts' waits, and the
answer.
"""

import argparse
import base64
import gzip
import io
import json
import os
import re
import socket
import tempfile
import threading
import time
import zipfile
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
MOST = 7_900_000  # bytes, just below the service's limit
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
    """Return the hostile files by name, each with its format and content."""
    good = row(1, ("A", "event_id"), ("B", "player")) + row(2, ("A", "e1"), ("B", "ana"))
    cell = '<table:table-cell office:value-type="string"{}><text:p>x</text:p></table:table-cell>'
    wide = cell.format(' table:number-columns-repeated="16384"')
    laughs = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10 if k else "ha"}">' for k in range(9))
    line, races = "e1,ana,1\n", "".join(f"e{k},p{k % 999},{k % 9}\n" for k in range(400_000))
    season = "".join(f"Race {k // 9},{2001 + k // 9000}-05-01,p{k % 997},{k % 9 + 1}\n" for k in range(99_000))
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
        "season.csv": ("event_id,started_at,player,position\n" + season).encode(),
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


def requests(sign_in, folder, api):
    """Return the requests by name, each as a function that takes a signed-in client and returns the answers."""
    files = bombs()  # made before the clock starts, because compressing some of them takes half a minute
    keys, digits, half, slow = files["keys.json"], files["digits.json"], b"%ED%A0%80", files["one event.csv"]
    details = base64.b64encode(zlib.compress(b'{"rows":[' + b'{"a":{}},' * 11_000_000 + b"{}]}", 9)).decode()
    many = json.dumps({"rows": [{"event_id": f"e{k}", "player": "a", "position": 1} for k in range(200_000)]}).encode()
    question = b"Name;Punkte;Zahl\n" + b"".join(b"p%d;%d;%d\n" % (k, k % 97, k % 89) for k in range(420_000))
    posted = "/api/v1/pools/main/events"

    def apply(http, text, count=1):
        fields = {"token": token_of(http), "kind": "submit", "details": text, "number": "1", "version": "1"}
        return at_once([lambda: http.post("/admin/main/apply", data=fields)] * count)

    def season(http):
        page = send(http, "season.csv", "results", files["season.csv"])
        fields = re.findall(r'name="(token|number|version)" value="([^"]+)"', page.text)
        return [page, http.post("/admin/main/apply", data=dict(fields))]

    def form(http, content, kind="application/x-www-form-urlencoded"):
        return [http.post("/admin/main/upload", content=content, headers={"Content-Type": kind})]

    def stakes(count, entrants):
        def ask(http):
            bare = httpx2.Client(base_url=http.base_url, timeout=120.0)
            fields = [[f"p{(each + k) % 200}" for k in range(entrants)] for each in range(count)]
            return at_once(
                [
                    lambda names=names: bare.get("/api/v1/pools/rated/stakes", params={"entrants": names})
                    for names in fields
                ]
            )

        return ask

    def queue(http):
        other = sign_in("rated")
        good = b"event_id,player,position\nx,a,1\nx,b,2\n"
        files = [lambda: send(http, "one event.csv", "results", slow)] * 4
        return at_once([*files, lambda: send(other, "good.csv", "results", good, "rated")])

    def waiting(http):
        before, senders = size_of(folder), [http, *(sign_in("main") for _ in range(5))]
        answers = [send(sender, f"{k}.csv", "results", question) for k, sender in enumerate(senders)]
        print(f"  the database grew by {(size_of(folder) - before) / 1e6:+.0f} MB", flush=True)
        return answers

    def leave(http):
        for _ in range(20):
            with socket.create_connection((http.base_url.host, http.base_url.port)) as left:
                left.sendall(
                    b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                    b"Content-Length: 50000\r\n\r\nkey="
                )
        return [http.get("/healthz")]

    part = b'--x\r\nContent-Disposition: form-data; name="f%d"\r\n\r\n1\r\n'
    parts = b"".join(part % k for k in range(19_000)) + b"--x--\r\n"
    packed = base64.b64encode(zlib.compress(many, 9)).decode()
    return {
        "packed form": lambda http: apply(http, details),
        "packed form, twice at once": lambda http: apply(http, details, 2),
        "many events in a form": lambda http: apply(http, packed),
        "half a character in a form": lambda http: form(http, b"number=" + half),
        "7.8 MB of %41 in a form": lambda http: form(http, b"pasted=" + b"%41" * 2_600_000),
        "19,000 fields": lambda http: form(http, parts, "multipart/form-data; boundary=x"),
        "8 MB of CR": lambda http: form(http, b"--x" + b"\r" * MOST, "multipart/form-data; boundary=x"),
        "a season of 99,000 rows, seen and stored": season,
        "deep JSON": lambda _: [api.post(posted, content=b"[" * MOST)],
        "JSON of 500,000 keys": lambda _: [api.post(posted, content=keys)],
        "JSON with a long number": lambda _: [api.post(posted, content=digits)],
        "leaving a form, 20 times": leave,
        "stakes of 200 without a key": stakes(1, 200),
        "stakes of 64, 40 at once": stakes(40, 64),
        "five uploads at once": queue,
        "six sheets that wait": waiting,
    }


def at_once(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result() for each in [pool.submit(call) for call in calls]]


def size_of(folder):
    return sum(each.stat().st_size for each in Path(folder).iterdir() if each.is_file())


def children_of(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in found.read_text(encoding="ascii").split()] if found.exists() else []


def resident(pid):
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


class Posts:
    """Posts races of another pool, twenty per second, and records the time of each answer."""

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
            try:
                answer = self.http.post("/api/v1/pools/other/events", json=event)
            except httpx2.TransportError as error:  # the server has ended or does not answer
                print(f"a post failed: {error}", flush=True)
                return
            assert answer.is_success, answer.text  # noqa: S101
            self.took.append(time.perf_counter() - started)


def token_of(http, pool="main"):
    return re.search(r'name="token" value="([^"]+)"', http.get(f"/admin/{pool}/upload").text)[1]


def send(http, name, form, content, pool="main"):
    sent = {"token": token_of(http, pool), "format": form, "started_at": "2026-01-01"}
    return http.post(f"/admin/{pool}/upload", data=sent, files={"file": (name, content)})


def outcome(answer):
    alert = re.search(r'role="alert">(.*?)</(?:section|div|p)>', answer.text, re.DOTALL)
    text = " ".join(re.sub(r"<[^>]+>", " ", alert[1] if alert else answer.text[-300:]).split())
    return f"{answer.status_code} {'shown' if answer.is_success else text[:120]}"


def signed_in(url, key):
    client = httpx2.Client(base_url=url, timeout=120.0, headers={"Accept": "text/html"})
    client.post("/sign-in", data={"key": key}, headers={"Origin": url})
    return client


def measure(url, key, pid, folder, args):
    http = signed_in(url, key)
    with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=300.0) as api:
        for pool, system in (("main", "elo"), ("other", "elo"), ("rated", "adaptive")):
            api.post("/api/v1/pools", json={"name": pool, "system": system, "public": True})
        field = [{"player": f"p{k}", "position": k + 1} for k in range(200)]
        event = {"event_id": "e1", "started_at": "2026-01-01T00:00:00Z", "entries": field}
        assert api.post("/api/v1/pools/rated/events", json=event).is_success  # noqa: S101

        def sign_in(pool):
            sent = {"name": "other", "role": "write", "token": token_of(http, pool)}
            page = http.post(f"/admin/{pool}/keys", data=sent)
            return signed_in(url, re.search(r"\b[A-Za-z0-9_-]{40,}\b", page.text)[0])

        found = {} if args.set == "requests" else {name: sending(name, bomb) for name, bomb in bombs().items()}
        found |= {} if args.set == "files" else requests(sign_in, folder, api)
        posts = Posts(url, key)
        send(http, "good.csv", "results", (HEAD + "e1,ana,1\ne1,ben,2\n").encode())
        posts.thread.start()
        time.sleep(3.0)
        print(f"load {os.getloadavg()[0]:.1f}; before: posts p99 {p99(posts.took):.2f} s", flush=True)
        begin = resident(pid)
        for name, bomb in found.items():
            if args.only in name:
                measure_one(name, bomb, http, pid, posts)
        posts.ends.set()
        posts.thread.join()
        print(f"the service has {resident(pid) - begin:+.0f} MB at the end; load {os.getloadavg()[0]:.1f}")


def sending(name, bomb):
    form, content = bomb if isinstance(bomb, tuple) else ("results", bomb)
    return lambda http: [send(http, name, form, content)]


def p99(took):
    return sorted(took)[int(0.99 * (len(took) - 1))] if took else 0.0


def measure_one(name, bomb, http, pid, posts):
    before = resident(pid)
    posts.took.clear()
    started, most, ends = time.perf_counter(), [before, 0.0], threading.Event()

    def watch():
        while not ends.wait(0.02):
            most[0] = max(most[0], resident(pid))
            with suppress(OSError):  # the process has ended
                most[1] = max([most[1], *map(resident, children_of(pid))])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        answers = bomb(http)
        took = time.perf_counter() - started
        time.sleep(1.0)  # let the delayed posts finish
    finally:
        ends.set()
        watcher.join()
    figures = f"{took:6.2f} s  +{most[0] - before:4.0f} MB (reader {most[1]:4.0f})  p99 {p99(posts.took):.2f} s"
    counts = Counter(map(outcome, answers)).most_common(3)
    print(f"{name:40} {figures}  {'; '.join(f'{count} x {text}' for text, count in counts)}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="only requests and files whose name contains this")
    parser.add_argument("--set", default="", choices=("", "files", "requests"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with serving(folder, port) as (server, key):
            measure(f"http://127.0.0.1:{port}", key, server.pid, folder, args)


if __name__ == "__main__":
    main()
