"""The routes for pages and upcoming races, as methods of both clients."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from podium.client import page_answers as answers
from podium.client.answers import Leaderboard
from podium.client.calls import (
    EVENT,
    PLAYER,
    POOL,
    Call,
    Entrants,
    Moment,
    declared,
    entrant_rows,
    get,
    json_call,
    route,
)
from podium.client.chance_answers import Fixture, Places, RaceStakes, RunningRace


class PageRoutes:
    """Reads for the pages of pools, players and events."""

    @get(f"{POOL}/leaderboard/newest")
    def newest_entrants(
        self,
        pool: str,
        *,
        top: int = 200,
        min_events: int | None = None,
        active_within: str | None = None,
        provisional: bool = True,
    ) -> Call[Leaderboard]:
        """Return the entrants of the latest rated event, largest gain first, using the filters of `leaderboard`.

        Returns:
            The same as `leaderboard`.
        """

    @get(f"{PLAYER}/page")
    def page_of(
        self,
        pool: str,
        player: str,
        *,
        top: int = 50,
        min_events: int | None = None,
        active_within: str | None = None,
        provisional: bool = True,
    ) -> Call[answers.PlayerPage]:
        """Find the leaderboard page that shows a player, using the filters of `leaderboard`.

        Returns:
            `cursor`, which fetches that page, or None if the player is not listed.
        """

    @get(f"{POOL}/search")
    def search(self, pool: str, text: str, *, most: int = 10) -> Call[list[answers.FoundPlayer]]:
        """Find players by the start of a current or former name, or of one of its words.

        Returns:
            `player, rating, rank, former_name` and more per player; similar names if no name matches.
        """

    @get(f"{POOL}/events")
    def events(self, pool: str, *, top: int = 50, cursor: str | None = None) -> Call[answers.EventListPage]:
        """List events with a headline each, newest first.

        Returns:
            `events`, and `next`, the cursor of the next page, or None on the last page.
        """

    @get(f"{EVENT}/adjacent")
    def adjacent_events(self, pool: str, event_id: str) -> Call[answers.AdjacentEvents]:
        """Return the events rated just before and after a given event.

        Returns:
            `previous` and `next`.
        """

    @get(f"{POOL}/movers")
    def movers(self, pool: str, *, days: int = 7, most: int = 10) -> Call[answers.Movers]:
        """Return the largest rating changes in the days up to the latest rated event, and the biggest surprise.

        Returns:
            `since, gained, lost, surprise`, with `most` players on each side.
        """

    @get(f"{PLAYER}/card")
    def player_card(self, pool: str, player: str) -> Call[answers.PlayerCard]:
        """Return a summary of a player.

        Returns:
            Rank, form, trend, streaks, records and neighbours.
        """

    @get(f"{PLAYER}/curve")
    def rating_curve(
        self, pool: str, player: str, *, since: date | str | None = None, most: int = 300
    ) -> Call[list[answers.CurvePoint]]:
        """Return a player's rating after each change.

        Args:
            since: A time, or a date, which means the start of that day.
            most: Maximum number of points. Longer histories are thinned out, keeping the shape of the curve.

        Returns:
            The points, oldest first.
        """

    @get(f"{PLAYER}/changes")
    def player_changes(
        self, pool: str, player: str, *, top: int = 50, cursor: str | None = None
    ) -> Call[answers.ChangesPage]:
        """Return a page of a player's changes, newest first.

        Returns:
            `rows`, and `next`, the cursor of the next page, or None on the last page.
        """

    @get(f"{PLAYER}/rivals")
    def rivals(self, pool: str, player: str) -> Call[answers.Rivals]:
        """Return the opponents in a player's latest hundred events, with the results.

        Returns:
            `events, duels, won, expected`, one row per opponent in `opponents`, and the `best_win`.
        """

    @get(f"{EVENT}/field")
    def event_field(self, pool: str, event_id: str) -> Call[answers.EventField]:
        """Return the strength of an event's field, and each entrant's performance rating.

        Returns:
            `players, mean_rating`, and the `performances`.
        """

    @get(f"{EVENT}/record")
    def event_record(self, pool: str, event_id: str) -> Call[list[answers.CorrectionRecord]]:
        """List the corrections of an event, oldest first.

        Returns:
            One record per correction: actor, reason, effect, and the changed `lines`.
        """

    @get(f"{EVENT}/players/{{player}}/fairness")
    def fair_expectation(self, pool: str, event_id: str, player: str) -> Call[answers.FairExpectation]:
        """Return a player's expected wins in an event, by the ratings and by similar duels in the pool.

        Returns:
            `duels, expected, fair`, and an `example` of such expectations. `fair` and `example` are None if there are
            too few similar duels.
        """

    @get(f"{POOL}/facts")
    def facts(self, pool: str) -> Call[answers.PoolFacts]:
        """Return statistics about a pool's ratings over its whole history.

        Returns:
            `expected` scores by lead, `weights` of duels by event, and the `reliability` of expected scores.
        """


FIXTURE = f"{POOL}/fixtures/{{fixture_id}}"


def cells_of(entrant: Mapping[str, Any]) -> str:
    """Return an entrant as `Ana,car=Ferrari,side=white`."""
    given = {**(entrant.get("shared") or {})}
    if entrant.get("side"):
        given["side"] = entrant["side"]
    cells = [entrant["player"], *(f"{kind}={name}" for kind, name in given.items())]
    return ",".join('"{}"'.format(cell.replace('"', '""')) for cell in cells)


class FixtureRoutes:
    """Reads and writes of upcoming races."""

    @declared("POST", f"{POOL}/fixtures")
    def plan_fixture(
        self,
        pool: str,
        fixture_id: str,
        starts_at: Moment,
        *,
        title: str | None = None,
        entrants: Entrants | None = None,
    ) -> Call[Fixture]:
        """Plan a race.

        Its result is the event with the same ID, and entrants missing from it count as not having started.

        Args:
            starts_at: Start of the race.
            title: Title of the race.
            entrants: Names, or dicts with `player` and `team`. Default: anyone can take part.

        Returns:
            The fixture: its ID, title, start, entrants and status.

        Raises:
            ClientError: 409 or 422 if an event or match already has the ID, or an entrant is listed twice.
        """

    @declared("PUT", FIXTURE)
    def change_fixture(
        self,
        pool: str,
        fixture_id: str,
        *,
        starts_at: Moment | None = None,
        title: str | None = None,
        entrants: Entrants | None = None,
        anybody: bool = False,
    ) -> Call[Fixture]:
        """Change the time, title or entrants of an upcoming race. A cancelled race is reinstated.

        Args:
            starts_at: Start of the race. Default, as below: unchanged.
            title: Title. An empty string removes it.
            entrants: All entrants.
            anybody: Remove the entrants, so that anyone can take part.

        Returns:
            The changed fixture.
        """

    @declared("POST", f"{FIXTURE}/cancel")
    def cancel_fixture(self, pool: str, fixture_id: str) -> Call[Fixture]:
        """Cancel an upcoming race.

        Returns:
            The changed fixture.
        """

    @get(FIXTURE)
    def fixture(self, pool: str, fixture_id: str) -> Call[Fixture]:
        """Return a planned race and its status.

        Returns:
            The fixture: its ID, title, start, entrants and status.
        """

    @get(f"{POOL}/fixtures")
    def fixtures(
        self, pool: str, *, since: Moment | None = None, ahead: bool = False, most: int = 100
    ) -> Call[list[Fixture]]:
        """List planned races by start time.

        Args:
            since: Only races that start at this time or later.
            ahead: Only races that have not taken place yet.
            most: Maximum number of races.

        Returns:
            The fixtures.
        """

    @route
    def post_places(
        self, pool: str, fixture_id: str, places: Iterable[str], *, out: Iterable[str] = ()
    ) -> Call[Places]:
        """Post the current standings of a race in progress, at most once a second. They do not count towards ratings.

        Args:
            places: Players in order of their places.
            out: Players who have dropped out.

        Returns:
            The posted standings.

        Raises:
            ClientError: 404 if a player is not entered, 409 if the race already has its result or standings were posted
                less than a second ago.
        """
        body = {"places": [*places], "out": [*out]}
        return json_call("PUT", f"{FIXTURE}/places", Places, body, pool=pool, fixture_id=fixture_id)

    @get(f"{FIXTURE}/places")
    def places(self, pool: str, fixture_id: str) -> Call[RunningRace]:
        """Return the current standings of a race, and how ratings would change if it ended now.

        Returns:
            `places`, `out`, `posted_at`, and the `changes` by player.
        """

    @get(f"{FIXTURE}/stakes")
    def fixture_stakes(
        self, pool: str, fixture_id: str, player: str | None = None, *, heats: int = 1, new: Sequence[str] = ()
    ) -> Call[RaceStakes]:
        """Return the rating change for each place of an upcoming race.

        Args:
            player: Player whose table to return; added to the entrants if missing. Default: the first entrant.
            heats: Number of heats, from 1 to 100; the player takes the same place in each.
            new: Newcomers whose names are similar to known ones.

        Returns:
            `stakes`, one row per place; `entrants`, each with the break-even place; and a summary in words.
        """

    @route
    def stakes(
        self, pool: str, entrants: Entrants, player: str | None = None, *, heats: int = 1, new: Sequence[str] = ()
    ) -> Call[RaceStakes]:
        """Return the rating change for each place in a race between these entrants, like `fixture_stakes`.

        Args:
            entrants: Up to 200 names, or dicts with `player` and optionally `shared`, `side`, and `new` for a newcomer
                whose name is similar to a known one.
            player: Player whose table to return; added to the entrants if missing. Default: the first entrant.
            heats: Number of heats, from 1 to 100; the player takes the same place in each.
            new: Newcomers whose names are similar to known ones.

        Returns:
            `stakes`, one row per place; `entrants`, each with the break-even place; and a summary in words.
        """
        rows = entrant_rows(entrants) or []
        params = {"entrants": [row["player"] for row in rows], "player": player, "heats": heats}
        params["new"] = [*new, *(row["player"] for row in rows if row.get("new"))]
        params["with"] = [cells_of(row) for row in rows if row.keys() > {"player"}]
        return json_call("GET", f"{POOL}/stakes", RaceStakes, None, params, pool=pool)
