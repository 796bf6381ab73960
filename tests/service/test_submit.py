"""Match reports from Xonotic servers: their keys and pools, duplicates, and no key in the log."""

import base64
import logging
import time

import pytest
from importing import REPORT
from starlette.testclient import TestClient

from podium.service import create_app
from podium.service.api import receiving
from podium.store.keys import create_key
from podium.systems import find

ADDRESS = "/submit/xonstat"
FINGERPRINT = f"{'f' * 43}="
NO_EPOCH = REPORT.replace("7.1767225600.000042", "0.531246")


@pytest.fixture
def store(sqlite_store):
    for pool in ("dm", "ctf"):
        sqlite_store.create_pool(pool, find("elo")())
    return sqlite_store


@pytest.fixture
def client(store):
    with TestClient(create_app(store), headers={"Content-Type": "text/plain"}) as opened:
        yield opened


@pytest.fixture
def key(store):
    return create_key(store.engine, "arena", "write", "dm")


def stored_starts(store):
    with store.reading("dm") as pool:
        return pool.snapshot.events.columns.part("started_at").tolist()


def test_a_report_is_stored_once_under_its_keys_name(client, store, key):
    answer = client.post(f"{ADDRESS}/{key}", content=REPORT)
    assert (answer.status_code, answer.text) == (200, "rated: arena/7.1767225600.000042\n")
    assert answer.headers["content-type"].startswith("text/plain")
    assert client.post(f"{ADDRESS}/{key}", content=REPORT).text == "duplicate: arena/7.1767225600.000042\n"
    other = client.post(f"{ADDRESS}/{key}", content=REPORT.replace("score 20", "score 21"))
    assert other.status_code == 409
    assert len(stored_starts(store)) == 1


def test_a_match_without_a_start_time_has_just_ended(client, store, key):
    before = time.time()
    for word in ("rated", "duplicate"):
        assert client.post(f"{ADDRESS}/{key}", content=NO_EPOCH).text == f"{word}: arena/0.531246\n"
    (started,) = stored_starts(store)
    assert before - 600.5 <= started / 1e6 <= time.time() - 600.0


def test_a_backdating_limit_applies_to_reports(client, store):
    limited = create_key(store.engine, "limited", "write", "dm", backdating_limit_s=3600.0)
    old = REPORT.replace("7.1767225600.000042", f"7.{time.time() - 3700:.0f}.000042")
    for body in (old, REPORT.replace("7.1767225600.000042", "1.1577836800.1")):
        refused = client.post(f"{ADDRESS}/{limited}", content=body)
        assert (refused.status_code, "the backdating limit of this key" in refused.text) == (403, True)
    assert stored_starts(store) == []
    new = REPORT.replace("7.1767225600.000042", f"7.{time.time() - 3000:.0f}.000042")
    for body, word in ((new, "rated"), (new, "duplicate"), (NO_EPOCH, "rated"), (NO_EPOCH, "duplicate")):
        assert client.post(f"{ADDRESS}/{limited}", content=body).text.startswith(word)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (REPORT.replace("G dm", "G lms"), 422, "there is no pool 'lms'"),
        (REPORT.replace("G dm", "G ctf"), 403, "a key with the write role for pool ctf"),
        (REPORT.replace("V 9\n", ""), 422, "report line 1: the first line must be the version"),
        ("", 422, "the report has no V"),
        (REPORT.replace("e matches 1\n", ""), 200, "dropped: 1 not finished"),
        (REPORT.replace("P Ben=", "P bot#1"), 200, "dropped: 1 bot, 1 too few"),
        ("x" * 4_000_001, 413, "larger than 4,000,000 bytes"),
    ],
)
def test_unusable_reports_get_a_text_answer(body, status, words, client, store, key):
    answer = client.post(f"{ADDRESS}/{key}", content=body)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    assert stored_starts(store) == []


def test_keys_without_write_access_are_rejected_and_never_logged(client, store, key, caplog):
    reader = create_key(store.engine, "reader", "read", "dm")
    caplog.set_level(logging.DEBUG, logger="podium")
    assert client.post(f"{ADDRESS}/{reader}", content=REPORT).status_code == 403
    assert client.post(f"{ADDRESS}/podium_nope", content=REPORT).status_code == 401
    assert client.post(ADDRESS, content=REPORT).status_code == 401
    assert client.post(f"{ADDRESS}/{key}", content=REPORT).status_code == 200
    assert not any(secret in caplog.text for secret in (key, reader, "podium_nope"))
    slow = create_key(store.engine, "slow", "write", "dm", 0.001)
    answers = [client.post(f"{ADDRESS}/{slow}", content=REPORT) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[1].headers["retry-after"]) > 1


def write_tool(folder, verdict):
    """Write a tool that prints its verdict for the signature `signed` and the body with the query."""
    tool = folder / receiving.TOOL
    tool.write_text(
        "#!/bin/sh\n"
        '[ "$1" = -p ] && [ "$3" = -d ] && [ "$5" = -s ] && [ "$(cat "$6")" = signed ] || exit 1\n'
        '[ "$(tail -c 4 "$4" | tr "\\000" "|")" = "|q=1" ] || exit 1\n'
        f"printf '{verdict}\\n{FINGERPRINT}\\n'\n"
    )
    tool.chmod(0o755)


@pytest.mark.parametrize(
    ("verdict", "signature", "status"),
    [("1", "signed", 200), ("0", "signed", 401), ("1", "forged", 401), ("1", "", 401)],
)
def test_a_signed_report_belongs_to_its_signing_server(verdict, signature, status, client, tmp_path, monkeypatch, key):
    write_tool(tmp_path, verdict)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    header = {"X-D0-Blind-ID-Detached-Signature": base64.b64encode(signature.encode()).decode()}
    answer = client.post(f"{ADDRESS}?q=1", content=REPORT, headers=header)
    assert answer.status_code == status, answer.text
    assert answer.text == f"rated: {FINGERPRINT}/7.1767225600.000042\n" or status == 401


def test_signatures_are_rejected_without_the_tool(client, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    header = {"X-D0-Blind-ID-Detached-Signature": "c2lnbmVk"}
    assert client.post(ADDRESS, content=REPORT, headers=header).status_code == 401
    assert client.post(ADDRESS, content=REPORT, headers=header | {receiving.TOOL: "dummy"}).status_code == 401
    (tmp_path / receiving.TOOL).write_text("no program")
    (tmp_path / receiving.TOOL).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert client.post(ADDRESS, content=REPORT, headers=header).status_code == 401
