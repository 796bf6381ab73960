"""Commands for upcoming races: fixture."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from podium.cli.service.storing import ACTOR, POOL_NAME, STORE
from podium.cli.terminal import options, show
from podium.cli.terminal.app import App, Made, flag, option
from podium.cli.terminal.show import Format
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.store import Store
    from podium.views.races.fixtures import Fixture

fixture = App(help="Plan, change, cancel and list upcoming races.")
FIXTURE = Argument(help="ID of the race. Its result is the event with this ID.")


def fixture_as_given(
    starts: str | None = option(
        "Start, such as 2026-06-08T19:00Z; in UTC unless you give a time zone.", "--starts", metavar="TIME"
    ),
    title: str | None = option("Title. An empty string removes it.", "--title"),
    entrants: list[str] | None = option(
        "All entrants. Put quotes around a name that contains a comma. Can be repeated.",
        "--entrants",
        metavar="A,B,...",
    ),
) -> dict[str, Any]:
    from podium.ledger.forecast import names_in
    from podium.ledger.leaderboard import instant

    starts_at = None if starts is None else instant(starts, whole_day=False)
    names = None if entrants is None else [name for row in names_in(entrants) for name in row]
    return {"starts_at": starts_at, "title": title, "entrants": names}


AS_GIVEN: Any = Made(fixture_as_given)


def print_fixture(planned: "Fixture") -> None:
    title = f", {planned.title}" if planned.title else ""
    count = "open to everyone" if planned.entrants is None else f"{len(planned.entrants)} entrants"
    typer.echo(f"{planned.fixture_id}{title}: {planned.status}, {planned.starts_at:%Y-%m-%d %H:%M} UTC, {count}")


@fixture.command("plan", "podium fixture plan race-18 --pool karts --starts 2026-06-08T19:00Z")
def plan(
    fixture_id: str = FIXTURE,
    pool: str = POOL_NAME,
    given: dict[str, Any] = AS_GIVEN,
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Plan a race. Without entrants, it is open to everyone."""
    if given["starts_at"] is None:
        raise ParameterError("the start time is missing. Add, for example, --starts 2026-06-08T19:00Z.")
    print_fixture(store.plan_fixture(pool, fixture_id, **given, actor=actor))


@fixture.command("change", "podium fixture change race-18 --pool karts --starts 2026-06-08T20:00Z")
def change(
    fixture_id: str = FIXTURE,
    pool: str = POOL_NAME,
    given: dict[str, Any] = AS_GIVEN,
    anybody: bool = flag("--anybody", "Remove the entrants, and open the race to everyone."),
    actor: str = ACTOR,
    store: "Store" = STORE,
) -> None:
    """Change the start, title or entrants of a race. A cancelled race is reinstated."""
    store.fixture(pool, fixture_id)
    print_fixture(store.plan_fixture(pool, fixture_id, **given, anybody=anybody, actor=actor))


@fixture.command("cancel", "podium fixture cancel race-18 --pool karts")
def cancel(fixture_id: str = FIXTURE, pool: str = POOL_NAME, actor: str = ACTOR, store: "Store" = STORE) -> None:
    """Cancel a race."""
    print_fixture(store.cancel_fixture(pool, fixture_id, actor=actor))


@fixture.command("list", "podium fixture list --pool karts --ahead")
def list_fixtures(
    pool: str = POOL_NAME,
    ahead: bool = flag("--ahead", "List only races that have not taken place yet."),
    most: int = Option(100, min=1, help="Maximum number of races."),
    store: "Store" = STORE,
    form: Format = options.FORM,
) -> None:
    """List planned races, both upcoming and past, by start time."""
    rows = [
        asdict(race) | {"id": race.fixture_id, "entrants": None if race.entrants is None else len(race.entrants)}
        for race in store.fixtures(pool, ahead=ahead, most=most)
    ]
    kinds = {"id": str, "starts_at": None, "title": str, "entrants": int, "status": str}
    show.show_records(rows, kinds, form)
