"""Commands for the service's keys and webhooks: key, webhook."""

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from podium.cli.service.storing import POOL_NAME, STORE
from podium.cli.terminal import options, show
from podium.cli.terminal.app import App, flag, option
from podium.cli.terminal.show import Format

if TYPE_CHECKING:
    from podium.store import Store

key = App(help="Create, list, rotate and revoke keys for the service.")


@key.command(
    "create",
    'podium key create "race server 1" --role write --pool karts',
    "podium key create website --role read --rate 5 --days 365",
)
def create(
    name: str = Argument(help="Owner of the key."),
    role: str = Option("write", help="Role: read, write or admin."),
    pool: str | None = option("The only pool that the key gives access to [default: all]."),
    rate: float | None = option("Requests allowed per second [default: no limit].", metavar="NUMBER"),
    days: float | None = option("Days until the key expires [default: never].", min=0.0, max=36_525.0),
    backdating_limit: str | None = option(
        "Maximum age of events that the key can change, such as 30d, 12h or 90m [default: no limit].", metavar="TIME"
    ),
    store: "Store" = STORE,
) -> None:
    """Create a key. It is shown only once, and only a hash of it is saved."""
    from podium.store.keys import create_key, parse_backdating_limit

    lifetime = None if days is None else timedelta(days=days)
    backdating_limit_s = None if backdating_limit is None else parse_backdating_limit(backdating_limit)
    typer.echo(
        create_key(store.engine, name, role, pool, rate, lifetime=lifetime, backdating_limit_s=backdating_limit_s)
    )


@key.command("list", "podium key list")
def list_all(store: "Store" = STORE, form: Format = options.FORM) -> None:
    """List all keys, including revoked ones."""
    from podium.store.keys import list_keys

    texts = ("name", "role", "pool", "created_at", "expires_at", "revoked_at", "last_used_at")
    kinds = {"id": int} | dict.fromkeys(texts, str) | dict.fromkeys(("per_second", "backdating_limit_s"), float)
    show.show_records(list_keys(store.engine), kinds, form)


@key.command("revoke", "podium key revoke 3")
def revoke(number: int = Argument(help="Number of the key, from podium key list."), store: "Store" = STORE) -> None:
    """Revoke a key. Requests with this key are rejected from then on."""
    from podium.store.keys import revoke_key

    revoke_key(store.engine, number)
    typer.echo(f"key {number} is revoked")


@key.command("end-sessions", "podium key end-sessions", short_help="Sign everyone out of the pages.")
def end_sessions(store: "Store" = STORE) -> None:
    """Sign everyone out of the pages, by replacing the secret that signs their cookies."""
    from podium.store.keys import rotate_session_secret

    rotate_session_secret(store.engine)
    typer.echo("all sessions have ended")


@key.command("rotate", "podium key rotate 3 --grace 60")
def rotate(
    number: int = Argument(help="Number of the key, from podium key list."),
    grace: float = Option(0.0, min=0.0, max=525_600.0, help="Number of minutes for which the old key stays valid."),
    store: "Store" = STORE,
) -> None:
    """Replace a key with a new one that has the same rights. The new key is shown only once."""
    from podium.store.keys import rotate_key

    typer.echo(rotate_key(store.engine, number, timedelta(minutes=grace)))


webhook = App(help="Create, list, resume and delete webhooks.")
NUMBER = Argument(help="Number of the webhook, from podium webhook list.")


@webhook.command(
    "create",
    "podium webhook create https://example.org/podium --pool karts",
    "podium webhook create https://discord.com/api/webhooks/1/ab --pool karts",
    short_help="Report everything that happens in a pool to a URL.",
)
def create_receiver(
    address: str = Argument(metavar="ADDRESS", help="URL of the receiver."),
    pool: str = POOL_NAME,
    store: "Store" = STORE,
    *,
    form: str = Option(
        "",
        "--format",
        metavar="FORMAT",
        help="json sends every log entry to a program; discord, slack, matrix and text send short messages to a chat."
        " By default, the URL decides.",
        autocompletion=options.one_of("json", "discord", "slack", "matrix", "text"),
    ),
    private: bool = flag("--private", "Allow a private address."),
) -> None:
    """Report everything that happens in a pool to a URL: as signed JSON to a program, or as messages to a chat.

    Messages report new results with the largest changes and their reasons, corrections, new leaders, seasons and
    upcoming races.
    """
    from podium.service.webhooks import is_found
    from podium.store.keys import JSON, create_webhook, refuse_url

    refuse_url(address)
    if not is_found(address, allow_private=private):
        show.note("the host name has no address yet. Messages will be sent once it has one")
    created = create_webhook(store.engine, pool, address, form=form, private=private)
    signs = f". The signing secret is {created.secret}" if created.format == JSON else ""
    typer.echo(f"webhook {created.id} sends to {created.shown_url}{signs}")


@webhook.command("list", "podium webhook list")
def list_receivers(store: "Store" = STORE, form: Format = options.FORM) -> None:
    """List the webhooks, with their latest errors."""
    from podium.store.keys import list_webhooks

    names = [
        "id",
        "pool",
        "format",
        "url",
        "delivered_seq",
        "under_way_since",
        "failing_since",
        "last_error",
        "stopped",
    ]
    kinds = dict.fromkeys(names, str) | {"id": int, "delivered_seq": int, "stopped": bool}
    receivers = [{**asdict(webhook), "url": webhook.shown_url} for webhook in list_webhooks(store.engine)]
    show.show_records(receivers, kinds, form)


@webhook.command("resume", "podium webhook resume 2")
def resume(number: int = NUMBER, store: "Store" = STORE) -> None:
    """Resume a stopped webhook where it left off."""
    from podium.store.keys import resume_webhook

    resume_webhook(store.engine, number)
    typer.echo(f"webhook {number} is resumed")


@webhook.command("delete", "podium webhook delete 2")
def delete(number: int = NUMBER, store: "Store" = STORE) -> None:
    """Delete a webhook."""
    from podium.store.keys import delete_webhook

    delete_webhook(store.engine, number)
    typer.echo(f"webhook {number} is deleted")
