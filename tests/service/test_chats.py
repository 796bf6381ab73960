"""Chat messages are short, give reasons, keep each chat's rules and are never lost."""

import asyncio
import json
import re
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from races import rows
from starlette.testclient import TestClient

import podium
from podium.log.database import UpkeepLock
from podium.service import create_app, webhooks
from podium.service.chats import FORMS, NO_PICTURE, Picture, escape_discord, fit
from podium.service.metrics import Metrics
from podium.service.web.messages import Message
from podium.service.webhooks import Webhooks, send_test
from podium.store.keys import CHATS, create_webhook, list_webhooks
from podium.systems import find

HOSTILE = (
    "@everyone", "<@123>", "<!channel>", "@room", "**bold** _it_ ~~gone~~ ||spoiler||", "[link](https://evil.example)",
    "`code` ```block```", "# heading", "> quote", "<b>html</b> & more", "\u202eright to left",
    "\u05d0\u05d1\u05d2 \u0645", "https://evil.example/x", "a" * 190,
)  # fmt: skip


@pytest.fixture
def store(store):
    store.create_pool("main", find("elo")(), title="Tuesday league", public=True)
    return store


def check_discord(content):
    """Fail if Discord would reject the message."""
    (embed,) = content["embeds"]
    assert content["allowed_mentions"] == {"parse": []}
    assert 0 < len(embed["title"].encode("utf-16-le")) // 2 <= 256
    assert len(embed.get("description", "").encode("utf-16-le")) // 2 <= 4_096


class Chat(HTTPServer):
    """A stand-in for a chat, which keeps its messages and answers as told."""

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Receiver)
        self.sent, self.answers = [], [*answers]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/api/webhooks/1/secret-abcd"


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status, *headers = self.server.answers.pop(0) if self.server.answers else (204,)
        if status < 300:
            self.server.sent.append((self.headers, body))
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_parts): ...


