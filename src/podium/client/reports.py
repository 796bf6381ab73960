"""The routes for players' links and reports, as `make docs` writes them from the service's OpenAPI document."""

from collections.abc import Iterable
from typing import Literal

from podium.client.calls import Call, Moment, json_call, route
from podium.client.page_answers import (
    PlayerLink,
    Report,
)


class ReportRoutes:
    """The routes for players' links and reports."""

    @route
    def links(self, pool: str) -> Call[list[PlayerLink]]:
        """List the personal links of players.

        Returns:
            A list. Each item is a player's personal link. It has the fields `player, path, until`.
        """
        return json_call("GET", "/pools/{pool}/links", list[PlayerLink], pool=pool)

    @route
    def change_links(
        self,
        pool: str,
        act: Literal["give", "renew", "revoke"],
        *,
        names: Iterable[str] = (),
        until: Moment | None = None,
    ) -> Call[list[PlayerLink]]:
        """Give, replace or revoke personal links. Return all links.

        Args:
            act: Give links to players who have none, or replace or revoke links.
            names: Names of players. Default: all players.
            until: Time at which new links end. Default: when a season begins.

        Returns:
            A list. Each item is a player's personal link. It has the fields `player, path, until`.
        """
        return json_call(
            "POST", "/pools/{pool}/links", list[PlayerLink], {"act": act, "names": [*names], "until": until}, pool=pool
        )

    @route
    def reports(self, pool: str) -> Call[list[Report]]:
        """List reported results that wait.

        Returns:
            A list. Each item is a result that a player reported. It has the fields `report_id, event_id, player,
            reported_at, started_at, status, result, confirmed, objected, counts_at, problem`.
        """
        return json_call("GET", "/pools/{pool}/reports", list[Report], pool=pool)

    @route
    def decide_report(self, pool: str, report_id: str, answer: Literal["accept", "refuse"]) -> Call[Report]:
        """Accept or refuse a reported result.

        Args:
            report_id: ID of the report.
            answer: `accept` if it counts, or `refuse`.

        Returns:
            A result that a player reported. It has the fields `report_id, event_id, player, reported_at, started_at,
            status, result, confirmed, objected, counts_at, problem`.
        """
        return json_call(
            "POST", "/pools/{pool}/reports/{report_id}/{answer}", Report, pool=pool, report_id=report_id, answer=answer
        )
