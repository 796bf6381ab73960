"""The routes of all pages, in the order in which they are tried."""

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from podium.service.web import session, static
from podium.service.web.boards import distribution, event_list, find, leaderboard
from podium.service.web.chances import compare, predict
from podium.service.web.events import pages as event_pages
from podium.service.web.front import texts
from podium.service.web.players import card, changes, me, rivals
from podium.service.web.rules import page as rules
from podium.service.web.sharing import badges, embed, feeds, pictures

MODULES = (
    static, session, texts, leaderboard, event_list, distribution, find, event_pages, card, changes, me, rivals,
    compare, predict, rules, feeds, badges, embed, pictures,
)  # fmt: skip


def page_routes() -> list[BaseRoute]:
    """Every page; those below `/p` first, and last those whose first part is a pool's name."""
    routes = [route for module in MODULES for route in module.router.routes]
    return sorted(routes, key=precedence)


def precedence(route: BaseRoute) -> int:
    """When a route is tried: a pool may be called anything."""
    path = route.path if isinstance(route, APIRoute) else ""
    return 0 if path.startswith("/p/") else 2 if path.startswith("/{pool}") else 1
