"""The read routes, as methods of both clients."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from podium.client import answers
from podium.client.calls import EVENT, PLAYER, POOL, Call, Entrants, entrant_rows, get, json_call, route
from podium.client.chance_answers import Comparison, FieldChances, Match


class ReadRoutes:
    """Reads of pools."""

    @get("/pools")
    def pools(self) -> Call[list[answers.PoolSummary]]:
        """List all pools.

        Returns:
            `name, system, parameters, notice, title, contact, player_word, public` for each pool.
        """

    @get(POOL)
    def pool(self, pool: str) -> Call[answers.PoolSummary]:
        """Return a pool.

        Returns:
            The pool, as in `pools`.
        """

    @get(f"{POOL}/log")
    def log(self, pool: str, *, after: int = 0, most: int = 100) -> Call[list[answers.LogRecord]]:
        """List the log entries of a pool, oldest first.

        Args:
            after: Return entries with a higher number than this.
            most: Maximum number of entries.

        Returns:
            `seq, kind, subject, received_at, actor` and more for each entry.
        """

    @get(EVENT)
    def event(self, pool: str, event_id: str) -> Call[answers.EventDetails]:
        """Return an event with its current content and its rating changes.

        Returns:
            Its entries, status, time and changes.
        """

    @get(f"{POOL}/matches/{{match_id}}")
    def match(self, pool: str, match_id: str) -> Call[answers.RegisteredMatch]:
        """Return a registered match.

        Returns:
            The match: its ID, entrants, status and expiry, and the events that are its results.
        """

    @get(f"{POOL}/matches")
    def waiting_matches(self, pool: str) -> Call[list[str]]:
        """List the matches that are waiting for a result.

        Returns:
            Their IDs, ordered by expiry.
        """

    @get(f"{POOL}/leaderboard")
    def leaderboard(
        self,
        pool: str,
        *,
        top: int = 100,
        cursor: str | None = None,
        min_events: int | None = None,
        max_deviation: float | None = None,
        active_within: str | None = None,
        provisional: bool = True,
        at: date | str | None = None,
    ) -> Call[answers.Leaderboard]:
        """Return a page of the leaderboard.

        With `at` or `max_deviation`, the response is a single page without rating changes and curves.

        Args:
            top: Number of rows.
            cursor: the value of `next` on the previous page.
            min_events: Minimum number of rated events for a player to be listed.
            max_deviation: Maximum deviation for a player to be listed.
            active_within: How recently before the last event a listed player must have played, for example 90d, 12w,
                6mo or 1y.
            provisional: True to rank players with a provisional rating together with the others, False to list them
                separately.
            at: A time, or a date for the whole day.

        Returns:
            `players`, one row each with rating changes and curves; `next`, the cursor of the next page, or None on
            the last page; and the number of listed players.
        """

    @get(f"{POOL}/distribution")
    def distribution(self, pool: str) -> Call[list[answers.RatingCount]]:
        """Count the players with each whole rating.

        Returns:
            `rating, players` for each rating, lowest first.
        """

    @get(PLAYER)
    def player(self, pool: str, player: str, *, most: int = 1000) -> Call[answers.PlayerDetails]:
        """Return a player's rank and history.

        Returns:
            `rank, player, rating` and more, and `history`, the latest `most` changes, newest first.
        """

    @get(f"{PLAYER}/neighbours")
    def neighbours(self, pool: str, player: str, *, each: int = 5) -> Call[list[answers.BoardRow]]:
        """Return a player and the players with neighbouring ranks: `each` above, and as many below.

        Returns:
            One row per player, best first.
        """

    @get(f"{EVENT}/players/{{player}}")
    def explain(self, pool: str, event_id: str, player: str) -> Call[answers.ExplainedChange]:
        """Explain why an event changed a player's rating.

        Returns:
            The change in points, its reasons as rows and in groups, and the reasons in sentences.
        """

    @get(f"{PLAYER}/reasons")
    def reasons(self, pool: str, player: str, *, events: int = 10) -> Call[answers.ReasonTotals]:
        """Add up the reasons why a player's rating changed in the latest events.

        Returns:
            The change, a sentence, and `reasons`: the points for each kind of reason.
        """

    @get(f"{EVENT}/players/{{player}}/what-if")
    def what_if(self, pool: str, event_id: str, player: str) -> Call[answers.AlternativeChanges]:
        """Return how an event would have changed a player's rating with one thing changed.

        Returns:
            The actual change, and `alternatives`: a description of each, and its change in points.
        """

    @get(f"{POOL}/compare")
    def compare(self, pool: str, player: str, other: str) -> Call[Comparison]:
        """Compare two players: ranks, expected scores, and all common events.

        Returns:
            Both players with their expected scores against each other, and their common events.
        """

    @route
    def predict(
        self,
        pool: str,
        entrants: Entrants = (),
        *,
        sides: Iterable[Entrants] = (),
        top: int = 3,
    ) -> Call[FieldChances]:
        """Predict the result of a field.

        Args:
            entrants: Names of players who compete individually, or dicts with `player` and optionally `shared`, `side`,
                and `new` for a newcomer whose name is similar to a known one.
            sides: Names of the members of each side, for team events.
            top: Number of places that count as top places.

        Returns:
            `entrants`, `ranks` and `pairs` with probabilities from 0 to 1, and `newcomers`, the players who have
            not played before.
        """
        body = {"entrants": entrant_rows(entrants), "sides": [entrant_rows(side) for side in sides], "top": top}
        return json_call("POST", f"{POOL}/predict", FieldChances, body, pool=pool)

    @route
    def matchmaking(self, /, pool: str, tickets: Iterable[Mapping[str, Any]], **policy: float) -> Call[list[Match]]:
        """Propose matches to start now, given tickets with `player` and `waited_s`.

        Args:
            policy: `size`, `teams`, `least`, `target_s`, `scale`.

        Returns:
            One row per match; empty if no match should start yet.
        """
        return json_call("POST", f"{POOL}/matchmaking", list[Match], {"tickets": [*tickets]} | policy, pool=pool)

    @get(f"{POOL}/equipment")
    def equipment(self, pool: str) -> Call[list[answers.Equipment]]:
        """List the equipment that the system rates, such as cars. Equipment has no ranks.

        Returns:
            `kind, name, points, deviation, events, last_played_at` for each, by kind, with the most points first.
        """

    @get(f"{POOL}/seasons")
    def seasons(self, pool: str) -> Call[list[answers.Season]]:
        """List the seasons.

        Returns:
            `name, starts_at, keep` for each season, oldest first.
        """

    @get(f"{POOL}/seasons/{{season}}/leaderboard")
    def season_leaderboard(self, pool: str, season: str) -> Call[list[answers.BoardRow]]:
        """Return the leaderboard at the end of a season, or the current one if the season is still running.

        Returns:
            One row per player, best first.
        """

    @get(f"{PLAYER}/ranks")
    def ranks_of(self, pool: str, player: str) -> Call[list[answers.DailyRank]]:
        """Return a player's rank at 00:00 UTC of each day.

        Returns:
            `day, rank, rating` for each day, oldest first.
        """

    @get(f"{POOL}/hindsight")
    def best_ever(self, pool: str) -> Call[answers.BestEverBoard]:
        """Return the best players of all time, in hindsight. Only pools with the system adaptive have this.

        Returns:
            `as_of`, and `players`, each with `player, rating, deviation, started_at, above_next`, best first.
        """

    @get(f"{PLAYER}/hindsight")
    def hindsight_of(self, pool: str, player: str) -> Call[list[answers.HindsightPoint]]:
        """Return a player's strength at each event, estimated from all events, including later ones.

        Returns:
            `started_at, rating, deviation` for each event, oldest first.
        """

    @get(f"{POOL}/snapshots")
    def snapshot_days(self, pool: str) -> Call[list[date | float]]:
        """List the days with ranks: every day since the first event.

        Returns:
            The days, oldest first. In a numbered pool, the numbers that come after each event.
        """

    @get(f"{POOL}/snapshots/{{day}}")
    def ranks_on(self, pool: str, day: date | str) -> Call[list[answers.RankedPlayer]]:
        """Return the ranks at 00:00 UTC of a day.

        Returns:
            `rank, player, rating` for each player, best first.
        """

    @get(f"{POOL}/export/{{table}}.{{kind}}")
    def export(self, pool: str, table: str = "history", kind: str = "parquet") -> Call[bytes]:
        """Download a table.

        Args:
            table: `results` or `history`.
            kind: `parquet` or `csv`.

        Returns:
            The bytes of the file.
        """
