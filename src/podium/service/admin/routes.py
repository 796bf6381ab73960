"""The routes of the pages of admins."""

from starlette.routing import BaseRoute

from podium.service.admin import dry_run, keys, overview, records, rulings, sending

MODULES = (overview, sending, rulings, records, keys, dry_run)


def admin_routes() -> list[BaseRoute]:
    """Every page of admins."""
    return [route for module in MODULES for route in module.router.routes]
