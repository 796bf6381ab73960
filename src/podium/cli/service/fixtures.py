"""Commands on races to come: planned, changed, cancelled, listed."""

from datetime import datetime
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from podium.cli.service.storing import ACTOR, POOL_NAME, STORE
from podium.cli.terminal import options, show
from podium.cli.terminal.app import App
from podium.cli.terminal.show import Format
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.store import Store
    from podium.store.writing.fixtures import Fixture

fixture = App(help="Plan, change, cancel and list races to come.")
FIXTURE = Argument(help="The race's id; its result is the event of this id.")
STARTS = Option(None, "--starts", metavar="TIME", help="When it starts, like 2026-06-08T19:00Z; UTC without a zone.")
TITLE = Option(None, "--title", help="What people call it; an empty one is removed.")
ENTRANTS = Option(
    None, "--entrants", metavar="A,B,...", help="All who start; quote a name with a comma in it. May repeat."
)


def names_of(entrants: list[str] | None) -> list[str] | None:
    """The names of all who start; None where none are given."""
    from podium.ledger.forecast import names_in

    return None if entrants is None else [name for row in names_in(entrants) for name in row]


def moment(text: str | None) -> datetime | None:
    """A moment that is written in ISO 8601."""
    from podium.ledger.leaderboard import instant

    return None if text is None else instant(text, whole_day=False)


def print_fixture(planned: "Fixture") -> None:
    title = f", {planned.title}" if planned.title else ""
    count = "whoever comes" if planned.entrants is None else f"{len(planned.entrants)} entrants"
    typer.echo(f"{planned.fixture_id}{title}: {planned.status}, {planned.starts_at:%Y-%m-%d %H:%M} UTC, {count}")


@fixture.command("plan", "podium fixture plan race-18 --pool karts --starts 2026-06-08T19:00Z")
def plan(
    fixture_id: str = FIXTURE,
    pool: str = POOL_NAME,
    starts: str | None = STARTS,
    title: str | None = TITLE,
    entrants: list[str] | None = ENTRANTS,
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Plan a race; without entrants whoever comes starts."""
    if starts is None:
        raise ParameterError("say when it starts, with --starts 2026-06-08T19:00Z")
    start, names = moment(starts), names_of(entrants)
    print_fixture(store.plan_fixture(pool, fixture_id, starts_at=start, title=title, entrants=names, actor=actor))


@fixture.command("change", "podium fixture change race-18 --pool karts --starts 2026-06-08T20:00Z")
def change(
    fixture_id: str = FIXTURE,
    pool: str = POOL_NAME,
    starts: str | None = STARTS,
    title: str | None = TITLE,
    entrants: list[str] | None = ENTRANTS,
    anybody: bool = Option(False, "--anybody", help="It has no entrants any more: whoever comes starts."),
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Move a race, name it, or let others start; one that was cancelled takes place again."""
    store.fixture(pool, fixture_id)
    start, names = moment(starts), names_of(entrants)
    planned = store.plan_fixture(
        pool, fixture_id, starts_at=start, title=title, entrants=names, anybody=anybody, actor=actor
    )
    print_fixture(planned)


@fixture.command("cancel", "podium fixture cancel race-18 --pool karts")
def cancel(fixture_id: str = FIXTURE, pool: str = POOL_NAME, actor: str = ACTOR, store: "Store" = STORE) -> None:
    """Say that a race will not take place."""
    print_fixture(store.cancel_fixture(pool, fixture_id, actor=actor))


@fixture.command("list", "podium fixture list --pool karts --ahead")
def list_fixtures(
    pool: str = POOL_NAME,
    ahead: bool = Option(False, "--ahead", help="Only those that may still take place."),
    most: int = Option(100, min=1, help="At most so many."),
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """List races to come and those that were planned, the first to start first."""
    import polars as pl

    rows = [
        {
            "id": each.fixture_id,
            "starts_at": each.starts_at,
            "title": each.title,
            "entrants": None if each.entrants is None else len(each.entrants),
            "status": each.status,
        }
        for each in store.fixtures(pool, ahead=ahead, most=most)
    ]
    show.show(pl.DataFrame(rows, schema_overrides={"title": pl.String, "entrants": pl.Int64}), form)
