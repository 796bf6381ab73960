"""Routes for the personal links of players, and for the results that players report."""

from typing import Annotated, Literal

from fastapi import Path
from pydantic import Field

from podium.service.api.bodies import Moment, Strict
from podium.service.api.dependencies import Admin, CurrentMetrics, RequestedAct, Sent
from podium.service.http.json import PoolName, ReportId, SentName
from podium.service.http.keys import refuse_backdating_limit
from podium.service.http.requests import CurrentStore, PoolRouter, run_in
from podium.store import reports as stored
from podium.store.writing.player_links import Act, PlayerLink
from podium.store.writing.reports import Report

router = PoolRouter()


class LinkChange(Strict):
    """A change of players' links. Without names, it concerns everybody."""

    act: Annotated[Act, Field(description="Give links to players who have none, or replace or revoke links.")]
    names: list[SentName] = Field([], max_length=10_000, description="Names of players. Default: all players.")
    until: Moment | None = Field(None, description="Time at which new links end. Default: when a season begins.")


@router.get("/{pool}/links")
def links(pool: PoolName, store: CurrentStore, _key: Admin) -> tuple[PlayerLink, ...]:
    """List the personal links of players."""
    return stored.links(store, pool)


@router.post("/{pool}/links")
async def change_links(pool: PoolName, act: RequestedAct, body: Sent[LinkChange]) -> tuple[PlayerLink, ...]:
    """Give, replace or revoke personal links. Return all links."""
    return await run_in(act.threads.writing, stored.change_links, act.store, pool, **body.model_dump())


@router.get("/{pool}/reports")
def reports(pool: PoolName, store: CurrentStore, _key: Admin) -> tuple[Report, ...]:
    """List pending reports of results."""
    return stored.list_reports(store, pool)


@router.post("/{pool}/reports/{report_id}/{answer}")
async def decide_report(
    pool: PoolName,
    report_id: ReportId,
    answer: Annotated[Literal["accept", "refuse"], Path(description="`accept` if it counts, or `refuse`.")],
    act: RequestedAct,
    metrics: CurrentMetrics,
) -> Report:
    """Accept or refuse a reported result."""
    refuse_backdating_limit(act.request)
    found, receipts = await act.run(stored.answer_report, act.store, pool, report_id, agrees=answer == "accept")
    metrics.count_receipts(pool, receipts)
    return found
