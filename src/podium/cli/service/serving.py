"""The command of the service: serve."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli.service.storing import DEFAULT, Database, open_store
from podium.cli.terminal.helping import examples
from podium.errors import PodiumError, needs_extra
from podium.support.collector import keep_loaded

if TYPE_CHECKING:
    from podium.store import Store


@examples(
    "podium serve",
    "podium serve --db karts.db --port 8080 --key-file admin.key",
    "podium serve --db postgresql+psycopg://podium@localhost/podium --workers 4",
)
def serve(
    url: Database = DEFAULT,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
    key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the first admin key to this new file, for its owner's eyes only."),
    ] = None,
    trusted_proxies: Annotated[
        list[str] | None,
        typer.Option(
            "--trusted-proxy",
            metavar="ADDRESS",
            help="Believe this proxy's X-Forwarded-For; an address or a network. May repeat.",
        ),
    ] = None,
    log_requests: Annotated[bool, typer.Option(help="Log each request, as a line of JSON.")] = True,
    private_webhooks: Annotated[
        bool, typer.Option("--private-webhooks", help="Send webhooks to private addresses, too.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes that serve; more than one with PostgreSQL only.")
    ] = 1,
) -> None:
    """Serve the HTTP API; the first admin key is shown only once."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # small tables: handing them to threads costs more than it saves
    with needs_extra("service", "the service"):
        import uvicorn  # noqa: F401  (who has none hears of it before all the rest is loaded)

        from podium.service import create_app
        from podium.service.server import run
        from podium.service.workers import WorkerSettings, prepare_kernels, refuse_workers, run_workers
        from podium.store.upgrade import upgrade_pools
    if workers > 1:
        refuse_workers(url, workers)
    store = open_store(url, create=True)
    for each in upgrade_pools(store.engine, "podium serve"):
        typer.echo(str(each), err=bool(each.error))
    create_first_key(store, key_file)
    typer.echo(f"Podium listens on http://{host}:{port}; http://{host}:{port}/api/docs describes the API")
    if workers > 1:
        prepare_kernels(store)
        store.close()
        settings = WorkerSettings(url, private_webhooks=private_webhooks, log_requests=log_requests)
        run_workers(settings, workers, host, port, trusted_proxies or ())
        return
    request_log = sys.stderr if log_requests else None
    app = create_app(store, daily=True, close=True, private_webhooks=private_webhooks, request_log=request_log)
    keep_loaded()
    run(app, host, port, trusted_proxies or ())


def create_first_key(store: "Store", key_file: Path | None) -> None:
    """Create an admin key where there is no key yet, and show it, or write it to a file that only its owner reads.

    Raises:
        PodiumError: the file exists, or cannot be written.
    """
    from podium.store.keys import create_key, list_keys

    if list_keys(store.engine):
        return
    if key_file is None:
        typer.echo(f"The first admin key, shown only once: {create_key(store.engine, 'first admin', 'admin')}")
        return
    try:
        descriptor = os.open(key_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise PodiumError(f"{key_file} exists; the first admin key is written to a new file only") from None
    except OSError as error:
        raise PodiumError(f"{key_file}: the first admin key cannot be written ({error.strerror})") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(create_key(store.engine, "first admin", "admin") + "\n")
    typer.echo(f"The first admin key is in {key_file}")
