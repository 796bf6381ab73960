"""Commands on webhooks: webhook."""

from typing import Annotated

import typer

from podium.cli import show
from podium.cli.options import Shape
from podium.cli.show import Format
from podium.cli.storing import DEFAULT, Database, PoolName, open_store

webhook = typer.Typer(help="Create, list, resume and delete webhooks.", no_args_is_help=True, rich_markup_mode=None)
Number = Annotated[int, typer.Argument(help="The webhook's number, as list shows it.")]


@webhook.command("create")
def create(
    url: Annotated[str, typer.Argument(metavar="ADDRESS", help="The URL to send to.")],
    pool: PoolName,
    database: Database = DEFAULT,
) -> None:
    """Send everything that happens to a ladder to a URL, and show the secret of its signatures."""
    store = open_store(database)
    from podium.store.webhooks import create_webhook

    created = create_webhook(store.engine, pool, url)
    typer.echo(f"webhook {created.id} sends to {url}; the secret of its signatures is {created.secret}")


@webhook.command("list")
def list_all(database: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the webhooks, and what went wrong with them."""
    import polars as pl

    store = open_store(database)
    from podium.store.webhooks import list_webhooks

    names = ("id", "pool", "url", "delivered_seq", "failing_since", "last_error", "stopped")
    kinds = dict.fromkeys(names, pl.String) | {"id": pl.Int64, "delivered_seq": pl.Int64, "stopped": pl.Boolean}
    rows = [{name: getattr(each, name) for name in names} for each in list_webhooks(store.engine)]
    show.show(pl.DataFrame(rows, schema=kinds), form)


@webhook.command("resume")
def resume(number: Number, database: Database = DEFAULT) -> None:
    """Send to a webhook again that was stopped, from where it stopped."""
    store = open_store(database)
    from podium.store.webhooks import resume_webhook

    resume_webhook(store.engine, number)
    typer.echo(f"webhook {number} is sent to again")


@webhook.command("delete")
def delete(number: Number, database: Database = DEFAULT) -> None:
    """Send nothing more to a webhook."""
    store = open_store(database)
    from podium.store.webhooks import delete_webhook

    delete_webhook(store.engine, number)
    typer.echo(f"webhook {number} is deleted")
