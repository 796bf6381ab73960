"""The routes of all pages, in the order in which they are tried."""

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from podium.service.web import events as event_pages
from podium.service.web import front, rendering, sharing, visiting
from podium.service.web.boards import distribution, leaderboard
from podium.service.web.chances import compare, predict
from podium.service.web.players import card, rivals
from podium.service.web.rules import page as rules

MODULES = (
    rendering, visiting, front, leaderboard, distribution, event_pages, card, rivals, compare, predict, rules, sharing,
)  # fmt: skip


def page_routes() -> list[BaseRoute]:
    """Every page; those below `/p` first, and last those whose first part is a pool's name."""
    routes = [route for module in MODULES for route in module.router.routes]
    return sorted(routes, key=precedence)


def precedence(route: BaseRoute) -> int:
    """When a route is tried: a pool may be called anything."""
    path = route.path if isinstance(route, APIRoute) else ""
    return 0 if path.startswith("/p/") else 2 if path.startswith("/{pool}") else 1
