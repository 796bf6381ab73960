"""Commands on webhooks: webhook."""

from typing import Annotated

import typer

from podium.cli.service.storing import DEFAULT, Database, PoolName, open_store
from podium.cli.terminal import show
from podium.cli.terminal.helping import App, examples
from podium.cli.terminal.options import Shape
from podium.cli.terminal.show import Format

webhook = App(help="Create, list, resume and delete webhooks.")
Number = Annotated[int, typer.Argument(help="The webhook's number, as list shows it.")]


@webhook.command("create", short_help="Send everything that happens to a ladder to a URL.")
@examples("podium webhook create https://example.org/podium --pool karts")
def create(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The URL to send to.")],
    pool: PoolName,
    url: Database = DEFAULT,
    *,
    private: Annotated[bool, typer.Option("--private", help="The URL may be of a private address.")] = False,
) -> None:
    """Send everything that happens to a ladder to a URL, and show the secret of its signatures."""
    store = open_store(url)
    from podium.service.delivery.posting import is_found
    from podium.store.webhooks import create_webhook, refuse_url

    refuse_url(address)
    if not is_found(address, allow_private=private):
        typer.echo("podium: that name has no address today; what happens is sent when it has one", err=True)
    created = create_webhook(store.engine, pool, address, private=private)
    typer.echo(f"webhook {created.id} sends to {address}; the secret of its signatures is {created.secret}")


@webhook.command("list")
@examples("podium webhook list")
def list_all(url: Database = DEFAULT, form: Shape = Format.table) -> None:
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