@contextmanager
def chat(*answers):
    with Chat(answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def deliver(store, **options):
    """Run one turn of every webhook, as after a restart, and return the first one and the sender."""
    sender = Webhooks(store, Metrics(), UpkeepLock(store.engine), **({"allow_private": True} | options))
    for each in list_webhooks(store.engine):
        asyncio.run(sender.deliver(each))
    return list_webhooks(store.engine)[0], sender


def texts(sent):
    return [body.decode() for _, body in sent]


@pytest.mark.portable
def test_a_result_message_names_the_winner_the_changes_and_the_reasons(store):
    with chat() as server:
        create_webhook(store.engine, "main", server.url, form="text")
        deliver(store)
        store.submit("main", rows(1, "abc", title="Round 1"))
        deliver(store, address="https://podium.test")
        deliver(store)
    (text,) = texts(server.sent)
    title, *lines = text.splitlines()
    changes = {change.player: change for change in store.event("main", "e1").changes}
    assert title == "Round 1: a won"
    assert lines[-1] == "https://podium.test/main/events/e1"
    assert len(lines) == 4
    assert f"a won and gained {changes['a'].delta:.1f} points." in text
    assert f"Now {changes['a'].rating:.1f}." in text


def test_several_results_share_one_message(store):
    with chat() as server:
        create_webhook(store.engine, "main", server.url, form="text")
        deliver(store)
        store.submit("main", [row for number in range(1, 9) for row in rows(number, "ab")])
        deliver(store)
    (text,) = texts(server.sent)
    assert text.startswith("Tuesday league: 8 new results\n")
    assert re.search(r"^a \+\d+\.\d, now 1,?\d+\.$", text, re.MULTILINE)


@pytest.mark.portable
def test_corrections_new_leaders_and_seasons_are_announced(store):
    for number in range(1, 30):
        store.submit("main", rows(number, "ab"))
    with chat() as server:
        create_webhook(store.engine, "main", server.url, form="text")
        deliver(store)
        store.void("main", "e3")
        store.unvoid("main", "e3")
        store.amend("main", rows(3, "ba"))
        (best,) = store.leaderboard("main", top=1).players
        store.begin_season("main", "2026", datetime(2026, 1, 1, tzinfo=UTC), keep=0.5)
        deliver(store)
        for number in range(40, 100):
            store.submit("main", rows(number, "ba", minute=700_000 + number))
        deliver(store)
        deliver(store)
    voided, again, amended, season, *results = texts(server.sent)
    assert voided.startswith("e3 was voided\nThe ratings of 2 players changed by up to ")
    assert again.startswith("e3 counts again\n")
    assert amended.startswith("e3 was corrected\n")
    assert season.startswith("Tuesday league: the season 2026\na finished the previous season on top with ")
    assert f" on top with {best.rating:.0f}." in season
    assert "b now leads with" in results[0] + results[-1]


def test_tomorrows_races_are_announced_once(store):
    now = datetime.now(UTC)
    store.submit("main", rows(1, "ab"))
    store.plan_fixture("main", "later", starts_at=now + timedelta(days=3), entrants=["a", "b"])
    store.plan_fixture("main", "soon", starts_at=now + timedelta(hours=20), entrants=["a", "b"], title="Round 2")
    with chat() as server:
        create_webhook(store.engine, "main", server.url, form="text")
        deliver(store)
        deliver(store)
        store.plan_fixture("main", "tonight", starts_at=now + timedelta(hours=2))
        deliver(store)
        deliver(store)
    soon, tonight = texts(server.sent)
    assert soon.startswith("Tuesday league: Round 2 is coming up\nIt starts on ")
    assert soon.endswith("Entered: a and b.")
    assert tonight.startswith("Tuesday league: tonight is coming up")


@pytest.mark.parametrize("form", CHATS)
@pytest.mark.parametrize("name", HOSTILE)
def test_names_cannot_mention_or_format_in_a_chat(form, name):
    message = Message(1, f"{name}: {name} won", (f"{name} gained 12.0 points.",), "/main/events/e1", "e1")
    body = FORMS[form](message, "https://podium.test/main/events/e1", Picture(url="https://podium.test/p.png"))
    if form == "text":
        assert "@everyone" not in body.content.decode()
        return
    content = json.loads(body.content)
    if form == "discord":
        check_discord(content)
        shown = content["embeds"][0]["title"]
        assert not re.search(r"(?<!\\)[*_~|`<>@#\[\]]", shown)
        assert message.title.startswith(re.sub(r"\\(.)", r"\1", shown).removesuffix("…"))
    elif form == "slack":
        markup = [each for block in content["blocks"] for each in block.get("elements", [])]
        assert [each["text"] for each in markup] == ["<https://podium.test/main/events/e1|Open in Podium>"]
        assert "<" not in content["text"]
        assert all(block["text"]["type"] == "plain_text" for block in content["blocks"] if "text" in block)
    else:
        assert "@everyone" not in content["text"]
        assert "@room" not in content["html"]
        assert "<b>html" not in content["html"]


def test_hostile_names_arrive_unchanged(store):
    names = [name.replace("\u202e", "") for name in HOSTILE]
    store.submit("main", rows(1, names))
    with chat() as server:
        created = create_webhook(store.engine, "main", server.url, form="discord")
        deliver(store)
        for number in (2, 3):
            store.submit("main", rows(number, names[::-1] if number == 2 else names[5:] + names[:5]))
        deliver(store, address="https://podium.test")
    for headers, body in server.sent:
        content = json.loads(body)
        check_discord(content)
        assert headers["content-type"] == "application/json"
        assert content["embeds"][0]["image"]["url"].startswith("https://podium.test/main/cards/e")
        assert created.secret not in body.decode()
    first, second = (json.loads(body)["embeds"][0] for _, body in server.sent)
    assert first["title"] == f"e2\\: {'a' * 59}… won"
    assert second["title"] == r"e3\: \[link\]\(https\:\/\/evil.example\) won"


def test_long_texts_are_cut_to_discords_limits():
    message = Message(1, "*" * 2_000, tuple("\N{GRINNING FACE}_" * 500 for _ in range(10)), "/main", "")
    content = json.loads(FORMS["discord"](message, "", NO_PICTURE).content)
    check_discord(content)
    assert content["embeds"][0]["title"].endswith("\\*…")
    assert fit("ab", 2, escape_discord) == "ab"
    assert fit("abc", 2, escape_discord) == "a…"
    slack = json.loads(FORMS["slack"](message, "", NO_PICTURE).content)
    assert [len(block["text"]["text"]) <= most for block, most in zip(slack["blocks"], (150, 3_000), strict=True)]


def test_without_an_address_the_result_card_is_attached(store):
    with chat() as server:
        create_webhook(store.engine, "main", server.url, form="discord")
        deliver(store)
        store.submit("main", rows(1, "abc"))
        deliver(store)
    ((headers, body),) = server.sent
    boundary = headers["content-type"].partition("boundary=")[2]
    _, first, second, end = body.split(f"--{boundary}".encode())
    content = json.loads(first.partition(b"\r\n\r\n")[2])
    check_discord(content)
    assert content["embeds"][0]["image"] == {"url": "attachment://result.png"}
    assert b'name="files[0]"; filename="result.png"' in second
    assert second.partition(b"\r\n\r\n")[2].startswith(b"\x89PNG")
    assert end == b"--\r\n"


def test_a_rate_limited_chat_gets_every_message_later(store, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(webhooks.time, "monotonic", lambda: now[0])
    with chat((204,), (429, ("Retry-After", "7.5"))) as server:
        create_webhook(store.engine, "main", server.url, form="text")
        deliver(store)
        for number in (1, 2):
            store.submit("main", rows(number, "ab"))
        first, sender = deliver(store)
        assert first.last_error == "the receiver responded with 429"
        assert not sender.is_due(first)
        now[0] += 7.4
        assert not sender.is_due(first)
        now[0] += 0.2
        assert sender.is_due(first)
        last, _ = deliver(store)  # after a restart
    assert [text.splitlines()[0] for text in texts(server.sent)] == ["e1: a won", "e2: a won"]
    assert (last.delivered_seq, last.failing_since) == (store.version("main"), None)


def test_the_address_of_a_chat_stays_secret(store):
    created = create_webhook(store.engine, "main", "https://discord.com/api/webhooks/12/secret-abcd")
    assert (created.format, created.shown_url) == ("discord", "discord.com/…abcd")
    assert create_webhook(store.engine, "main", "https://example.org/x").format == "json"
    with pytest.raises(podium.ParameterError, match=r"'irc' is not a webhook format\. Use one of json, discord"):
        create_webhook(store.engine, "main", "https://example.org/x", form="irc")


def test_a_test_message_can_be_sent(store):
    with chat() as server:
        created = create_webhook(store.engine, "main", server.url, form="discord")
        asyncio.run(send_test(created, "Tuesday league", allow_private=True))
    content = json.loads(server.sent[0][1])
    check_discord(content)
    assert content["embeds"][0]["title"] == "Tuesday league\\: a test"


def test_a_link_to_an_event_previews_its_result_card(store):
    store.submit("main", rows(1, "abc", title="Round 1"))
    with TestClient(create_app(store, address="https://podium.test")) as visitor:
        page = visitor.get("/main/events/e1").text
        cards = [visitor.get(f"/main/cards/e1.png?theme={theme}") for theme in ("light", "dark")]
        missing = visitor.get("/main/cards/none.png")
        cards += [visitor.get(f"/main/card.png?theme={theme}") for theme in ("light", "dark")]
        board = visitor.get("/main").text
    assert 'property="og:title" content="a won · Round 1 · Tuesday league"' in page
    assert 'property="og:title" content="Leaderboard · Tuesday league"' in board
    assert 'property="og:image" content="https://podium.test/main/card.png"' in board
    assert 'property="og:image" content="https://podium.test/main/cards/e1.png"' in page
    assert [card.headers["content-type"] for card in cards] == ["image/png"] * 4
    assert cards[0].content != cards[1].content
    assert missing.status_code == 404
