"""The routes for players' links and reports, as `make docs` writes them from the service's OpenAPI document."""

from collections.abc import Iterable
from typing import Literal

from podium.client.calls import Moment, sends
from podium.client.page_answers import (
    PlayerLink,
    Report,
)


class ReportRoutes:
    """The routes for players' links and reports."""

    @sends("GET /pools/{pool}/links")
    def links(self, pool: str) -> list[PlayerLink]:
        """List the personal links of players.

        Returns:
            A list. Each item is a player's personal link. It has the fields `player, path, until`.
        """

    @sends("POST /pools/{pool}/links")
    def change_links(
        self,
        pool: str,
        act: Literal["give", "renew", "revoke"],
        *,
        names: Iterable[str] = (),
        until: Moment | None = None,
    ) -> list[PlayerLink]:
        """Give, replace or revoke personal links. Return all links.

        Args:
            act: Give links to players who have none, or replace or revoke links.
            names: Names of players. Default: all players.
            until: Time at which new links end. Default: when a season begins.

        Returns:
            A list. Each item is a player's personal link. It has the fields `player, path, until`.
        """

    @sends("GET /pools/{pool}/reports")
    def reports(self, pool: str) -> list[Report]:
        """List pending reports of results.

        Returns:
            A list. Each item is a result that a player reported. It has the fields `report_id, event_id, player,
            reported_at, started_at, status, result, confirmed, objected, counts_at, problem`.
        """

    @sends("POST /pools/{pool}/reports/{report_id}/{answer}")
    def decide_report(self, pool: str, report_id: str, answer: Literal["accept", "refuse"]) -> Report:
        """Accept or refuse a reported result.

        Args:
            report_id: ID of the report.
            answer: `accept` if it counts, or `refuse`.

        Returns:
            A result that a player reported. It has the fields `report_id, event_id, player, reported_at, started_at,
            status, result, confirmed, objected, counts_at, problem`.
        """
