"""Routes for the details and personal links of players, and for the results that players report."""

from typing import Annotated, Literal

from fastapi import Path
from pydantic import Field

from podium.service.api.bodies import Moment, PlayerFields, Strict
from podium.service.api.dependencies import Admin, ReadAccess, ReadRouter, RequestedAct, Sent
from podium.service.http.json import PoolName, ReportId, SentName
from podium.service.http.keys import refuse_backdating_limit
from podium.service.http.requests import run_in
from podium.store import Store
from podium.store.writing.reports import LinkAct, PlayerLink, Report

router = ReadRouter()


class SentDetails(PlayerFields):
    """Details of a player. Omitted fields keep their values. An empty string removes a detail."""

    player: SentName


class Details(Strict):
    """Details of several players."""

    players: list[SentDetails] = Field(min_length=1, max_length=10_000, description="The players, who may be new.")


router.reads(
    "player_details",
    "/{pool}/details",
    Store.player_details,
    "List the country, club, division and link of each player who has some.",
    access=ReadAccess,
)


router.reads(
    "player_ids",
    "/{pool}/ids",
    Store.player_ids,
    "List the players' IDs in other programs. Results may name a player by one, such as `discord:123`.",
    access=Admin,
)


@router.put("/{pool}/details")
async def set_details(pool: PoolName, act: RequestedAct, body: Sent[Details]) -> int:
    """Set details of players, and return the number of players that have changed. No rating changes."""
    rows = [player.model_dump() for player in body.players]
    return await act.run(act.store.set_details, pool, rows)


class LinkChange(Strict):
    """A change of players' links. Without names, it concerns everybody."""

    act: Annotated[LinkAct, Field(description="Give links to players who have none, or replace or revoke links.")]
    names: list[SentName] = Field([], max_length=10_000, description="Names of players. Default: all players.")
    until: Moment | None = Field(None, description="Time at which new links end. Default: when a season begins.")


router.reads("links", "/{pool}/links", Store.links, "List the personal links of players.", access=Admin)


@router.post("/{pool}/links")
async def change_links(pool: PoolName, act: RequestedAct, body: Sent[LinkChange]) -> tuple[PlayerLink, ...]:
    """Give, replace or revoke personal links. Return all links."""
    return await run_in(act.threads.writing, act.store.change_links, pool, **body.model_dump())


router.reads("reports", "/{pool}/reports", Store.list_reports, "List pending reports of results.", access=Admin)


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
    act.metrics.count_receipts(pool, receipts)
    return found
