"""The routes of players, fields and records of events, and facts of a ladder, each a method of both clients."""

from datetime import date

from podium.client.calls import EVENT, PLAYER, POOL, Call, json_call, route
from podium.client.moments import moment_text
from podium.client.page_answers import (
    ChangesPage,
    CorrectionRecord,
    CurvePoint,
    EventField,
    FairExpectation,
    PlayerCard,
    PoolFacts,
    Rivals,
)


class CareerRoutes:
    """What pages show of one player, one event, and a whole ladder."""

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

        Args:
            top: rows of the page.
            cursor: `next` of the page before.

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
