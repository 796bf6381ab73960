"""Routes for the details of players, such as clubs, countries and IDs in other programs."""

from pydantic import Field

from podium.service.api.bodies import PlayerFields, Strict
from podium.service.api.dependencies import Admin, ReadAccess, RequestedAct, Sent
from podium.service.http.json import PoolName, SentName
from podium.service.http.requests import CurrentStore, PoolRouter
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
