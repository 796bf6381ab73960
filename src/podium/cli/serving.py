"""Commands of the service: serve, key."""

import os
from typing import Annotated

import typer

from podium.cli import show
from podium.cli.options import Shape
from podium.cli.show import Format
from podium.cli.storing import DEFAULT, Database, opened
from podium.errors import ParameterError

key = typer.Typer(help="Make, list and revoke keys to the service.", no_args_is_help=True, rich_markup_mode=None)


def serve(
    url: Database = DEFAULT,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
) -> None:
    """Serve the HTTP API; a first admin key is printed once."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # small tables: handing them to threads costs more than it saves
    try:
        import uvicorn

        from podium.service import create_app
        from podium.store.keys import create_key, list_keys
    except ImportError:
        raise ParameterError("the service needs an extra: pip install 'podium-ratings[service]'") from None
    store = opened(url)
    if not list_keys(store.engine):
        typer.echo(f"The first admin key, told this once: {create_key(store.engine, 'first admin', 'admin')}")
    typer.echo(f"Podium listens on http://{host}:{port}; http://{host}:{port}/api/docs describes the API")
    uvicorn.run(create_app(store), host=host, port=port, log_level="warning")


@key.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    role: Annotated[str, typer.Option(help="read, write or admin.")] = "write",
    pool: Annotated[str | None, typer.Option(help="The only ladder it opens; all if not given.")] = None,
    url: Database = DEFAULT,
) -> None:
    """Make a key; it is printed this once, and kept nowhere."""
    store = opened(url)
    from podium.store.keys import create_key

    typer.echo(create_key(store.engine, name, role, pool))


@key.command("list")
def list_all(url: Database = DEFAULT, form: Shape = Format.table) -> None:
    """List the keys there are and were."""
    import polars as pl

    store = opened(url)
    from podium.store.keys import list_keys

    kinds = dict.fromkeys(("name", "role", "pool", "created_at", "revoked_at"), pl.String)
    rows = [
        (each.id, each.name, each.role, each.pool, each.created_at, each.revoked_at) for each in list_keys(store.engine)
    ]
    show.show(pl.DataFrame(rows, schema=kinds, orient="row"), form)


@key.command("revoke")
def revoke(
    number: Annotated[int, typer.Argument(help="The key's number, as list shows it.")], url: Database = DEFAULT
) -> None:
    """Let a key open nothing any more."""
    store = opened(url)
    from podium.store.keys import revoke_key

    revoke_key(store.engine, number)
    typer.echo(f"key {number} opens nothing any more")
