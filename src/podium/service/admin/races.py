"""Pages to plan and change races."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import polars as pl
from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from podium.errors import ParameterError, PodiumError, UnknownError
from podium.ledger.forecast import names_in
from podium.ledger.leaderboard import instant
from podium.service.admin.dry_run import look_at
from podium.service.admin.intents import POOL_ADDRESS, Intent, Sender
from podium.service.http.errors import status_of
from podium.service.http.json import FixtureId
from podium.service.http.requests import CurrentStore, run_in
from podium.service.http.visitors import Form
from podium.service.web.rendering import SEE_OTHER, Page, PageRouter, address, pool_address, pool_header, render
from podium.store import Store
from podium.store.writing.fixtures import CANCELLED, TAPS, Fixture, Starter

STATUS_REFUSED = 409
router = PageRouter(prefix=POOL_ADDRESS + "/races", include_in_schema=False)


@dataclass(frozen=True, slots=True)
class RaceForm:
    """The content of the form of a race, as entered."""

    race_id: str = ""
    name: str = ""
    starts: str = ""  # UTC
    entrants: str = ""  # one per line
    anybody: bool = False

    @classmethod
    def of(cls, planned: Fixture) -> "RaceForm":
        names = "\n".join(each.player for each in planned.entrants or ())
        starts = f"{planned.starts_at:%Y-%m-%dT%H:%M}"
        return cls(planned.fixture_id, planned.title or "", starts, names, planned.entrants is None)

    @classmethod
    def sent(cls, form: Form, race_id: str) -> "RaceForm":
        name, starts, entrants = (form.text(each).strip() for each in ("name", "starts", "entrants"))
        return cls(race_id, name, starts, entrants, form.text("anybody") == "yes")

    def changes(self) -> dict[str, Any]:
        """Return the changes for the store."""
        if not self.starts:
            raise ParameterError("the start of the race is missing. Enter it")
        names = [name for row in names_in(self.entrants.splitlines()) for name in row]
        starts_at = instant(self.starts, whole_day=False)
        return {"starts_at": starts_at, "title": self.name, "entrants": names, "anybody": self.anybody}


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceFormPage(Page, template="race_form.html"):
    form: RaceForm
    is_new: bool
    is_cancelled: bool = False
    refusal: str = ""


@router.page("")
def new_race(request: Request, admission: Sender, store: CurrentStore) -> Response:
    page = RaceFormPage(title="Plan a race", pool=pool_header(store.pool(admission.pool)), form=RaceForm(), is_new=True)
    return render(request, page)


@router.page("/{fixture_id}")
def planned_race(request: Request, admission: Sender, fixture_id: FixtureId, store: CurrentStore) -> Response:
    planned = store.fixture(admission.pool, fixture_id)
    page = RaceFormPage(
        title=f"Change {fixture_id}",
        pool=pool_header(store.pool(admission.pool)),
        form=RaceForm.of(planned),
        is_new=False,
        is_cancelled=planned.status == CANCELLED,
    )
    return render(request, page)


@router.post("")
async def plan(request: Request, admission: Sender, store: CurrentStore) -> Response:
    """Plan a race. An existing race is not changed."""
    form = await admission.form(request)
    sent = RaceForm.sent(form, form.text("race_id").strip())
    return await keep(request, admission, store, sent, is_new=True)


@router.post("/{fixture_id}")
async def change(request: Request, admission: Sender, fixture_id: FixtureId, store: CurrentStore) -> Response:
    """Change a planned race. A cancelled race takes place again."""
    return await keep(request, admission, store, RaceForm.sent(await admission.form(request), fixture_id), is_new=False)


@router.post("/{fixture_id}/cancel")
async def cancel(request: Request, admission: Sender, fixture_id: FixtureId, store: CurrentStore) -> Response:
    """Cancel a race."""
    await admission.form(request)
    act = store.cancel_fixture
    await run_in(request.app.state.threads.writing, act, admission.pool, fixture_id, actor=admission.key.name)
    return RedirectResponse(pool_address(admission.pool, "matches", fixture_id), SEE_OTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesPage(Page, template="places.html"):
    """The page to tap names in the order of the finish."""

    title: str = "Places"
    race: Fixture
    places: list[list[str]]  # sides with a place
    out: list[list[str]]
    waiting: list[list[str]]  # sides without a place yet
    refusal: str = ""


@router.page("/{fixture_id}/places")
def places_page(request: Request, admission: Sender, fixture_id: FixtureId, store: CurrentStore) -> Response:
    """Show the names to tap, and the places so far."""
    return places_response(request, store, admission.pool, fixture_id)


def places_response(request: Request, store: Store, pool: str, fixture_id: str, refusal: str = "") -> Response:
    planned, stands = store.fixture(pool, fixture_id), store.places(pool, fixture_id)
    places, out, waiting = planned.standing(stands.places, stands.out) if stands else planned.standing()
    header = pool_header(store.pool(pool))
    page = PlacesPage(pool=header, race=planned, places=places, out=out, waiting=waiting, refusal=refusal)
    return render(request, page, status=STATUS_REFUSED if refusal else 200)


@router.post("/{fixture_id}/places")
async def tap(request: Request, admission: Sender, fixture_id: FixtureId, store: CurrentStore) -> Response:
    """Accept a tap: the next finisher, a player who is out, or the undo of a tap."""
    form = await admission.form(request)
    taps = [(what, form.text(what)) for what in TAPS if form.text(what)]

    def take() -> Response:
        try:
            for what, name in taps:
                store.tap(admission.pool, fixture_id, what, name)
        except PodiumError as error:
            return places_response(request, store, admission.pool, fixture_id, str(error))
        return RedirectResponse(address("admin", admission.pool, "races", fixture_id, "places"), SEE_OTHER)

    return await run_in(request.app.state.threads.writing, take)


@router.post("/{fixture_id}/result")
async def make_result(request: Request, admission: Sender, fixture_id: FixtureId, store: CurrentStore) -> Response:
    """Preview the current places as the result. Nothing is stored before it is applied."""
    await admission.form(request)
    planned = await run_in_threadpool(store.fixture, admission.pool, fixture_id)
    stands = await run_in_threadpool(store.places, admission.pool, fixture_id)
    if stands is None:
        raise ParameterError("there are no places yet. Tap the names in the order of the finish")
    pool = await run_in_threadpool(store.pool, admission.pool)
    shared = {"event_id": fixture_id}
    shared |= {} if pool.is_undated else {"started_at": planned.starts_at.isoformat()}
    shared |= {"title": planned.title} if planned.title else {}
    in_place, gone, _ = planned.standing(stands.places, stands.out)
    ends: list[tuple[str, dict[str, Any]]]
    ends = [(name, {"position": place}) for place, side in enumerate(in_place, 1) for name in side]
    ends += [(name, {"status": "dnf"}) for side in gone for name in side]
    starters = {each.player: each for each in planned.entrants or ()}
    rows = [shared | {"player": name} | end | plan_of(starters.get(name)) for name, end in ends]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return await look_at(request, store, admission, Intent("submit", {"rows": frame, "names": {}}))


def plan_of(starter: Starter | None) -> dict[str, str]:
    """Return the planned values of an entrant for the result: team, side and equipment."""
    if starter is None:
        return {}
    shared = {f"shared:{kind}": name for kind, name in (starter.shared or {}).items()}
    return {name: value for name, value in (("team", starter.team), ("side", starter.side)) if value} | shared


async def keep(request: Request, admission: Any, store: Store, sent: RaceForm, *, is_new: bool) -> Response:
    """Store the plan, or show the form again with its error."""
    try:
        if is_new:
            with suppress(UnknownError):
                await run_in_threadpool(store.fixture, admission.pool, sent.race_id)
                raise ParameterError(f"there is already a race {sent.race_id!r}. Change it, or choose another ID")
        threads, changes = request.app.state.threads.writing, sent.changes()
        await run_in(threads, store.plan_fixture, admission.pool, sent.race_id, **changes, actor=admission.key.name)
    except PodiumError as error:
        pool = pool_header(await run_in_threadpool(store.pool, admission.pool))
        page = RaceFormPage(title="Plan a race", pool=pool, form=sent, is_new=is_new, refusal=str(error))
        return render(request, page, status=status_of(error))
    return RedirectResponse(pool_address(admission.pool, "matches", sent.race_id), SEE_OTHER)
