"""The `verify` command, which compares a database with its log."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from podium.cli.service.storing import DATABASE, STORE
from podium.cli.terminal import show
from podium.cli.terminal.app import examples, option
from podium.errors import ParameterError, PodiumError

if TYPE_CHECKING:
    from podium.log.log import Head
    from podium.store import Store


class NotVerifiedError(PodiumError):
    """Stored ratings differ from the log."""

    exit_status: ClassVar[int] = 1


def read_heads(text: str) -> "list[Head]":
    """Return the heads in the file with this name. If the file does not exist, return the head in the text."""
    from podium.log.chain import parse_head

    path = Path(text)
    if not path.is_file():
        return [parse_head(text)]
    try:
        heads = [parse_head(head) for head in heads_in(parse(path.read_text(encoding="utf-8")))]
    except (OSError, ValueError) as error:
        raise ParameterError(f"{path}: cannot be read ({error})") from None
    if not heads:
        raise ParameterError(f"{path}: has no receipt with a head")
    return heads


def parse(content: str) -> Any:
    """Return the JSON document in a file or, if each line is a document, in the first line."""
    try:
        return json.loads(content)
    except ValueError:
        return json.loads(content.partition("\n")[0])


def heads_in(value: Any) -> Iterator[str]:
    """Yield the heads of receipts, or of an export's first line."""
    if isinstance(value, list):
        for item in value:
            yield from heads_in(item)
    elif isinstance(value, dict):
        if {"place", "hash"} <= value.keys():
            yield f"{value['place']}:{value['hash']}"
        else:
            yield from heads_in(value.get("head"))


@examples("podium verify", "podium verify --pool karts --head receipt.json")
def verify(
    pool: str | None = option("Pool [default: all].", "--pool"),
    head: list[str] | None = option(
        "A file with a receipt, or PLACE:HASH. This must be the log's current head, or one of its"
        " earlier heads. Can be repeated.",
        metavar="RECEIPT",
    ),
    url: str = DATABASE,
    store: "Store" = STORE,
) -> None:
    """Check the hash chain, recalculate everything from the log, and compare it exactly with the stored ratings."""
    heads = [found for text in head or [] for found in read_heads(text)]
    with show.progress("rating again"):
        verification = store.verification(pool, heads)
    if verification.findings:
        lines = [*verification.findings, f"compared: {verification}", *verification.heads]
        raise NotVerifiedError("\n".join(lines))
    if not verification.pools:
        raise NotVerifiedError(f"{url}: there are no pools to compare")
    typer.echo(f"{url}: everything stored matches the log ({verification})")
    for note in (*verification.heads, *key_notes(store)):
        typer.echo(note)


def key_notes(store: "Store") -> list[str]:
    """Return a line with the keys in use. The log does not contain them, so an admin must check them."""
    from podium.store.keys import list_keys

    keys = [
        f"{key.id} {key.name} ({key.role}, {key.pool or 'all pools'})"
        for key in list_keys(store.engine)
        if not key.revoked
    ]
    return [f"keys in use: {', '.join(keys)}"] if keys else []
