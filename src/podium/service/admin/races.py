"""Pages for planning and changing races, and for tapping their places."""

from contextlib import suppress
from typing import Any

import polars as pl
from fastapi import Response
from fastapi.responses import RedirectResponse

from podium.errors import ParameterError, PodiumError, UnknownError
from podium.ledger.forecast import names_in
from podium.ledger.leaderboard import instant
from podium.service.admin.forms import Done, acts, shows
from podium.service.admin.intents import POOL_ADDRESS, ROWS, Admission, Intent, Sender
from podium.service.http.requests import run_in
from podium.service.http.visitors import Form
from podium.service.web.rendering import SEE_OTHER, Page, PageRouter, path_of, pool_address, render
from podium.store.writing.fixtures import CANCELLED, TAPS, Fixture, Starter

STATUS_REFUSED = 409
RACE, PLACES = "/{fixture_id}", "/{fixture_id}/places"
router = PageRouter(prefix=POOL_ADDRESS + "/races", include_in_schema=False)


def written(form: Form) -> dict[str, str]:
    """Return the content of a race's form, with one entrant per line, and the start in the pool's time zone."""
    return {name: form.text(name).strip() for name in ("name", "starts", "entrants", "anybody")}


@shows(router, "", Sender)
def new_race(admission: Admission, form: Form) -> Page:
    race_id = form.text("race_id").strip()
    return race_page(admission, "Plan a race", race_id, written(form), is_new=True)


@shows(router, RACE, Sender)
def planned_race(admission: Admission, form: Form) -> Page:
    race_id = form.text("fixture_id")
    if "token" in form.fields:  # the form was sent, but rejected
        return race_page(admission, "Plan a race", race_id, written(form), is_new=False)
    planned = admission.store.fixture(admission.pool, race_id)
    content = {
        "name": planned.title or "",
        "starts": f"{planned.starts_at.astimezone(admission.header.zone):%Y-%m-%dT%H:%M}",
        "entrants": "\n".join(entrant.player for entrant in planned.entrants or ()),
        "anybody": "yes" if planned.entrants is None else "",
    }
    is_cancelled = planned.status == CANCELLED
    return race_page(admission, f"Change {race_id}", race_id, content, is_new=False, is_cancelled=is_cancelled)


def race_page(
    admission: Admission, title: str, race_id: str, content: dict[str, str], *, is_new: bool, is_cancelled: bool = False
) -> Page:
    return Page(
        "race_form.html",
        title=title,
        pool=admission.header,
        race_id=race_id,
        form=content,
        is_new=is_new,
        is_cancelled=is_cancelled,
        refusal="",
    )


@acts(router, "", new_race, Sender)
def plan(admission: Admission, form: Form) -> Done:
    """Plan a race. If the race already exists, it is not changed."""
    race_id = form.text("race_id").strip()
    with suppress(UnknownError):
        admission.store.fixture(admission.pool, race_id)
        raise ParameterError(f"there is already a race {race_id!r}. Change it, or choose another ID")
    return keep(admission, race_id, form)


@acts(router, RACE, planned_race, Sender)
def change(admission: Admission, form: Form) -> Done:
    """Change a planned race. If the race was cancelled, reinstate it."""
    return keep(admission, form.text("fixture_id"), form)


def keep(admission: Admission, race_id: str, form: Form) -> Done:
    content = written(form)
    if not content["starts"]:
        raise ParameterError("the start of the race is missing. Enter it")
    admission.store.plan_fixture(
        admission.pool,
        race_id,
        starts_at=instant(content["starts"], whole_day=False, zone=admission.header.zone),
        title=content["name"],
        entrants=[name for row in names_in(content["entrants"].splitlines()) for name in row],
        anybody=content["anybody"] == "yes",
        actor=admission.key.name,
    )
    return Done(pool_address(admission.pool, "matches", race_id))


@acts(router, RACE + "/cancel", admission_of=Sender)
def cancel(admission: Admission, form: Form) -> Done:
    race_id = form.text("fixture_id")
    admission.store.cancel_fixture(admission.pool, race_id, actor=admission.key.name)
    return Done(pool_address(admission.pool, "matches", race_id))


@shows(router, PLACES, Sender)
def places_page(admission: Admission, form: Form) -> Page:
    """Return the page for tapping names in finishing order, which also shows the places so far."""
    race, in_place, out, waiting = standing(admission, form)
    return Page(
        "places.html",
        title="Places",
        pool=admission.header,
        race=race,
        places=in_place,
        out=out,
        waiting=waiting,  # sides that do not have a place yet
        refusal="",
    )


def standing(admission: Admission, form: Form) -> tuple[Fixture, list[list[str]], list[list[str]], list[list[str]]]:
    """Return a race with its sides that have a place, those that are out, and those that do not have a place yet."""
    race_id = form.text("fixture_id")
    race, stands = admission.store.fixture(admission.pool, race_id), admission.store.places(admission.pool, race_id)
    return race, *(race.standing(stands.places, stands.out) if stands else race.standing())


@router.post(PLACES)
async def tap(admission: Sender) -> Response:
    """Accept a tap: the next finisher, a player who is out, or undoing an earlier tap."""
    form = await admission.form()
    taps = [(what, form.text(what)) for what in TAPS if form.text(what)]

    def take() -> Response:
        try:
            for what, name in taps:
                admission.store.tap(admission.pool, form.text("fixture_id"), what, name)
        except PodiumError as error:
            page = places_page(admission, form)
            page.refusal = str(error)
            return render(admission.request, page, status=STATUS_REFUSED)
        return RedirectResponse(path_of(admission.request), SEE_OTHER)

    return await run_in(admission.threads.writing, take)


@acts(router, RACE + "/result", admission_of=Sender)
def make_result(admission: Admission, form: Form) -> Intent:
    """Preview the current places as the race's result. Nothing is stored until the preview is confirmed."""
    race, in_place, out, _ = standing(admission, form)
    if not in_place and not out:
        raise ParameterError("there are no places yet. Tap the names in finishing order")
    shared: dict[str, Any] = {"event_id": race.fixture_id}
    if not admission.store.pool(admission.pool).is_undated:
        shared["started_at"] = race.starts_at.isoformat()
    if race.title:
        shared["title"] = race.title
    ends: list[tuple[str, dict[str, Any]]]
    ends = [(name, {"position": place}) for place, side in enumerate(in_place, 1) for name in side]
    ends += [(name, {"status": "dnf"}) for side in out for name in side]
    starters = {entrant.player: entrant for entrant in race.entrants or ()}
    rows = [shared | {"player": name} | end | plan_of(starters.get(name)) for name, end in ends]
    return Intent("submit", {ROWS: pl.DataFrame(rows, infer_schema_length=None), "names": {}})


def plan_of(starter: Starter | None) -> dict[str, str]:
    """Return the values that were planned for an entrant, for use in the result: team, side and equipment."""
    if starter is None:
        return {}
    shared = {f"shared:{kind}": name for kind, name in (starter.shared or {}).items()}
    return {name: value for name, value in (("team", starter.team), ("side", starter.side)) if value} | shared
