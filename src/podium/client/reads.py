"""The routes that read pools, as `make docs` writes them from the service's OpenAPI document."""

from datetime import date

from podium.client.answers import (
    AlternativeChanges,
    BoardRow,
    Equipment,
    EventDetails,
    ExplainedChange,
    KeyDetails,
    Leaderboard,
    LogRecord,
    PlayerDetail,
    PlayerDetails,
    PlayerIds,
    PlayerStart,
    PoolSummary,
    RatingCount,
    ReasonTotals,
    RegisteredMatch,
    Season,
    WebhookDetails,
)
from podium.client.calls import sends
from podium.client.chance_answers import Comparison
from podium.client.page_answers import BestEverBoard, DailyRank, HindsightPoint, RankedPlayer


class ReadRoutes:
    """The routes that read pools."""

    @sends("GET /pools")
    def pools(self) -> list[PoolSummary]:
        """List all pools.

        Returns:
            A list. Each item is a pool. It has the fields `name, system, parameters, notice, title, contact,
            player_word, public, time_zone, points_scheme, display, reports, order, version`.
        """

    @sends("GET /pools/{pool}")
    def pool(self, pool: str) -> PoolSummary:
        """Return a pool.

        Returns:
            A pool. It has the fields `name, system, parameters, notice, title, contact, player_word, public, time_zone,
            points_scheme, display, reports, order, version`.
        """

    @sends("GET /pools/{pool}/seasons")
    def seasons(self, pool: str) -> list[Season]:
        """List the seasons, oldest first.

        Returns:
            A list. Each item is a season. It has the fields `name, starts_at, keep, sequence, widens`.
        """

    @sends("GET /pools/{pool}/events/{event_id}")
    def event(self, pool: str, event_id: str) -> EventDetails:
        """Return an event with its results and rating changes.

        Its `version` is also its `ETag`. A correction that sends it as `If-Match` fails if the event has changed since.

        Args:
            event_id: ID of the event.

        Returns:
            An event with its results and rating changes. It has the fields `event_id, seq, started_at, title, url,
            status, reason, match_id, corrected, version, entries, changes, sequence`.
        """

    @sends("GET /pools/{pool}/matches")
    def waiting_matches(self, pool: str) -> list[str]:
        """List the matches that are waiting for a result, ordered by expiry.

        Returns:
            The list.
        """

    @sends("GET /pools/{pool}/starting-ratings")
    def starting_ratings(self, pool: str) -> list[PlayerStart]:
        """List the ratings that the organiser gave to players for their first events.

        Returns:
            A list. Each item is the rating with which a player enters the first event. It has the fields `player,
            rating, deviation`.
        """

    @sends("GET /pools/{pool}/keys")
    def keys(self, pool: str) -> list[KeyDetails]:
        """List the keys of a pool, including revoked ones.

        If your key covers all pools, the list also includes the other keys that do.

        Returns:
            A list. Each item is an API key. It has the fields `id, name, role, pool, per_second, backdating_limit_s,
            created_at, expires_at, revoked_at, last_used_at, secret`.
        """

    @sends("GET /pools/{pool}/webhooks")
    def webhooks(self, pool: str) -> list[WebhookDetails]:
        """List the webhooks of a pool, with their latest errors.

        Returns:
            A list. Each item is a receiver of everything that happens in a pool. It has the fields `id, url, format,
            delivered_seq, failing_since, last_error, stopped, created_at, secret`.
        """

    @sends("GET /pools/{pool}/leaderboard")
    def leaderboard(
        self,
        pool: str,
        *,
        top: int = 100,
        cursor: str | None = None,
        max_deviation: float | None = None,
        at: date | str | None = None,
        min_events: int | None = None,
        active_within: str | None = None,
        provisional: bool = True,
        country: str | None = None,
        club: str | None = None,
        division: str | None = None,
    ) -> Leaderboard:
        """Return a page of the leaderboard.

        With `at` or `max_deviation`, the response is a single page without rating changes and curves.

        Args:
            top: Number of players per page.
            cursor: Cursor: the value of `next` on the previous page.
            max_deviation: Maximum deviation for a player to be listed.
            at: Show the board as it was at this time, at the end of this date, or after this event number.
            min_events: Minimum number of rated events for a player to be listed.
            active_within: List only players who were active within this time before the last event, such as 90d, 12w,
                6mo or 1y. In pools without dates, each event counts as one day.
            provisional: Rank provisional players together with the others. If false, list them separately.
            country: List only players with this detail.
            club: List only players with this detail.
            division: List only players with this detail.

        Returns:
            A page of the leaderboard. It has the fields `players, next, listed, rated, since, newest, provisional,
            since_sequence`.
        """

    @sends("GET /pools/{pool}/distribution")
    def distribution(self, pool: str) -> list[RatingCount]:
        """Return the number of players at each rating, rounded down to a whole number, lowest first.

        Returns:
            A list. Each item is the number of players whose ratings fall within the same one-point range. It has the
            fields `rating, players`.
        """

    @sends("GET /pools/{pool}/players/{player}")
    def player(self, pool: str, player: str, *, most: int = 1000) -> PlayerDetails:
        """Return a player's rank and history, newest first.

        Args:
            player: Name of the player.
            most: Maximum number of changes to return, newest first.

        Returns:
            A player's rank and history. It has the fields `player, rank, players, percentile, rating, events,
            last_played_at, history, details, last_sequence`.
        """

    @sends("GET /pools/{pool}/players/{player}/neighbours")
    def neighbours(self, pool: str, player: str, *, each: int = 5) -> list[BoardRow]:
        """Return a player and the players with neighbouring ranks, best first.

        Args:
            player: Name of the player.

        Returns:
            A list. Each item is a player on a board. Filtered boards and boards for a past date also include the
            system's other values. It has the fields `rank, player, rating, events, last_played_at, provisional,
            deviation, score, tier, last_sequence`.
        """

    @sends("GET /pools/{pool}/players/{player}/ranks")
    def ranks_of(self, pool: str, player: str) -> list[DailyRank]:
        """Return a player's rank at 00:00 UTC on each day, oldest first.

        Args:
            player: Name of the player.

        Returns:
            A list. Each item is a player's rank at 00:00 UTC on a day or, in a numbered pool, before an event. It has
            the fields `day, rank, rating, sequence`.
        """

    @sends("GET /pools/{pool}/players/{player}/hindsight")
    def hindsight_of(self, pool: str, player: str) -> list[HindsightPoint]:
        """Return a player's strength at each event, based on later results as well (only for the `adaptive` system).

        It is calculated once a day.

        Args:
            player: Name of the player.

        Returns:
            A list. Each item is a player's strength at an event, in hindsight. It has the fields `started_at, rating,
            deviation, sequence`.
        """

    @sends("GET /pools/{pool}/hindsight")
    def best_ever(self, pool: str) -> BestEverBoard:
        """List the best players of all time, by their lead over the field of their best year.

        Returns:
            The best players of all time, in hindsight. These are not official ratings. It has the fields `as_of,
            players`.
        """

    @sends("GET /pools/{pool}/compare")
    def compare(self, pool: str, player: str, other: str) -> Comparison:
        """Compare two players: ranks, expected score in a heat, and every event in which they met.

        Returns:
            A comparison of two players. It has the fields `players, wins, draws, losses, meetings, draw`.
        """

    @sends("GET /pools/{pool}/events/{event_id}/players/{player}")
    def explain(self, pool: str, event_id: str, player: str) -> ExplainedChange:
        """Explain why a player's rating changed in an event.

        Args:
            event_id: ID of the event.
            player: Name of the player.

        Returns:
            The reasons why an event changed a player's rating. It has the fields `event_id, player, rating_before,
            delta, words, outcome, verdict, cause, shown, groups, duels, ranked_by, standings, method, shared, reasons`.
        """

    @sends("GET /pools/{pool}/players/{player}/reasons")
    def reasons(self, pool: str, player: str, *, events: int = 10) -> ReasonTotals:
        """Explain why a player's rating changed in the latest events. The points are totalled by kind of reason.

        Args:
            player: Name of the player.
            events: Number of events to include, counting back from the latest.

        Returns:
            The reasons why a player's rating changed over several events. It has the fields `player, events, won,
            change, shown, summary, reasons`.
        """

    @sends("GET /pools/{pool}/events/{event_id}/players/{player}/what-if")
    def what_if(self, pool: str, event_id: str, player: str, *, margin: float | None = None) -> AlternativeChanges:
        """Return how a player's rating would have changed with different results in an event, in up to eight variants.

        Args:
            event_id: ID of the event.
            player: Name of the player.
            margin: Assumed winning margin between two sides. Default: the pool's usual margin.

        Returns:
            The effect of an event on a player, and the effect it would have had with different results. It has the
            fields `event_id, player, rating_before, delta, shown, alternatives`.
        """

    @sends("GET /pools/{pool}/matches/{match_id}")
    def match(self, pool: str, match_id: str) -> RegisteredMatch:
        """Return a registered match and its result.

        Args:
            match_id: ID of the registered match.

        Returns:
            A registered match. It has the fields `match_id, entrants, expires_at, status, results`.
        """

    @sends("GET /pools/{pool}/equipment")
    def equipment(self, pool: str) -> list[Equipment]:
        """List the equipment that the system rates, such as cars, grouped by kind and sorted by points, highest first.

        Equipment has no ranks.

        Returns:
            A list. Each item is a piece of shared equipment, and its effect on the results of all its users. It has the
            fields `kind, name, points, deviation, events, last_played_at, last_sequence`.
        """

    @sends("GET /pools/{pool}/seasons/{season}/leaderboard")
    def season_leaderboard(self, pool: str, season: str) -> list[BoardRow]:
        """Return the leaderboard at the end of a season, or the current one if the season is still running.

        Args:
            season: Name of the season.

        Returns:
            A list. Each item is a player on a board. Filtered boards and boards for a past date also include the
            system's other values. It has the fields `rank, player, rating, events, last_played_at, provisional,
            deviation, score, tier, last_sequence`.
        """

    @sends("GET /pools/{pool}/snapshots")
    def snapshot_days(self, pool: str) -> list[date | float]:
        """List the days for which ranks are stored, oldest first.

        In pools without dates, list event numbers instead.

        Returns:
            The list.
        """

    @sends("GET /pools/{pool}/snapshots/{day}")
    def ranks_on(self, pool: str, day: date | str) -> list[RankedPlayer]:
        """Return the ranks at 00:00 UTC on a day, or before the event with a given number, best first.

        Returns:
            A list. Each item is a player's rank and rating at 00:00 UTC on a day or, in a numbered pool, before an
            event. It has the fields `rank, player, rating`.
        """

    @sends("GET /pools/{pool}/log")
    def log(self, pool: str, *, after: int = 0, most: int = 100) -> list[LogRecord]:
        """Return the log of a pool: all changes, with their authors and times, oldest first.

        Args:
            after: Return only entries with a higher number than this.

        Returns:
            A list. Each item is an entry of the log, for an action on a pool. It has the fields `seq, place, hash,
            kind, subject, player, into, received_at, actor, reason, moved`.
        """

    @sends("GET /pools/{pool}/details")
    def player_details(self, pool: str) -> list[PlayerDetail]:
        """List the country, club, division and link of each player who has some.

        Returns:
            A list. Each item is what a pool says about a player besides the rating. It has the fields `player, country,
            club, division, link, ids`.
        """

    @sends("GET /pools/{pool}/ids")
    def player_ids(self, pool: str) -> list[PlayerIds]:
        """List the players' IDs in other programs. Results may name a player by one, such as `discord:123`.

        Returns:
            A list. Each item is a player's IDs in other programs. It has the fields `player, discord, steam, fide`.
        """
