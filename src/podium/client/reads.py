"""The routes that read, each a method of both clients."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from podium.client import answers
from podium.client.calls import EVENT, PLAYER, POOL, Call, get, json_call, route
from podium.client.chance_answers import Comparison, FieldChances, Match
from podium.client.pages import entrant_rows


class ReadRoutes:
    """What can be read of ladders."""

    @get("/pools")
    def pools(self) -> Call[list[answers.PoolSummary]]:
        """List every ladder.

        Returns:
            `name, system, parameters, notice, title, contact, player_word, public` of each.
        """

    @get(POOL)
    def pool(self, pool: str) -> Call[answers.PoolSummary]:
        """Show a ladder.

        Returns:
            It, as `pools` has it.
        """

    @get(f"{POOL}/log")
    def log(self, pool: str, *, after: int = 0, most: int = 100) -> Call[list[answers.LogRecord]]:
        """List what was done to a ladder, oldest first.

        Args:
            after: entries above this number.
            most: entries to list.

        Returns:
            A record each: `seq, kind, subject, received_at, actor`.
        """

    @get(EVENT)
    def event(self, pool: str, event_id: str) -> Call[answers.EventDetails]:
        """Show an event as it is now, and what it did.

        Returns:
            Its entries, status, time and changes.
        """

    @get(f"{POOL}/matches/{{match_id}}")
    def match(self, pool: str, match_id: str) -> Call[answers.RegisteredMatch]:
        """Show a registered match, and what came of it.

        Returns:
            The match: its id, entrants, status and expiry, and the events that are its results.
        """

    @get(f"{POOL}/matches")
    def waiting_matches(self, pool: str) -> Call[list[str]]:
        """List the matches that wait for a result.

        Returns:
            Their ids, the first to expire first.
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
        at: date | str | None = None,
    ) -> Call[answers.BoardPage]:
        """Show a page of the leaderboard; filtered, or as of a moment, it is one page.

        Args:
            top: rows of the page.
            cursor: `next` of the page before.
            min_events: rated events that a listed player has at least.
            max_deviation: the largest deviation of a listed player.
            active_within: how long ago a listed player has played at most, as 90d, 12w, 6mo or 1y.
            at: a moment, or a whole day.

        Returns:
            `players`, a row each, and `next`, the cursor of the page after it; None on the last.
        """

    @get(f"{POOL}/distribution")
    def distribution(self, pool: str) -> Call[list[answers.RatingCount]]:
        """Count the players of each whole rating.

        Returns:
            `rating, players` each, lowest first.
        """

    @get(PLAYER)
    def player(self, pool: str, player: str, *, most: int = 1000) -> Call[answers.PlayerDetails]:
        """Show a player's rank and history.

        Returns:
            `rank, player, rating` and the like, and `history`, the `most` newest changes, newest first.
        """

    @get(f"{PLAYER}/neighbours")
    def neighbours(self, pool: str, player: str, *, each: int = 5) -> Call[list[answers.BoardRow]]:
        """Show a player among those ranked next: `each` above, and as many below.

        Returns:
            A row a player, best first.
        """

    @get(f"{EVENT}/players/{{player}}")
    def explain(self, pool: str, event_id: str, player: str) -> Call[answers.ExplainedChange]:
        """Explain why a player's rating moved in an event.

        Returns:
            The change in points, its reasons as rows and in groups, and the reasons in sentences.
        """

    @get(f"{EVENT}/players/{{player}}/what-if")
    def what_if(self, pool: str, event_id: str, player: str) -> Call[answers.AlternativeChanges]:
        """Show what an event would have done to a player's rating with one thing changed.

        Returns:
            The change as it was, and `alternatives`: what was changed in words, and the change in points then.
        """

    @get(f"{POOL}/compare")
    def compare(self, pool: str, player: str, other: str) -> Call[Comparison]:
        """Compare two players: where they stand, what is expected, and every event in which they met.

        Returns:
            Both as they stand, with the expected score of each against the other, and their common events.
        """

    @route
    def predict(
        self,
        pool: str,
        entrants: Iterable[str | Mapping[str, Any]] = (),
        *,
        sides: Iterable[Iterable[str | Mapping[str, Any]]] = (),
        top: int = 3,
    ) -> Call[FieldChances]:
        """Predict the chances of a field.

        Args:
            entrants: names of those who start alone, or dicts as of a result: `player`, `shared`, `side`, and `new` for
                a newcomer whose name is nearly a known one.
            sides: the names of each side's members, where several start together.
            top: how many places count as the top.

        Returns:
            `entrants`, `ranks` and `pairs` with chances between 0 and 1, and `newcomers`, who have not played.
        """
        body = {"entrants": entrant_rows(entrants), "sides": [entrant_rows(side) for side in sides], "top": top}
        return json_call("POST", f"{POOL}/predict", FieldChances, body, pool=pool)

    @route
    def matchmaking(self, /, pool: str, tickets: Iterable[Mapping[str, Any]], **policy: float) -> Call[list[Match]]:
        """Propose the matches to start now, of tickets with a `player` and `waited_s` each.

        Args:
            policy: `size`, `teams`, `least`, `target_s`, `scale`.

        Returns:
            A row a match; empty where nobody should start yet.
        """
        return json_call("POST", f"{POOL}/matchmaking", list[Match], {"tickets": [*tickets]} | policy, pool=pool)

    @get(f"{POOL}/things")
    def things(self, pool: str) -> Call[list[answers.SharedThing]]:
        """List what entrants share and the system rates, as cars; none has a rank.

        Returns:
            `kind, name, points, deviation, events, last_played_at` of each: by kind, most points first.
        """

    @get(f"{POOL}/seasons")
    def seasons(self, pool: str) -> Call[list[answers.Season]]:
        """List the seasons.

        Returns:
            `name, starts_at, keep` of each, oldest first.
        """

    @get(f"{POOL}/seasons/{{season}}/leaderboard")
    def season_board(self, pool: str, season: str) -> Call[list[answers.BoardRow]]:
        """Show how the board stood when a season ended, or as it stands where it is not over.

        Returns:
            A row a player, best first.
        """

    @get(f"{PLAYER}/ranks")
    def ranks_of(self, pool: str, player: str) -> Call[list[answers.DailyRank]]:
        """Show a player's rank at 00:00 UTC, day by day.

        Returns:
            `day, rank, rating` each, oldest first.
        """

    @get(f"{POOL}/hindsight")
    def best_ever(self, pool: str) -> Call[answers.BestEverBoard]:
        """Show the best ever, in hindsight; only pools of the system podium have it.

        Returns:
            `as_of`, and of each of the `players` `player, rating, deviation, started_at, above_next`, best first.
        """

    @get(f"{PLAYER}/hindsight")
    def hindsight_of(self, pool: str, player: str) -> Call[list[answers.HindsightPoint]]:
        """Show how strong a player was at each event, knowing all since.

        Returns:
            `started_at, rating, deviation` each, oldest first.
        """

    @get(f"{POOL}/snapshots")
    def snapshot_days(self, pool: str) -> Call[list[date | float]]:
        """List the days that have ranks: every day since the first event.

        Returns:
            The days, oldest first; in a numbered pool, the numbers that follow an event.
        """

    @get(f"{POOL}/snapshots/{{day}}")
    def ranks_on(self, pool: str, day: date | str) -> Call[list[answers.RankedPlayer]]:
        """Show the ranks at a day's 00:00 UTC.

        Returns:
            `rank, player, rating` each, best first.
        """

    @get(f"{POOL}/export/{{table}}.{{kind}}")
    def export(self, pool: str, table: str = "history", kind: str = "parquet") -> Call[bytes]:
        """Fetch a table as a file.

        Args:
            table: `results` or `history`.
            kind: `parquet` or `csv`.

        Returns:
            The bytes of the file.
        """
