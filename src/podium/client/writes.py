"""The routes that write, each a method of both clients."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from podium.client.answers import NewName, PoolSummary, Receipt, RegisteredMatch, Rerated
from podium.client.calls import EVENT, PLAYER, POOL, Call, json_call, route
from podium.client.moments import Moment

Parameter = float | str | bool | None
Event = Mapping[str, Any]  # `event_id`, `started_at` and `entries`, each of which has a `player`


class WriteRoutes:
    """What can be done to ladders."""

    @route
    def create_pool(self, /, name: str, system: str, **parameters: Parameter) -> Call[PoolSummary]:
        """Open a ladder.

        Returns:
            The pool: `name, system, parameters, notice`.

        Raises:
            ClientError: 409 where there is one, 422 where the system or a parameter does not fit.
        """
        body = {"name": name, "system": system, "parameters": parameters}
        return json_call("POST", "/pools", PoolSummary, body)

    @route
    def configure(self, /, pool: str, system: str, **parameters: Parameter) -> Call[int]:
        """Rate a ladder with another system from its first event on.

        Returns:
            How many rows of the history changed.
        """
        body = {"system": system, "parameters": parameters}
        return json_call("PUT", f"{POOL}/system", Rerated, body, pool=pool).then(rerated)

    @route
    def submit(self, pool: str, events: Event | Iterable[Event], *, dry_run: bool = False) -> Call[list[Receipt]]:
        """Submit one event or several, each `{"event_id", "started_at", "entries": [{"player", …}]}`.

        Returns:
            A receipt each: `event_id, seq, status, reason, duplicate, changes, rerated, effects, warnings`.

        Raises:
            ClientError: 409 where an event is known with other content, 422 where one does not fit.
        """
        body = events if isinstance(events, Mapping) else {"events": [*events]}
        return json_call("POST", f"{POOL}/events", list[Receipt], body, dry_run_params(dry_run), pool=pool)

    @route
    def amend(self, pool: str, event: Event, *, dry_run: bool = False) -> Call[Receipt]:
        """Correct an event; with `dry_run` return the effects and store nothing.

        Returns:
            A receipt, as of `submit`.

        Raises:
            ClientError: 404 where there is none, 422 where it does not fit.
        """
        event_id = str(event["event_id"])
        return json_call("PUT", EVENT, Receipt, event, dry_run_params(dry_run), pool=pool, event_id=event_id)

    @route
    def void(self, pool: str, event_id: str, *, dry_run: bool = False) -> Call[Receipt]:
        """Void an event: it counts for nothing.

        Returns:
            A receipt, as of `submit`.
        """
        return json_call("POST", f"{EVENT}/void", Receipt, None, dry_run_params(dry_run), pool=pool, event_id=event_id)

    @route
    def restore(self, pool: str, event_id: str, *, dry_run: bool = False) -> Call[Receipt]:
        """Restore a voided event: it counts again.

        Returns:
            A receipt, as of `submit`.
        """
        params = dry_run_params(dry_run)
        return json_call("POST", f"{EVENT}/restore", Receipt, None, params, pool=pool, event_id=event_id)

    @route
    def register(
        self, pool: str, match_id: str, entrants: Iterable[str | Mapping[str, Any]], *, expires_in_s: float = 86_400.0
    ) -> Call[RegisteredMatch]:
        """Register a match that starts; its result then has this `match_id`, and who is missing from it has quit.

        Args:
            entrants: names, or a `player` and a `team` each.
            expires_in_s: seconds that the match waits for its result.

        Returns:
            The match: its id, entrants, status and expiry.
        """
        rows = [{"player": each} if isinstance(each, str) else each for each in entrants]
        body = {"match_id": match_id, "entrants": rows, "expires_in_s": expires_in_s}
        return json_call("POST", f"{POOL}/matches", RegisteredMatch, body, pool=pool)

    @route
    def merge(self, pool: str, player: str, into: str) -> Call[int]:
        """Let one player's results be another's.

        Returns:
            How many rows of the history changed.

        Raises:
            ClientError: 404 where one has no rating, 422 where they met.
        """
        body = {"player": player, "into": into}
        return json_call("POST", f"{POOL}/merge", Rerated, body, pool=pool).then(rerated)

    @route
    def unmerge(self, pool: str, player: str) -> Call[int]:
        """Let a merged account be a player of its own again, as if that merge had never been.

        Returns:
            How many rows of the history changed.

        Raises:
            ClientError: 404 where there is no such player, 409 where the account was never merged.
        """
        return json_call("POST", f"{PLAYER}/unmerge", Rerated, pool=pool, player=player).then(rerated)

    @route
    def rename(self, pool: str, player: str, name: str) -> Call[None]:
        """Give a player another name, everywhere."""
        call = json_call("POST", f"{PLAYER}/rename", NewName, {"name": name}, pool=pool, player=player)
        return call.then(lambda _answer: None)

    @route
    def pseudonymise(self, pool: str, player: str) -> Call[str]:
        """Forget every name that a player had.

        Returns:
            The pseudonym.
        """
        call = json_call("POST", f"{PLAYER}/pseudonymise", NewName, pool=pool, player=player)
        return call.then(lambda answer: answer["name"])

    @route
    def begin_season(self, pool: str, name: str, starts_at: Moment, *, keep: float) -> Call[int]:
        """Shrink every lead over a newcomer to a share of itself.

        Args:
            starts_at: when it begins.
            keep: the share, from 0 to 1.

        Returns:
            How many rows of the history changed.
        """
        body = {"name": name, "starts_at": starts_at, "keep": keep}
        return json_call("POST", f"{POOL}/seasons", Rerated, body, pool=pool).then(rerated)

    @route
    def snapshot(self, pool: str, day: date | str | None = None) -> Call[dict[str, int]]:
        """Store the ranks at 00:00 UTC of a day, and of days that a correction changed.

        Args:
            day: today where None.

        Returns:
            How many players were ranked, by day.
        """
        return json_call("POST", f"{POOL}/snapshots", dict[str, int], {"day": day}, pool=pool)


def rerated(answer: Rerated) -> int:
    """Return how many changes of ratings moved."""
    return answer["rerated"]


def dry_run_params(dry_run: bool) -> dict[str, str]:  # noqa: FBT001  (one word for one thing)
    """Return the query of a dry run."""
    return {"dry_run": "true"} if dry_run else {}
