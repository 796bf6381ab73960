"""The page of a player's personal link, where the player reports results, and confirms those that others reported."""

import secrets
from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request, Response

from podium.errors import PodiumError, UnknownError
from podium.log.players import names_of
from podium.service.admin.tonight import (
    ResultForm,
    ResultLine,
    form_page,
    new_result,
    planned_race,
    race_result,
    read_result,
    rows_in,
    sides_of,
    value_column,
)
from podium.service.http.errors import status_of
from podium.service.http.json import decode_name
from podium.service.http.keys import pool_in_path
from podium.service.http.requests import CurrentStore, run_in
from podium.service.http.visitors import Form, read_form, refuse_foreign
from podium.service.web.rendering import PageRouter, go_on, path_of, render
from podium.service.web.visiting import PoolRequest
from podium.store.writing.reports import ENDED
from podium.support.immutable import immutable

NONCE_BYTES = 12
PRIVATE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}
router = PageRouter(include_in_schema=False)


@immutable
class Reporter(PoolRequest):
    """A request with a personal link."""

    number: int  # of the player


async def check_link(request: Request) -> Reporter:
    """Admit visitors with a link that works. Rejected links count for their address."""
    state, pool = request.app.state, pool_in_path(request) or ""
    try:
        link = decode_name(request.path_params["link"])
        number = await run_in(state.threads.keys, state.store.player_with, pool, link)
    except UnknownError:  # also of an unknown pool, because a private pool must not be recognizable
        raise await state.key_guard.refusal(request, 404, ENDED) from None
    return Reporter(request, state.store, pool, number)


CurrentReporter = Annotated[Reporter, Depends(check_link)]


@router.pool_page("/report/{link}")
def show(reporter: CurrentReporter, store: CurrentStore) -> Response:
    return link_page(replace(reporter, store=store))


@router.pool_page("/report/{link}", takes_form=True)
async def send(reporter: CurrentReporter) -> Response:
    """Store a report, or an answer to one."""
    refuse_foreign(reporter.request)
    form = await read_form(reporter.request)
    if form.text("act") == "look":  # the script asks for changes of ratings, which this page does not show
        return Response(status_code=204)
    return await run_in(reporter.request.app.state.threads.writing, store_form, reporter, form)


def store_form(reporter: Reporter, form: Form) -> Response:
    """Store a report or an answer, after which a report may count."""
    store, pool, number, result = reporter.store, reporter.pool, reporter.number, None
    try:
        if report_id := form.text("report"):
            found, receipts = store.answer_report(pool, report_id, number, agrees=form.text("act") == "confirm")
        else:
            result = replace(read_result(form), title="")
            held = store.pool(pool)
            rows = rows_in(result, held, value_column(held), {}, planned_race(reporter, result))
            found, receipts = store.add_report(pool, number, rows, form=result.event_id, race=result.race)
    except PodiumError as error:
        return link_page(reporter, result, error)
    reporter.request.app.state.metrics.count_receipts(pool, receipts)
    return go_on(reporter.request, path_of(reporter.request), f"Saved. {found.result}: {found.status}.")


def link_page(reporter: Reporter, result: ResultForm | None = None, error: PodiumError | None = None) -> Response:
    """Return the page, after an error with the form that was sent. A private pool's page offers no other names."""
    request, store, pool, number = reporter.request, reporter.store, reporter.pool, reporter.number
    with store.reading(pool) as found:
        player = names_of(found, [number])[number]
    races = store.races_to_report(pool, number)
    if result is None:
        race = next((race for race in races if race.fixture_id == request.query_params.get("race")), None)
        empty = new_result(reporter) if race is None else race_result(reporter, race.fixture_id)
        sides, given = sides_of(race), empty.lines
        own = next((line for line in given if player in sides.get(line.name, [line.name])), ResultLine(player))
        lines = own, *(line for line in given if line != own and reporter.header.is_public)
        result = replace(empty, event_id=secrets.token_urlsafe(NONCE_BYTES), title="", lines=lines)
    page = form_page(reporter, result, error)
    page.template, page.title, page.player, page.action = "player_link.html", player, player, path_of(request)
    page.reports, page.races = store.list_reports(pool, number), races
    response = render(request, page, status=200 if error is None else status_of(error))
    response.headers.update(PRIVATE)
    return response
