"""Commands on the keys to the service: key."""

from typing import Annotated

import typer

from podium.cli.service.storing import DEFAULT, Database, PoolName, open_store
from podium.cli.terminal import show
from podium.cli.terminal.helping import App, examples
from podium.cli.terminal.options import Shape
from podium.cli.terminal.show import Format

key = App(help="Create, list, rotate and revoke keys to the service.")


@key.command("create")
@examples(
    'podium key create "race server 1" --role write --pool karts',
    "podium key create website --role read --rate 5 --days 365",
)
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    role: Annotated[str, typer.Option(help="read, write or admin.")] = "write",
    pool: Annotated[str | None, typer.Option(help="The only ladder it gives access to; all if not given.")] = None,
    rate: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="Requests a second; no limit if not given.")
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0.0, max=36_525.0, help="Days until it expires; never if not given.")
    ] = None,
    reach: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How far back it reaches, like 30d, 12h or 90m; no limit if not given."),
    ] = None,
    url: Database = DEFAULT,
) -> None:
    """Create a key. It is shown only once, and only a digest of it is stored."""
    from datetime import timedelta

    store = open_store(url)
    from podium.store.keys import create_key, parse_reach

    lifetime = None if days is None else timedelta(days=days)
    reach_s = None if reach is None else parse_reach(reach)
    typer.echo(create_key(store.engine, name, role, pool, rate, lifetime=lifetime, reach_s=reach_s))


@key.command("list")
@examples("podium key list")
def list_all(url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List all keys, revoked ones too."""
    import polars as pl

    store = open_store(url)
    from podium.store.keys import list_keys

    texts = ("id", "name", "role", "pool", "created_at", "expires_at", "revoked_at", "last_used_at")
    names = (*texts, "per_second", "reach_s")
    rows = [{name: getattr(each, name) for name in names} for each in list_keys(store.engine)]
    kinds = dict.fromkeys(names, pl.String) | {"id": pl.Int64, "per_second": pl.Float64, "reach_s": pl.Float64}
    show.show(pl.DataFrame(rows, schema=kinds), form)


@key.command("revoke")
@examples("podium key revoke 3")
def revoke(
    number: Annotated[int, typer.Argument(help="The key's number, as list shows it.")], url: Database = DEFAULT
) -> None:
    """Revoke a key: requests with it are refused from now on."""
    store = open_store(url)
    from podium.store.keys import revoke_key

    revoke_key(store.engine, number)
    typer.echo(f"key {number} is revoked")


@key.command("end-sessions", short_help="Sign everybody out of the pages.")
@examples("podium key end-sessions")
def end_sessions(url: Database = DEFAULT) -> None:
    """Sign everybody out of the pages: the secret that signs their cookies is replaced."""
    store = open_store(url)
    from podium.store.keys import rotate_session_secret

    rotate_session_secret(store.engine)
    typer.echo("every session has ended")


@key.command("rotate")
@examples("podium key rotate 3 --grace 60")
def rotate(
    number: Annotated[int, typer.Argument(help="The key's number, as list shows it.")],
    grace: Annotated[
        float, typer.Option(min=0.0, max=525_600.0, help="Minutes for which the old key stays valid.")
    ] = 0.0,
    url: Database = DEFAULT,
) -> None:
    """Replace a key by a new one with the same rights. It is shown only once."""
    from datetime import timedelta

    store = open_store(url)
    from podium.store.keys import rotate_key

    typer.echo(rotate_key(store.engine, number, timedelta(minutes=grace)))


webhook = App(help="Create, list, resume and delete webhooks.")
Number = Annotated[int, typer.Argument(help="The webhook's number, as list shows it.")]


@webhook.command("create", short_help="Send everything that happens to a ladder to a URL.")
@examples("podium webhook create https://example.org/podium --pool karts")
def create_receiver(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The URL to send to.")],
    pool: PoolName,
    url: Database = DEFAULT,
    *,
    private: Annotated[bool, typer.Option("--private", help="The URL may be of a private address.")] = False,
) -> None:
    """Send everything that happens to a ladder to a URL, and show the secret of its signatures."""
    store = open_store(url)
    from podium.service.delivery.webhooks import is_found
    from podium.store.webhooks import create_webhook, refuse_url

    refuse_url(address)
    if not is_found(address, allow_private=private):
        typer.echo("podium: that name has no address today; what happens is sent when it has one", err=True)
    created = create_webhook(store.engine, pool, address, private=private)
    typer.echo(f"webhook {created.id} sends to {address}; the secret of its signatures is {created.secret}")


@webhook.command("list")
@examples("podium webhook list")
def list_receivers(url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the webhooks, and what went wrong with them."""
    import polars as pl

    store = open_store(url)
    from podium.store.webhooks import list_webhooks

    names = ("id", "pool", "url", "delivered_seq", "under_way_since", "failing_since", "last_error", "stopped")
    kinds = dict.fromkeys(names, pl.String) | {"id": pl.Int64, "delivered_seq": pl.Int64, "stopped": pl.Boolean}
    rows = [{name: getattr(each, name) for name in names} for each in list_webhooks(store.engine)]
    show.show(pl.DataFrame(rows, schema=kinds), form)


@webhook.command("resume")
@examples("podium webhook resume 2")
def resume(number: Number, url: Database = DEFAULT) -> None:
    """Send to a webhook again that was stopped, from where it stopped."""
    store = open_store(url)
    from podium.store.webhooks import resume_webhook

    resume_webhook(store.engine, number)
    typer.echo(f"webhook {number} is sent to again")


@webhook.command("delete")
@examples("podium webhook delete 2")
def delete(number: Number, url: Database = DEFAULT) -> None:
    """Send nothing more to a webhook."""
    store = open_store(url)
    from podium.store.webhooks import delete_webhook

    delete_webhook(store.engine, number)
    typer.echo(f"webhook {number} is deleted")
