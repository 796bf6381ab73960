"""The routes of what pages show, each a method of both clients."""

from datetime import date
from typing import Any

from podium.client.calls import EVENT, PLAYER, POOL, Call, json_call, moment_text, route
from podium.client.page_answers import (
    AdjacentEvents,
    ChangesPage,
    CorrectionRecord,
    CurvePoint,
    EventField,
    EventListPage,
    FairExpectation,
    FoundPlayer,
    ListedPage,
    Movers,
    PlayerCard,
    PlayerPage,
    PoolFacts,
    Rivals,
)


class PageRoutes:
    """What pages show of ladders, players and events."""

    @route
    def board(
        self,
        pool: str,
        *,
        top: int = 50,
        cursor: str | None = None,
        min_events: int | None = None,
        active_within: str | None = None,
        unsettled: bool = False,
    ) -> Call[ListedPage]:
        """Show a page of the board of those who are listed, with their ranks among each other.

        Args:
            top: rows of the page.
            cursor: `next` of the page before.
            min_events: rated events that a listed player has at least.
            active_within: how long before the newest event a listed player has played at most, as 90d, 12w or 1y.
            unsettled: rank players who are not settled among the others.

        Returns:
            `rows` with moves and curves, `next`, and how many are listed.
        """
        params = {"top": top, "cursor": cursor} | listing(min_events, active_within, unsettled=unsettled)
        return json_call("GET", f"{POOL}/board", ListedPage, params=params, pool=pool)

    @route
    def newest_entrants(
        self,
        pool: str,
        *,
        top: int = 200,
        min_events: int | None = None,
        active_within: str | None = None,
        unsettled: bool = False,
    ) -> Call[ListedPage]:
        """Show those of the board who were in the newest rated event, the largest gain first; filtered as `board`.

        Returns:
            As `board`.
        """
        params = {"top": top} | listing(min_events, active_within, unsettled=unsettled)
        return json_call("GET", f"{POOL}/board/newest", ListedPage, params=params, pool=pool)

    @route
    def page_of(
        self,
        pool: str,
        player: str,
        *,
        top: int = 50,
        min_events: int | None = None,
        active_within: str | None = None,
        unsettled: bool = False,
    ) -> Call[PlayerPage]:
        """Find the page of the board, filtered as `board`, that a player is on.

        Returns:
            `cursor`, to be sent for that page; None of whoever is not listed.
        """
        params = {"top": top} | listing(min_events, active_within, unsettled=unsettled)
        return json_call("GET", f"{PLAYER}/page", PlayerPage, params=params, pool=pool, player=player)

    @route
    def search(self, pool: str, text: str, *, most: int = 10) -> Call[list[FoundPlayer]]:
        """Find players by how a name or a former one begins, or one of its words.

        Returns:
            `player, rating, rank, former_name` and the like of each; similar names where none is found.
        """
        return json_call("GET", f"{POOL}/search", list[FoundPlayer], params={"text": text, "most": most}, pool=pool)

    @route
    def events(self, pool: str, *, top: int = 50, cursor: str | None = None) -> Call[EventListPage]:
        """List events, newest first, with a headline each.

        Returns:
            `events`, and `next`, the cursor of the page after it; None on the last.
        """
        return json_call("GET", f"{POOL}/events", EventListPage, params={"top": top, "cursor": cursor}, pool=pool)

    @route
    def adjacent_events(self, pool: str, event_id: str) -> Call[AdjacentEvents]:
        """Name the events before and after an event.

        Returns:
            `previous` and `next`.
        """
        return json_call("GET", f"{EVENT}/adjacent", AdjacentEvents, pool=pool, event_id=event_id)

    @route
    def movers(self, pool: str, *, days: int = 7, most: int = 10) -> Call[Movers]:
        """Show who moved most in the days up to the newest rated event, and the surprise of these days.

        Returns:
            `since, gained, lost, surprise`; `most` players on either side.
        """
        return json_call("GET", f"{POOL}/movers", Movers, params={"days": days, "most": most}, pool=pool)

    @route
    def player_card(self, pool: str, player: str) -> Call[PlayerCard]:
        """Show a player at a glance.

        Returns:
            Rank, form, trend, streaks, records and neighbours.
        """
        return json_call("GET", f"{PLAYER}/card", PlayerCard, pool=pool, player=player)

    @route
    def rating_curve(
        self, pool: str, player: str, *, since: date | str | None = None, most: int = 300
    ) -> Call[list[CurvePoint]]:
        """Show a player's rating after each change.

        Args:
            since: a moment, or a day from its first moment on.
            most: points at most; of more, those that tell the shape.

        Returns:
            The points, oldest first.
        """
        params = {"since": None if since is None else moment_text(since), "most": most}
        return json_call("GET", f"{PLAYER}/curve", list[CurvePoint], params=params, pool=pool, player=player)

    @route
    def player_changes(self, pool: str, player: str, *, top: int = 50, cursor: str | None = None) -> Call[ChangesPage]:
        """Show a page of a player's changes, newest first.

        Returns:
            `rows`, and `next`, the cursor of the page after it; None on the last.
        """
        params = {"top": top, "cursor": cursor}
        return json_call("GET", f"{PLAYER}/changes", ChangesPage, params=params, pool=pool, player=player)

    @route
    def rivals(self, pool: str, player: str) -> Call[Rivals]:
        """Show whom a player met in the newest hundred events, and how it went.

        Returns:
            `events, duels, won, expected`, `opponents`, a row each, and the `best_scalp`.
        """
        return json_call("GET", f"{PLAYER}/rivals", Rivals, pool=pool, player=player)

    @route
    def event_field(self, pool: str, event_id: str) -> Call[EventField]:
        """Show how strong the field of an event was, and how well each played in it.

        Returns:
            `players, mean_rating`, and the `performances`.
        """
        return json_call("GET", f"{EVENT}/field", EventField, pool=pool, event_id=event_id)

    @route
    def event_record(self, pool: str, event_id: str) -> Call[list[CorrectionRecord]]:
        """List what was done to an event, oldest first.

        Returns:
            A record each: who, why, what it moved, and the `lines` that it changed.
        """
        return json_call("GET", f"{EVENT}/record", list[CorrectionRecord], pool=pool, event_id=event_id)

    @route
    def fair_expectation(self, pool: str, event_id: str, player: str) -> Call[FairExpectation]:
        """Say what would have been fair to expect of a player in an event.

        Returns:
            `duels, promised, fair`, and an `example` of such promises; the two are None where too few are known.
        """
        path = f"{EVENT}/players/{{player}}/fairness"
        return json_call("GET", path, FairExpectation, pool=pool, event_id=event_id, player=player)

    @route
    def facts(self, pool: str) -> Call[PoolFacts]:
        """Show what a ladder's whole history says of its ratings.

        Returns:
            `promise` by leads, `weights` of duels by event, and `reliability` of promises.
        """
        return json_call("GET", f"{POOL}/facts", PoolFacts, pool=pool)


def listing(min_events: int | None, active_within: str | None, *, unsettled: bool) -> dict[str, Any]:
    """Return who is listed, as a query says it."""
    return {"min_events": min_events, "active_within": active_within, "unsettled": "true" if unsettled else "false"}
