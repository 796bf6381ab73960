"""Routes for the details and personal links of players, and for the results that players report."""

from typing import Annotated, Literal

from fastapi import Path
from pydantic import Field

from podium.service.api.bodies import Moment, PlayerFields, Strict
from podium.service.api.dependencies import Admin, ReadAccess, RequestedAct, Sent
from podium.service.http.json import PoolName, ReportId, SentName
from podium.service.http.keys import refuse_backdating_limit
from podium.service.http.requests import CurrentStore, PoolRouter, run_in
from podium.store.writing.reports import LinkAct, PlayerLink, Report
from podium.views.details import PlayerDetail, PlayerIds

router = PoolRouter()


class SentDetails(PlayerFields):
    """Details of a player. Omitted fields keep their values. An empty string removes a detail."""

    player: SentName


class Details(Strict):
    """Details of several players."""

    players: list[SentDetails] = Field(min_length=1, max_length=10_000, description="The players, who may be new.")


@router.get("/{pool}/details")
def player_details(pool: PoolName, store: CurrentStore, _key: ReadAccess) -> tuple[PlayerDetail, ...]:
    """List the country, club, division and link of each player who has some."""
    return store.player_details(pool)


@router.get("/{pool}/ids")
def player_ids(pool: PoolName, store: CurrentStore, _key: Admin) -> tuple[PlayerIds, ...]:
    """List the players' IDs in other programs. Results may name a player by one, such as `discord:123`."""
    return store.player_ids(pool)


@router.put("/{pool}/details")
async def set_details(pool: PoolName, act: RequestedAct, body: Sent[Details]) -> int:
    """Set details of players, and return the number of players that have changed. No rating changes."""
    rows = [player.model_dump() for player in body.players]
    return await act.run(act.store.set_details, pool, rows)


class LinkChange(Strict):
    """A change of players' links. Without names, it concerns everybody.

    Attributes:
        act: Give links to players who have none, or replace or revoke links.
        until: Time at which new links end. Default: when a season begins.
    """

    act: LinkAct
    names: list[SentName] = Field([], max_length=10_000, description="Names of players. Default: all players.")
    until: Moment | None = None


@router.get("/{pool}/links")
def links(pool: PoolName, store: CurrentStore, _key: Admin) -> tuple[PlayerLink, ...]:
    """List the personal links of players."""
    return store.links(pool)


@router.post("/{pool}/links")
async def change_links(pool: PoolName, act: RequestedAct, body: Sent[LinkChange]) -> tuple[PlayerLink, ...]:
    """Give, replace or revoke personal links. Return all links."""
    return await run_in(act.threads.writing, act.store.change_links, pool, **body.model_dump())


@router.get("/{pool}/reports")
def reports(pool: PoolName, store: CurrentStore, _key: Admin) -> tuple[Report, ...]:
    """List pending reports of results."""
    return store.list_reports(pool)


@router.post("/{pool}/reports/{report_id}/{answer}")
async def decide_report(
    pool: PoolName,
    report_id: ReportId,
    answer: Annotated[Literal["accept", "refuse"], Path(description="`accept` if it counts, or `refuse`.")],
    act: RequestedAct,
) -> Report:
    """Accept or refuse a reported result."""
    refuse_backdating_limit(act.request)
    found, receipts = await act.run(act.store.answer_report, pool, report_id, agrees=answer == "accept")
    act.request.app.state.metrics.count_receipts(pool, receipts)
    return found
