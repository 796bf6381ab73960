"""Format messages for each chat service, within its limits. Markup in names has no effect."""

import json
import re
import secrets
from bisect import bisect_right
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

from podium.service.web.messages import Message


class Body(NamedTuple):
    """The body of a request to a chat service."""

    content: bytes
    content_type: str


class Picture(NamedTuple):
    """A result card: its address if the chat service can fetch it, or else the PNG itself."""

    url: str = ""
    png: bytes = b""


NO_PICTURE = Picture()
Form = Callable[[Message, str, Picture], Body]
INVISIBLE = "\N{ZERO WIDTH SPACE}"


def json_body(content: dict[str, Any]) -> Body:
    return Body(json.dumps(content, ensure_ascii=False).encode(), "application/json")


# Discord: https://discord.com/developers/docs/resources/message#embed-object-embed-limits
DISCORD_TITLE, DISCORD_DESCRIPTION = 256, 4_096
DISCORD_MARKUP = re.compile(r"([\\`*_~|<>@#\[\]():/&-])")


def as_discord(message: Message, url: str, picture: Picture) -> Body:
    """Return a message with one embed. Mentions in it do not notify anyone."""
    title = fit(message.title, DISCORD_TITLE, escape_discord)
    embed: dict[str, Any] = {"title": title}
    if message.lines:
        embed["description"] = fit("\n".join(message.lines), DISCORD_DESCRIPTION, escape_discord)
    if url:
        embed["url"] = url
    content = {"embeds": [embed], "allowed_mentions": {"parse": []}}
    if picture.png:
        embed["image"] = {"url": "attachment://result.png"}
        return with_file(content, picture.png)
    if picture.url:
        embed["image"] = {"url": picture.url}
    return json_body(content)


def escape_discord(text: str) -> str:
    return DISCORD_MARKUP.sub(r"\\\1", text)


def fit(text: str, most: int, change: Callable[[str], str] = str) -> str:
    """Return a text, after changing it, in at most `most` UTF-16 units.

    Text that is too long is shortened before it is changed.
    """

    def cut(keep: int) -> str:
        return change(text[:keep].rstrip()) + "…"

    def units(changed: str) -> int:
        return len(changed.encode("utf-16-le")) // 2

    if units(change(text)) <= most:
        return change(text)
    kept = bisect_right(range(len(text)), most, key=lambda keep: units(cut(keep))) - 1
    return cut(max(kept, 0))


def with_file(content: dict[str, Any], png: bytes) -> Body:
    """Return a multipart body with the message as JSON, and its picture."""
    boundary = secrets.token_hex(16)
    parts = (
        ('name="payload_json"', "application/json", json.dumps(content, ensure_ascii=False).encode()),
        ('name="files[0]"; filename="result.png"', "image/png", png),
    )
    body = b"".join(
        f"--{boundary}\r\nContent-Disposition: form-data; {name}\r\nContent-Type: {kind}\r\n\r\n".encode()
        + data
        + b"\r\n"
        for name, kind, data in parts
    )
    return Body(body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}")


# Slack: https://docs.slack.dev/reference/block-kit/blocks
SLACK_HEADER, SLACK_TEXT, SLACK_ALT = 150, 3_000, 2_000
SLACK_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def as_slack(message: Message, url: str, picture: Picture) -> Body:
    """Return blocks of plain text, in which Slack recognizes neither markup nor mentions."""
    blocks: list[dict[str, Any]] = [{"type": "header", "text": plain_text(message.title, SLACK_HEADER)}]
    if message.lines:
        blocks.append({"type": "section", "text": plain_text("\n".join(message.lines), SLACK_TEXT)})
    if picture.url:
        image = {"type": "image", "image_url": picture.url, "alt_text": fit(message.title, SLACK_ALT)}
        blocks.append(image)
    if url:
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": f"<{url}|Open in Podium>"}]})
    shown = fit(message.title, SLACK_TEXT, lambda text: "".join(SLACK_MARKUP.get(letter, letter) for letter in text))
    return json_body({"text": shown, "mrkdwn": False, "blocks": blocks})


def plain_text(text: str, most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": fit(text, most), "emoji": False}


MATRIX_TEXT = 8_000  # a Matrix event has up to 64 KB, far more than the HTML and text of a message


def as_matrix(message: Message, url: str, _picture: Picture) -> Body:
    """Return a body for the generic webhooks of matrix-hookshot."""
    lines = [fit(line, MATRIX_TEXT, without_mentions) for line in (message.title, *message.lines)]
    text = "\n".join([*lines, url] if url else lines)
    parts = [f"<strong>{escape(lines[0])}</strong>", *map(escape, lines[1:])]
    if url:
        parts.append(f'<a href="{escape(url)}">{escape(url)}</a>')
    return json_body({"text": text, "html": "<br>".join(parts), "username": "Podium"})


def without_mentions(text: str) -> str:
    """Change a text so that names such as @room do not notify anyone."""
    return text.replace("@", f"@{INVISIBLE}")


def as_text(message: Message, url: str, _picture: Picture) -> Body:
    """Return the message as lines of plain text."""
    lines = (message.title, *message.lines, *([url] if url else []))
    return Body("\n".join(map(without_mentions, lines)).encode(), "text/plain; charset=utf-8")


FORMS: dict[str, Form] = {"discord": as_discord, "slack": as_slack, "matrix": as_matrix, "text": as_text}
