"""The routes that write, each a method of both clients."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Literal, TypedDict, Unpack

from podium.client.answers import Anonymization, NewName, NothingDone, PoolSummary, Receipt, RegisteredMatch, Rerated
from podium.client.calls import EVENT, PLAYER, POOL, Call, Moment, json_call, route
from podium.client.pages import Entrants, entrant_rows

Order = Literal["dated", "sequence"]
Parameter = float | str | bool | None
Event = Mapping[str, Any]  # `event_id`, `started_at` and `entries`, each of which has a `player`


class DryRunOptions(TypedDict, total=False):
    """`dry_run` stores nothing; `effects_after` is the `next` of its first receipt, for the next smaller effects."""

    dry_run: bool
    effects_after: str | None


class CorrectionOptions(DryRunOptions, total=False):
    """A `reason` for the log, which may be blanked later; `version` is that of the event as it was read.

    Where the event has another version by now, nothing is done (412). `event` has the version.
    """

    reason: str
    version: str | None


class WriteRoutes:
    """What can be done to ladders."""

    @route
    def create_pool(
        self, /, name: str, system: str, *, order: Order | None = None, **parameters: Parameter
    ) -> Call[PoolSummary]:
        """Open a ladder; `describe_pool` gives it a title, and makes it public.

        Args:
            order: `dated`, or `sequence` if its events have numbers and no dates. None leaves it to the first event.
            parameters: of the system.

        Returns:
            The pool: `name, system, parameters, notice, title, contact, player_word, public`.

        Raises:
            ClientError: 409 where there is one, 422 where the system or a parameter does not fit.
        """
        body = {"name": name, "system": system, "parameters": parameters, "order": order}
        return json_call("POST", "/pools", PoolSummary, body)

    @route
    def describe_pool(
        self,
        pool: str,
        *,
        title: str | None = None,
        contact: str | None = None,
        player_word: str | None = None,
        public: bool | None = None,
    ) -> Call[PoolSummary]:
        """Change what a ladder says of itself, and who may read it.

        Args:
            title: what pages call it; here as below, an empty text removes what there was, and None leaves it.
            contact: who corrects results: a mail address, or that of a page.
            player_word: what one player is called, like `rider`.
            public: whether its pages and reads need no key.

        Returns:
            The pool, as of `create_pool`.
        """
        body = {"title": title, "contact": contact, "player_word": player_word, "public": public}
        return json_call("PATCH", POOL, PoolSummary, body, pool=pool)

    @route
    def configure(self, /, pool: str, system: str, *, dry_run: bool = False, **parameters: Parameter) -> Call[int]:
        """Rate a ladder with another system from its first event on.

        Args:
            dry_run: store nothing.

        Returns:
            How many rows of the history changed, or would change.
        """
        body, params = {"system": system, "parameters": parameters}, write_params(dry_run=dry_run)
        return json_call("PUT", f"{POOL}/system", Rerated, body, params, pool=pool).then(rerated)

    @route
    def set_order(
        self,
        pool: str,
        order: Order,
        *,
        started_at: Moment | None = None,
        every: str = "",
        dry_run: bool = False,
    ) -> Call[int]:
        """Order a ladder of fewer than 50 events by dates or by numbers.

        Args:
            order: `dated`, or `sequence` for numbers and no dates.
            started_at: the date of the first event. If None, each has the date that it had before, or that of receipt.
            every: the time from each event to the next, such as 1w; empty if all were on one day.
            dry_run: store nothing.

        Returns:
            How many rows of the history changed.
        """
        body = {"order": order, "started_at": started_at, "every": every}
        return json_call("PUT", f"{POOL}/order", Rerated, body, write_params(dry_run=dry_run), pool=pool).then(rerated)

    @route
    def submit(
        self, pool: str, events: Event | Iterable[Event], **options: Unpack[DryRunOptions]
    ) -> Call[list[Receipt]]:
        """Submit one event or several, each `{"event_id", "started_at", "entries": [{"player", …}]}`.

        Without `started_at` it was now. In a pool with the order `sequence` it has a number instead, or the next one.

        Returns:
            A receipt each: `event_id, seq, status, reason, duplicate, changes, rerated, effects, totals, next,
            warnings, head, notice`.

        Raises:
            ClientError: 409 where an event is known with other content, 422 where one does not fit.
        """
        body = events if isinstance(events, Mapping) else {"events": [*events]}
        return json_call("POST", f"{POOL}/events", list[Receipt], body, write_params(**options), pool=pool)

    @route
    def amend(self, pool: str, event: Event, **options: Unpack[CorrectionOptions]) -> Call[Receipt]:
        """Correct an event.

        Returns:
            A receipt, as of `submit`.

        Raises:
            ClientError: 404 where there is none, 412 where it has another version, 422 where it does not fit.
        """
        event_id = str(event["event_id"])
        call = json_call("PUT", EVENT, Receipt, event, write_params(**options), pool=pool, event_id=event_id)
        return call.of_version(options.get("version"))

    @route
    def void(self, pool: str, event_id: str, **options: Unpack[CorrectionOptions]) -> Call[Receipt]:
        """Void an event: it counts for nothing.

        Returns:
            A receipt, as of `submit`.
        """
        params = write_params(**options)
        call = json_call("POST", f"{EVENT}/void", Receipt, None, params, pool=pool, event_id=event_id)
        return call.of_version(options.get("version"))

    @route
    def restore(self, pool: str, event_id: str, **options: Unpack[CorrectionOptions]) -> Call[Receipt]:
        """Restore a voided event: it counts again.

        Returns:
            A receipt, as of `submit`.
        """
        params = write_params(**options)
        call = json_call("POST", f"{EVENT}/restore", Receipt, None, params, pool=pool, event_id=event_id)
        return call.of_version(options.get("version"))

    @route
    def register(
        self, pool: str, match_id: str, entrants: Entrants, *, expires_in_s: float = 86_400.0
    ) -> Call[RegisteredMatch]:
        """Register a match that starts; its result then has this `match_id`, and who is missing from it has quit.

        Args:
            entrants: names, or a `player` and a `team` each.
            expires_in_s: seconds that the match waits for its result.

        Returns:
            The match: its id, entrants, status and expiry.
        """
        body = {"match_id": match_id, "entrants": entrant_rows(entrants), "expires_in_s": expires_in_s}
        return json_call("POST", f"{POOL}/matches", RegisteredMatch, body, pool=pool)

    @route
    def merge(
        self, pool: str, player: str, into: str, *, kind: str = "", reason: str = "", dry_run: bool = False
    ) -> Call[int]:
        """Let one player's results be another's.

        Args:
            kind: of what entrants share, as `car`, of which it is one in the place of a player.
            reason: why, for the log; it may be blanked later.
            dry_run: store nothing.

        Returns:
            How many rows of the history changed, or would change.

        Raises:
            ClientError: 404 where one has no rating, 422 where they met.
        """
        body, params = (
            {"player": player, "into": into},
            {"kind": kind or None} | write_params(reason=reason, dry_run=dry_run),
        )
        return json_call("POST", f"{POOL}/merge", Rerated, body, params, pool=pool).then(rerated)

    @route
    def unmerge(self, pool: str, player: str, *, kind: str = "", reason: str = "", dry_run: bool = False) -> Call[int]:
        """Let a merged account be a player of its own again, as if that merge had never been.

        Args:
            kind: of what entrants share, as `car`, of which it is one in the place of a player.
            reason: why, for the log; it may be blanked later.
            dry_run: store nothing.

        Returns:
            How many rows of the history changed, or would change.

        Raises:
            ClientError: 404 where there is no such player, 409 where the account was never merged.
        """
        params = {"kind": kind or None} | write_params(reason=reason, dry_run=dry_run)
        return json_call("POST", f"{PLAYER}/unmerge", Rerated, None, params, pool=pool, player=player).then(rerated)

    @route
    def rename(self, pool: str, player: str, name: str, *, kind: str = "") -> Call[None]:
        """Give a player another name, everywhere.

        Args:
            kind: of what entrants share, as `car`, of which it is one in the place of a player.
        """
        body, params = {"name": name}, {"kind": kind or None}
        call = json_call("POST", f"{PLAYER}/rename", NewName, body, params, pool=pool, player=player)
        return call.then(lambda _answer: None)

    @route
    def pseudonymise(self, pool: str, player: str) -> Call[str]:
        """Remove every name that a player had, also from titles, ids and reasons.

        Returns:
            The pseudonym.
        """
        call = json_call("POST", f"{PLAYER}/pseudonymise", Anonymization, pool=pool, player=player)
        return call.then(lambda answer: answer["name"])

    @route
    def begin_season(
        self, pool: str, name: str, starts_at: Moment | float, *, keep: float, dry_run: bool = False
    ) -> Call[int]:
        """Shrink every lead over a newcomer to a share of itself.

        Args:
            starts_at: when it begins; in a numbered pool, the number of its first event.
            keep: the share, from 0 to 1.
            dry_run: store nothing.

        Returns:
            How many rows of the history changed, or would change.
        """
        when = "sequence" if isinstance(starts_at, int | float) else "starts_at"
        body = {"name": name, when: starts_at, "keep": keep}
        return json_call("POST", f"{POOL}/seasons", Rerated, body, write_params(dry_run=dry_run), pool=pool).then(
            rerated
        )

    @route
    def snapshot(self, pool: str, day: date | str | None = None) -> Call[NothingDone]:
        """Do nothing: the service has the ranks of every day without storing them.

        Args:
            day: any day.

        Returns:
            A `detail` that says so.
        """
        return json_call("POST", f"{POOL}/snapshots", NothingDone, {"day": day}, pool=pool)


def rerated(answer: Rerated) -> int:
    """Return how many changes of ratings moved."""
    return answer["rerated"]


def write_params(**options: Unpack[CorrectionOptions]) -> dict[str, str]:
    """Return the query of a write."""
    params = {"reason": options.get("reason"), "effects_after": options.get("effects_after")}
    params["dry_run"] = "true" if options.get("dry_run") else None
    return {name: value for name, value in params.items() if value}
