"""The routes that change pools, as `make docs` writes them from the service's OpenAPI document."""

from collections.abc import Iterable
from typing import Literal

from podium.client.answers import (
    KeyDetails,
    NewName,
    PoolSummary,
    Receipt,
    RegisteredMatch,
    Rerated,
    WebhookDetails,
)
from podium.client.calls import Entrants, Moment, nothing, rerated, sends
from podium.client.chance_answers import (
    Fixture,
    Places,
)


class WriteRoutes:
    """The routes that change pools."""

    @sends("PATCH /pools/{pool}")
    def describe_pool(
        self,
        pool: str,
        *,
        title: str | None = None,
        contact: str | None = None,
        player_word: str | None = None,
        public: bool | None = None,
        time_zone: str | None = None,
        points_scheme: str | None = None,
        display: str | None = None,
        reports: str | None = None,
    ) -> PoolSummary:
        """Change a pool's description and who can read it.

        Args:
            title: Title shown on pages.
            contact: Email address or web page of the person who corrects results.
            player_word: Word for a single player, such as rider.
            public: True if anyone can read the pages and data without a key. Initially false.
            time_zone: Time zone of dates on pages, such as Europe/Berlin.
            points_scheme: Championship points: the name of a scheme or a list of points, plus any settings.
            display: How scores are shown: `factor` multiplies them, `floor` is the lowest, and `tiers` names ranges.
                `ids=public` shows players' IDs. Example: `factor=100 floor=0 ids=public tiers=Bronze:0,Silver:1400`.
            reports: When results that players report count, such as `50% 48h`. Empty if players cannot report.

        Returns:
            A pool. It has the fields `name, system, parameters, notice, title, contact, player_word, public, time_zone,
            points_scheme, display, reports, order, version`.
        """

    @sends("PUT /pools/{pool}/order", Rerated, rerated)
    def set_order(
        self,
        pool: str,
        order: Literal["dated", "sequence"],
        *,
        started_at: Moment | None = None,
        every: str = "",
        dry_run: bool = False,
    ) -> int:
        """Order a pool's events by date or by number. This is possible only while the pool has fewer than 50 events.

        Args:
            order: `dated` if its events have dates, or `sequence` if they have numbers instead.
            started_at: Date of the first event. By default, each event keeps the date it had before, or else gets the
                date on which it was received.
            every: Time between consecutive events, such as 1w.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """

    @sends("POST /pools/{pool}/events/{event_id}/void")
    def void(
        self,
        pool: str,
        event_id: str,
        *,
        reason: str = "",
        dry_run: bool = False,
        effects_after: str | None = None,
        version: str | None = None,
    ) -> Receipt:
        """Void an event. It no longer counts, but its content is kept.

        Args:
            event_id: ID of the event.
            reason: Reason to record in the log. It can be deleted later.
            dry_run: Store nothing. Return the totals and the 1,000 largest effects.
            effects_after: Only for dry runs: the value of `next` in the previous receipt, to get the next smaller
                effects.
            version: Version that the event had. Fail with 412 if it has changed.

        Returns:
            The response to the submission of an event. It has the fields `event_id, seq, status, reason, duplicate,
            changes, rerated, effects, totals, next, warnings, head, notice`.
        """

    @sends("POST /pools/{pool}/events/{event_id}/unvoid")
    def unvoid(
        self,
        pool: str,
        event_id: str,
        *,
        reason: str = "",
        dry_run: bool = False,
        effects_after: str | None = None,
        version: str | None = None,
    ) -> Receipt:
        """Make a voided event count again.

        Args:
            event_id: ID of the event.
            reason: Reason to record in the log. It can be deleted later.
            dry_run: Store nothing. Return the totals and the 1,000 largest effects.
            effects_after: Only for dry runs: the value of `next` in the previous receipt, to get the next smaller
                effects.
            version: Version that the event had. Fail with 412 if it has changed.

        Returns:
            The response to the submission of an event. It has the fields `event_id, seq, status, reason, duplicate,
            changes, rerated, effects, totals, next, warnings, head, notice`.
        """

    @sends("POST /pools/{pool}/matches")
    def register(
        self, pool: str, match_id: str, entrants: Entrants, *, expires_in_s: float = 86400.0
    ) -> RegisteredMatch:
        """Register a match that is starting.

        Its result counts only once, and a player missing from the result counts as having quit.

        Args:
            expires_in_s: Number of seconds to wait for a result.

        Returns:
            A registered match. It has the fields `match_id, entrants, expires_at, status, results`.
        """

    @sends("POST /pools/{pool}/merge", Rerated, rerated)
    def merge(
        self, pool: str, player: str, into: str, *, kind: str = "", reason: str = "", dry_run: bool = False
    ) -> int:
        """Merge one player's results into another's.

        Args:
            player: Account to merge.
            into: Player who gets the results of both.
            kind: Kind of equipment, such as `car`, if the name belongs to equipment rather than a player.
            reason: Reason to record in the log. It can be deleted later.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """

    @sends("POST /pools/{pool}/players/{player}/unmerge", Rerated, rerated)
    def unmerge(self, pool: str, player: str, *, kind: str = "", reason: str = "", dry_run: bool = False) -> int:
        """Separate a merged account again, as if it had never been merged.

        Args:
            player: Name of the player.
            kind: Kind of equipment, such as `car`, if the name belongs to equipment rather than a player.
            reason: Reason to record in the log. It can be deleted later.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """

    @sends("POST /pools/{pool}/players/{player}/void", Rerated, rerated)
    def void_player(self, pool: str, player: str, *, reason: str = "", dry_run: bool = False) -> int:
        """Void every rated event of a player, for example after a ban.

        Args:
            player: Name of the player.
            reason: Reason to record in the log. It can be deleted later.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """

    @sends("PUT /pools/{pool}/starting-ratings", Rerated, rerated)
    def set_starting_ratings(self, pool: str, players: Entrants, *, reason: str = "", dry_run: bool = False) -> int:
        """Set the ratings with which players enter their first events, and recalculate all later ratings.

        Args:
            players: The players, who may be new.
            reason: Reason to record in the log. It can be deleted later.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """

    @sends("POST /pools/{pool}/players/{player}/rename", NewName, nothing)
    def rename(self, pool: str, player: str, name: str, *, kind: str = "") -> None:
        """Rename a player everywhere. Ratings do not change.

        Args:
            player: Name of the player.
            name: New name of the player.
            kind: Kind of equipment, such as `car`, if the name belongs to equipment rather than a player.
        """

    @sends("POST /pools/{pool}/keys")
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
    ) -> KeyDetails:
        """Create a key. The response shows the key only once, and Podium stores only a hash of it.

        Args:
            name: Name of the program or person that uses the key.
            role: `read` reads, `write` also sends results, and `admin` also manages.
            all_pools: True to create a key for all pools. Only a key for all pools can do this.
            expires_in_days: Number of days until the key expires. Null means never.
            per_second: Number of requests allowed per second. Null means no limit.
            backdating_limit_s: Maximum age of events that the key can send or change, in seconds. Null means no limit.

        Returns:
            An API key. It has the fields `id, name, role, pool, per_second, backdating_limit_s, created_at, expires_at,
            revoked_at, last_used_at, secret`.
        """

    @sends("DELETE /pools/{pool}/keys/{number}", bytes, nothing)
    def revoke_key(self, pool: str, number: int) -> None:
        """Revoke a key. Requests with this key are rejected from then on.

        Args:
            number: Number of the key or webhook.
        """

    @sends("POST /pools/{pool}/webhooks")
    def create_webhook(
        self, pool: str, url: str, *, format: Literal["json", "discord", "slack", "matrix", "text"] | None = None
    ) -> WebhookDetails:
        """Send everything that happens in a pool to a URL. The response shows the signing secret only once.

        Args:
            url: Address that is notified of changes in the pool.
            format: `json` for programs; otherwise the chat service. If omitted, the URL decides.

        Returns:
            A receiver of everything that happens in a pool. It has the fields `id, url, format, delivered_seq,
            failing_since, last_error, stopped, created_at, secret`.
        """

    @sends("DELETE /pools/{pool}/webhooks/{number}", bytes, nothing)
    def delete_webhook(self, pool: str, number: int) -> None:
        """Delete a webhook. Nothing more is sent to it.

        Args:
            number: Number of the key or webhook.
        """

    @sends("PUT /pools/{pool}/details")
    def set_details(self, pool: str, players: Entrants) -> int:
        """Set details of players, and return the number of players that have changed. No rating changes.

        Args:
            players: The players, who may be new.

        Returns:
            The list.
        """

    @sends("POST /pools/{pool}/fixtures")
    def plan_fixture(
        self,
        pool: str,
        fixture_id: str,
        starts_at: Moment,
        *,
        title: str | None = None,
        entrants: Entrants | None = None,
    ) -> Fixture:
        """Plan a race.

        Its result is the event with the same ID. Entrants missing from the result count as not having started.

        Args:
            title: Title. An empty string removes it.
            entrants: Entrants.

        Returns:
            An upcoming or past race. It has the fields `fixture_id, title, starts_at, entrants, status`.
        """

    @sends("PUT /pools/{pool}/fixtures/{fixture_id}")
    def change_fixture(
        self,
        pool: str,
        fixture_id: str,
        *,
        starts_at: Moment | None = None,
        title: str | None = None,
        entrants: Entrants | None = None,
        anybody: bool = False,
    ) -> Fixture:
        """Change the date, title or entrants of an upcoming race. A cancelled race is reinstated.

        Args:
            fixture_id: ID of the upcoming race.
            title: Title. An empty string removes it.
            entrants: Entrants.
            anybody: True to remove the entrants and open the race to everyone.

        Returns:
            An upcoming or past race. It has the fields `fixture_id, title, starts_at, entrants, status`.
        """

    @sends("PUT /pools/{pool}/fixtures/{fixture_id}/places")
    def post_places(self, pool: str, fixture_id: str, places: Iterable[str], *, out: Iterable[str] = ()) -> Places:
        """Set the current standings of a race, at most once a second. They are not logged.

        Args:
            fixture_id: ID of the upcoming race.
            places: Players by place, with the leader first.
            out: Players who did not finish.

        Returns:
            The current places in a race. Only the final result counts towards ratings. It has the fields `race_id,
            posted_at, places, out`.
        """

    @sends("POST /pools/{pool}/fixtures/{fixture_id}/cancel")
    def cancel_fixture(self, pool: str, fixture_id: str) -> Fixture:
        """Cancel an upcoming race.

        Args:
            fixture_id: ID of the upcoming race.

        Returns:
            An upcoming or past race. It has the fields `fixture_id, title, starts_at, entrants, status`.
        """
