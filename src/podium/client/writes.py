"""The write routes, as methods of both clients."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, Unpack

from podium.client.answers import (
    Anonymization,
    KeyDetails,
    NewName,
    PoolSummary,
    Receipt,
    RegisteredMatch,
    Rerated,
    WebhookDetails,
)
from podium.client.calls import EVENT, PLAYER, POOL, Call, Entrants, Moment, declared, get, json_call, route

Order = Literal["dated", "sequence"]
Parameter = float | str | bool | None
Event = Mapping[str, Any]  # with `event_id`, `started_at` and `entries`, each of which has a `player`


class DryRunOptions(TypedDict, total=False):
    """Options of dry runs. `dry_run` saves nothing, and `effects_after` is the value of `next` in the first receipt."""

    dry_run: bool
    effects_after: str | None


class CorrectionOptions(DryRunOptions, total=False):
    """Options of corrections: `reason` is recorded in the log and can be blanked later.

    `version` is the event's version when it was read.

    If the event has changed since then, nothing is done (412). `event` returns the version.
    """

    reason: str
    version: str | None


def rerated(answer: Rerated) -> int:
    """Return the number of rating changes that were affected."""
    return answer["rerated"]


def no_name(_answer: NewName) -> None:
    """Return nothing: the caller knows the name."""


def no_content(_content: bytes) -> None:
    """Return nothing for an answer without a body."""


class WriteRoutes:
    """Writes to pools."""

    @declared("POST", "/pools")
    def create_pool(
        self, /, name: str, system: str, *, order: Order | None = None, **parameters: Parameter
    ) -> Call[PoolSummary]:
        """Create a pool. `describe_pool` gives it a title and makes it public.

        Args:
            name: Name of the pool.
            system: Rating system.
            order: `dated` if its events have dates, or `sequence` if they have numbers instead. Default: decided by the
                first event.
            parameters: Parameters of the system.

        Returns:
            The pool: `name, system, parameters, notice, title, contact, player_word, public`.

        Raises:
            ClientError: 409 if the pool exists, 422 if the system or a parameter is invalid.
        """

    @declared("PATCH", POOL)
    def describe_pool(
        self,
        pool: str,
        *,
        title: str | None = None,
        contact: str | None = None,
        player_word: str | None = None,
        public: bool | None = None,
    ) -> Call[PoolSummary]:
        """Change a pool's description and its visibility. None keeps a field, and an empty string removes it.

        Args:
            title: Title shown on pages.
            contact: Email address or page of the person who corrects results.
            player_word: Word for a single player, such as `rider`.
            public: True if pages and reads need no key.

        Returns:
            The pool, as in `create_pool`.
        """

    @declared("PUT", f"{POOL}/system", rerated)
    def configure(self, /, pool: str, system: str, *, dry_run: bool = False, **parameters: Parameter) -> Call[int]:
        """Rate a pool again with another system, starting with its first event.

        Args:
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """

    @declared("PUT", f"{POOL}/order", rerated)
    def set_order(
        self,
        pool: str,
        order: Order,
        *,
        started_at: Moment | None = None,
        every: str = "",
        dry_run: bool = False,
    ) -> Call[int]:
        """Order the events of a pool by dates or by numbers, if it has fewer than 50.

        Args:
            order: `dated`, or `sequence` for numbers instead of dates.
            started_at: Date of the first event. Default: the date each event had before, or else the date it was
                received.
            every: Time between consecutive events, for example 1w. Default: all events are on the same day.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """

    @route
    def submit(
        self, pool: str, events: Event | Iterable[Event], **options: Unpack[DryRunOptions]
    ) -> Call[list[Receipt]]:
        """Submit one or several events, each `{"event_id", "started_at", "entries": [{"player", …}]}`.

        Without `started_at`, the event starts now. In a pool with the order `sequence`, it has a number instead, by
        default the next one.

        Returns:
            One receipt per event: `event_id, seq, status, reason, duplicate, changes, rerated, effects, totals,
            next, warnings, head, notice`.

        Raises:
            ClientError: 409 if the event exists with different content, 422 if an event is invalid.
        """
        body = events if isinstance(events, Mapping) else {"events": [*events]}
        return json_call("POST", f"{POOL}/events", list[Receipt], body, write_params(**options), pool=pool)

    @route
    def amend(self, pool: str, event: Event, **options: Unpack[CorrectionOptions]) -> Call[Receipt]:
        """Correct an event.

        Returns:
            A receipt, as in `submit`.

        Raises:
            ClientError: 404 if there is no such event, 412 if it has another version, 422 if it is invalid.
        """
        event_id = str(event["event_id"])
        call = json_call("PUT", EVENT, Receipt, event, write_params(**options), pool=pool, event_id=event_id)
        return call.of_version(options.get("version"))

    @route
    def void(self, pool: str, event_id: str, **options: Unpack[CorrectionOptions]) -> Call[Receipt]:
        """Void an event, so that it no longer counts.

        Returns:
            A receipt, as in `submit`.
        """
        params = write_params(**options)
        call = json_call("POST", f"{EVENT}/void", Receipt, None, params, pool=pool, event_id=event_id)
        return call.of_version(options.get("version"))

    @route
    def unvoid(self, pool: str, event_id: str, **options: Unpack[CorrectionOptions]) -> Call[Receipt]:
        """Make a voided event count again.

        Returns:
            A receipt, as in `submit`.
        """
        params = write_params(**options)
        call = json_call("POST", f"{EVENT}/unvoid", Receipt, None, params, pool=pool, event_id=event_id)
        return call.of_version(options.get("version"))

    @declared("POST", f"{POOL}/matches")
    def register(
        self, pool: str, match_id: str, entrants: Entrants, *, expires_in_s: float = 86_400.0
    ) -> Call[RegisteredMatch]:
        """Register a match that is starting.

        Its result has the same `match_id`, and entrants missing from it count as having quit.

        Args:
            entrants: Names, or dicts with `player` and `team`.
            expires_in_s: How long the match waits for its result, in seconds.

        Returns:
            The match: its ID, entrants, status and expiry.
        """

    @declared("POST", f"{POOL}/merge", rerated)
    def merge(
        self, pool: str, player: str, into: str, *, kind: str = "", reason: str = "", dry_run: bool = False
    ) -> Call[int]:
        """Merge a player into another, who gets all results of both.

        Args:
            kind: Kind of a piece of equipment to merge instead of a player, for example `car`.
            reason: Reason for the log, which can be blanked later.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.

        Raises:
            ClientError: 404 if one of them has no rating, 422 if they played in the same event.
        """

    @declared("POST", f"{PLAYER}/unmerge", rerated)
    def unmerge(self, pool: str, player: str, *, kind: str = "", reason: str = "", dry_run: bool = False) -> Call[int]:
        """Undo a merge: the merged account is a separate player again.

        Args:
            kind: Kind of a piece of equipment instead of a player, for example `car`.
            reason: Reason for the log, which can be blanked later.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.

        Raises:
            ClientError: 404 if there is no such player, 409 if the account was never merged.
        """

    @declared("POST", f"{PLAYER}/void", rerated)
    def void_player(self, pool: str, player: str, *, reason: str = "", dry_run: bool = False) -> Call[int]:
        """Void every rated event of a player, for example after a ban.

        Args:
            reason: Reason for the log, which can be blanked later.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.

        Raises:
            ClientError: 404 if there is no such player.
        """

    @declared("POST", f"{PLAYER}/rename", no_name)
    def rename(self, pool: str, player: str, name: str, *, kind: str = "") -> Call[None]:
        """Rename a player everywhere.

        Args:
            kind: Kind of a piece of equipment instead of a player, for example `car`.
        """

    @route
    def anonymize(self, pool: str, player: str, *, dry_run: bool = False) -> Call[str | Anonymization]:
        """Anonymize a player: remove all names, including from titles, IDs and reasons.

        Args:
            dry_run: Save nothing.

        Returns:
            The pseudonym, or with `dry_run` all replacements that it would make.
        """
        params = write_params(dry_run=dry_run)
        call = json_call("POST", f"{PLAYER}/anonymize", Anonymization, None, params, pool=pool, player=player)
        return call.then(lambda answer: answer if dry_run else answer["name"])

    @route
    def begin_season(
        self, pool: str, name: str, starts_at: Moment | float, *, keep: float, dry_run: bool = False
    ) -> Call[int]:
        """Start a season, in which every lead over a newcomer shrinks.

        Args:
            starts_at: Start of the season; in a numbered pool, the number of its first event.
            keep: Share of each lead to keep, from 0 to 1.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """
        when = "sequence" if isinstance(starts_at, int | float) else "starts_at"
        body = {"name": name, when: starts_at, "keep": keep}
        params = write_params(dry_run=dry_run)
        return json_call("POST", f"{POOL}/seasons", Rerated, body, params, pool=pool).then(rerated)

    @declared("POST", f"{POOL}/keys")
    def create_key(
        self,
        pool: str,
        name: str,
        role: Literal["read", "write", "admin"] = "write",
        *,
        all_pools: bool = False,
        expires_in_days: float | None = None,
        per_second: float | None = None,
        backdating_limit_s: float | None = None,
    ) -> Call[KeyDetails]:
        """Create a key to a pool. The response shows it only once, as `secret`.

        Args:
            name: Name of the program or person that uses the key.
            role: Role of the key.
            all_pools: Create a key for all pools. Only a key for all pools can do this.
            expires_in_days: Number of days until the key expires. Default: never.
            per_second: Number of requests allowed per second. Default: no limit.
            backdating_limit_s: Maximum age of events that the key can send or change, in seconds. Default: no limit.

        Returns:
            The key: `id, name, role, pool, secret`, its limits and times.

        Raises:
            ClientError: 403 if your key has a limit, or does not administer everything that the new key gives access
                to.
        """

    @get(f"{POOL}/keys")
    def keys(self, pool: str) -> Call[list[KeyDetails]]:
        """List the keys to a pool, including revoked ones.

        Returns:
            The keys, as in `create_key`, without their secrets.
        """

    @declared("DELETE", f"{POOL}/keys/{{number}}", no_content)
    def revoke_key(self, pool: str, number: int) -> Call[None]:
        """Revoke a key. Requests with it are rejected from now on."""

    @declared("POST", f"{POOL}/webhooks")
    def create_webhook(
        self,
        pool: str,
        url: str,
        *,
        format: Literal["json", "discord", "slack", "matrix", "text"] | None = None,  # noqa: A002
    ) -> Call[WebhookDetails]:
        """Send everything that happens in a pool to a URL.

        Args:
            url: The URL to send to.
            format: `json` for programs; otherwise the chat service. Default: the URL decides.

        Returns:
            The webhook: `id, url, format, delivered_seq, failing_since, last_error, stopped`. `secret` is for
            `verify_webhook`, and is returned only in this response.
        """

    @get(f"{POOL}/webhooks")
    def webhooks(self, pool: str) -> Call[list[WebhookDetails]]:
        """List the webhooks of a pool, with their latest errors.

        Returns:
            The webhooks, as in `create_webhook`, without their secrets.
        """

    @declared("DELETE", f"{POOL}/webhooks/{{number}}", no_content)
    def delete_webhook(self, pool: str, number: int) -> Call[None]:
        """Delete a webhook; nothing more is sent to it."""


def write_params(**options: Unpack[CorrectionOptions]) -> dict[str, str]:
    """Return the query of a write."""
    params = {"reason": options.get("reason"), "effects_after": options.get("effects_after")}
    params["dry_run"] = "true" if options.get("dry_run") else None
    return {name: value for name, value in params.items() if value}
