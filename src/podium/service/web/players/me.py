"""The player whom a visitor chose as "me": a cookie of the pool without identity, set by a form."""

from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from podium.service.http.paths import PlayerName
from podium.service.http.stores import CurrentStore
from podium.service.visits.sessions import refuse_foreign
from podium.service.web.addresses import PageRouter, pool_address
from podium.service.web.visiting import VisiblePool

COOKIE = "me"
YEAR_S = 365 * 86_400


router = PageRouter()


@router.pool_form("/players/{player}/me")
def choose_me(
    request: Request,
    player: PlayerName,
    visit: VisiblePool,
    store: CurrentStore,
    me: Annotated[Literal["yes", "no"], Form()],
) -> Response:
    """Remember the player as the visitor, or forget who that was."""
    refuse_foreign(request)
    name, is_me = store.rank(visit.pool, player).player, me == "yes"
    answer = RedirectResponse(pool_address(visit.pool, "players", name), 303)
    answer.set_cookie(
        COOKIE,
        quote(name, safe="") if is_me else "",
        max_age=YEAR_S if is_me else 0,
        path=pool_address(visit.pool),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return answer
