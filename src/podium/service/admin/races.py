"""Pages for planning and changing races."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from podium.errors import ParameterError, UnknownError
from podium.ledger.forecast import names_in
from podium.log.players import known_numbers
from podium.service.admin.forms import Done, acts, moment_in, shows
from podium.service.admin.intents import POOL_ADDRESS, Admission, Sender
from podium.service.admin.tonight import MAX_NAMES
from podium.service.http.visitors import Form
from podium.service.web.rendering import Page, PageRouter
from podium.store import Store
from podium.views.races.fixtures import CANCELLED

RACE = "/{fixture_id}"
router = PageRouter(prefix=POOL_ADDRESS + "/races", include_in_schema=False)


def written(form: Form) -> dict[str, str]:
    """Return the content of a race's form, with one entrant per line and the start in the pool's time zone."""
    return {name: form.stripped(name) for name in ("name", "starts", "entrants", "anybody")}


@shows(router, "", Sender)
def new_race(admission: Admission, form: Form) -> Page:
    race_id = form.stripped("race_id")
    return race_page(admission, "Plan a race", race_id, written(form), is_new=True)


@shows(router, RACE, Sender)
def planned_race(admission: Admission, form: Form) -> Page:
    race_id = form.text("fixture_id")
    if "token" in form.fields:  # the form was sent and rejected
        return race_page(admission, "Plan a race", race_id, written(form), is_new=False)
    planned = admission.store.fixture(admission.pool, race_id)
    content = {
        "name": planned.title or "",
        "starts": f"{planned.starts_at.astimezone(admission.header.zone):%Y-%m-%dT%H:%M}",
        "entrants": "\n".join(entrant.player for entrant in planned.entrants or ()),
        "anybody": "yes" if planned.entrants is None else "",
    }
    is_cancelled = planned.status == CANCELLED
    title = f"Change {planned.title or race_id}"
    return race_page(admission, title, race_id, content, is_new=False, is_cancelled=is_cancelled)


def race_page(
    admission: Admission, title: str, race_id: str, content: dict[str, str], *, is_new: bool, is_cancelled: bool = False
) -> Page:
    return Page(
        "race_form.html",
        title,
        pool=admission.header,
        race_id=race_id,
        form=content,
        names=admission.store.frequent_players(admission.pool, MAX_NAMES),
        is_new=is_new,
        is_cancelled=is_cancelled,
        refusal="",
    )


@acts(router, "", new_race, Sender)
def plan(admission: Admission, form: Form) -> Done:
    """Plan a race. If the race already exists, it is not changed."""
    content = written(form)
    race_id = form.stripped("race_id") or f"{content['name']} {content['starts'].partition('T')[0]}".strip()
    with suppress(UnknownError):
        admission.store.fixture(admission.pool, race_id)
        raise ParameterError(f"there is already a race {race_id!r}. Change it, or choose another ID")
    return keep(admission, race_id, form, {})


@acts(router, RACE, planned_race, Sender)
def change(admission: Admission, form: Form) -> Done:
    """Change a planned race. If the race was cancelled, reinstate it."""
    race = admission.store.fixture(admission.pool, form.text("fixture_id"))
    return keep(admission, race.fixture_id, form, {each.player: asdict(each) for each in race.entrants or ()})


def names_of_lines(admission: Admission, text: str) -> list[str]:
    """Return the names in a text. Commas separate names, except in a line that is the name of a known player."""
    lines = [line.strip() for line in text.splitlines()]
    with admission.store.reading(admission.pool) as pool:
        known = known_numbers(pool, lines)
    return [name for line in lines for row in ([[line]] if line in known else names_in([line])) for name in row]


def keep(admission: Admission, race_id: str, form: Form, planned: Mapping[str, Any]) -> Done:
    """Plan a race. The entrants in `planned` keep their teams, sides and equipment."""
    content = written(form)
    if not content["starts"]:
        raise ParameterError("the start time of the race is missing. Enter it")
    admission.write(
        Store.plan_fixture,
        race_id,
        starts_at=moment_in(content["starts"], admission.header.zone),
        title=content["name"],
        entrants=[planned.get(name, name) for name in names_of_lines(admission, content["entrants"])],
        anybody=content["anybody"] == "yes",
    )
    return Done(admission.path("matches", race_id))


@acts(router, RACE + "/cancel", admission_of=Sender)
def cancel(admission: Admission, form: Form) -> Done:
    race_id = form.text("fixture_id")
    admission.write(Store.cancel_fixture, race_id)
    return Done(admission.path("matches", race_id))
