"""The routes that read pages and upcoming races, as `make docs` writes them from the service's OpenAPI document."""

from collections.abc import Iterable
from datetime import date
from typing import Literal

from podium.client.answers import (
    Leaderboard,
)
from podium.client.calls import Moment, sends
from podium.client.chance_answers import (
    Fixture,
    RaceStakes,
    RunningRace,
    Seed,
)
from podium.client.page_answers import (
    AdjacentEvents,
    Championship,
    ChangesPage,
    CorrectionRecord,
    CurvePoint,
    EventField,
    EventListPage,
    FairExpectation,
    FoundPlayer,
    GroupRank,
    Movers,
    PlayerCard,
    PlayerPage,
    PoolFacts,
    Rivals,
)


class PageRoutes:
    """The routes that read pages and upcoming races."""

    @sends("GET /pools/{pool}/events")
    def events(self, pool: str, *, top: int = 50, cursor: str | None = None) -> EventListPage:
        """Return a page of events, newest first, each with a headline.

        Args:
            top: Number of rows per page.
            cursor: Cursor: the value of `next` on the previous page.

        Returns:
            A page of the list of events. It has the fields `events, next`.
        """

    @sends("GET /pools/{pool}/fixtures")
    def fixtures(
        self, pool: str, *, since: Moment | None = None, ahead: bool = False, most: int = 100
    ) -> list[Fixture]:
        """List planned races, both upcoming and past, by start time.

        Args:
            since: Return only races that start at this time or later.
            ahead: Return only races that have not taken place yet.

        Returns:
            A list. Each item is an upcoming or past race. It has the fields `fixture_id, title, starts_at, entrants,
            status`.
        """

    @sends("GET /pools/{pool}/fixtures/{fixture_id}")
    def fixture(self, pool: str, fixture_id: str) -> Fixture:
        """Return an upcoming or past race as it was planned, with its result.

        Args:
            fixture_id: ID of the upcoming race.

        Returns:
            An upcoming or past race. It has the fields `fixture_id, title, starts_at, entrants, status`.
        """

    @sends("GET /pools/{pool}/fixtures/{fixture_id}/seeds")
    def seeds(self, pool: str, fixture_id: str, *, groups: int | None = None, protect: int = 0) -> list[Seed]:
        """Return the entrants of an upcoming race as seeds of a tournament, with bracket lines, groups and pairs.

        Args:
            fixture_id: ID of the upcoming race.
            groups: Number of groups of the tournament. Default: no groups.
            protect: Number of opening rounds in which a bracket avoids rematches.

        Returns:
            A list. Each item is a player's place in a tournament. It has the fields `seed, player, rating, line, group,
            opponent`.
        """

    @sends("GET /pools/{pool}/fixtures/{fixture_id}/stakes")
    def fixture_stakes(
        self, pool: str, fixture_id: str, player: str | None = None, *, heats: int = 1, new: Iterable[str] = ()
    ) -> RaceStakes:
        """Return how each place in an upcoming race would change the rating of the first entrant or of a given player.

        The table is at most a minute old.

        Args:
            fixture_id: ID of the upcoming race.
            player: Player whose table is returned. The player does not have to be an entrant yet.
            heats: Number of heats. The player is assumed to take the same place in each.
            new: Name of a newcomer, if it is similar to a known name. Can be repeated.

        Returns:
            The effect of each place in an upcoming race. It has the fields `stakes, entrants, headline, outlook,
            method, draws, is_exact, error, age_s`.
        """

    @sends("GET /pools/{pool}/fixtures/{fixture_id}/places")
    def places(self, pool: str, fixture_id: str) -> RunningRace:
        """Return the current standings of a race, and how ratings would change if the race ended now.

        Live standings do not count towards ratings.

        Args:
            fixture_id: ID of the upcoming race.

        Returns:
            The current places in a race, and everyone's rating change if the race ended now. It has the fields `places,
            out, posted_at, changes, likely`.
        """

    @sends("GET /pools/{pool}/leaderboard/newest")
    def newest_entrants(
        self,
        pool: str,
        *,
        top: int = 200,
        min_events: int | None = None,
        active_within: str | None = None,
        provisional: bool = True,
        country: str | None = None,
        club: str | None = None,
        division: str | None = None,
    ) -> Leaderboard:
        """List the players on the leaderboard who took part in the latest rated event, largest gain first.

        Args:
            top: Number of rows per page.
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

    @sends("GET /pools/{pool}/players/{player}/page")
    def page_of(
        self,
        pool: str,
        player: str,
        *,
        top: int = 50,
        min_events: int | None = None,
        active_within: str | None = None,
        provisional: bool = True,
        country: str | None = None,
        club: str | None = None,
        division: str | None = None,
    ) -> PlayerPage:
        """Find the page of the leaderboard that shows a player.

        Args:
            player: Name of the player.
            top: Number of rows per page.
            min_events: Minimum number of rated events for a player to be listed.
            active_within: List only players who were active within this time before the last event, such as 90d, 12w,
                6mo or 1y. In pools without dates, each event counts as one day.
            provisional: Rank provisional players together with the others. If false, list them separately.
            country: List only players with this detail.
            club: List only players with this detail.
            division: List only players with this detail.

        Returns:
            The page of a board that shows a player. It has the fields `cursor`.
        """

    @sends("GET /pools/{pool}/groups/{by}")
    def group_ranks(self, pool: str, by: Literal["club", "country", "division"], *, best: int = 3) -> list[GroupRank]:
        """Rank clubs, countries or divisions by the mean score of their highest-ranked players from the last year.

        Args:
            best: Number of players in each mean.

        Returns:
            A list. Each item is a club, country or division, ranked by its best players. It has the fields `rank, name,
            score, players, best`.
        """

    @sends("GET /pools/{pool}/search")
    def search(self, pool: str, text: str, *, most: int = 10) -> list[FoundPlayer]:
        """Find players by current or former name: exact matches first, then the highest-ranked players.

        If no name matches, return similar names.

        Args:
            text: Start of the name or of a word in it. Case and accents are ignored.
            most: Maximum number of players.

        Returns:
            A list. Each item is a player found by name. It has the fields `pool, player, rating, rank, former_name,
            is_similar`.
        """

    @sends("GET /pools/{pool}/events/{event_id}/adjacent")
    def adjacent_events(self, pool: str, event_id: str) -> AdjacentEvents:
        """Return the events rated just before and after a given event.

        Args:
            event_id: ID of the event.

        Returns:
            The events before and after a given event, in the order in which they are rated. It has the fields
            `previous, next`.
        """

    @sends("GET /pools/{pool}/movers")
    def movers(self, pool: str, *, days: int = 7, most: int = 10) -> Movers:
        """Return the largest gains and losses in the days up to the latest rated event, and the biggest surprise.

        Args:
            days: Length of the period up to the latest rated event, in days.
            most: Maximum number of gains, and of losses.

        Returns:
            The largest changes in the days up to a pool's latest event. Without dates, each event counts as a day. It
            has the fields `since, gained, lost, surprise, spread, since_sequence`.
        """

    @sends("GET /pools/{pool}/players/{player}/card")
    def player_card(self, pool: str, player: str) -> PlayerCard:
        """Return an overview of a player: rank, form, trend, streaks, records and neighbours.

        Args:
            player: Name of the player.

        Returns:
            An overview of a player. It has the fields `player, rating, deviation, score, tier, provisional, rank,
            would_be_rank, listed, move, since, events, first_played_at, last_played_at, peak, last_ten, last_ten_shown,
            last_ten_events, trend, chance, is_highest, streaks, form, best_days, worst_days, finding, finding_shown,
            nearby, encounters, former_names, first_sequence, details, since_sequence, last_sequence`.
        """

    @sends("GET /pools/{pool}/players/{player}/curve")
    def rating_curve(
        self, pool: str, player: str, *, since: date | str | None = None, most: int = 300
    ) -> list[CurvePoint]:
        """Return a player's rating after each change, oldest first.

        Args:
            player: Name of the player.
            since: Start of the curve: a date, or an event number in pools without dates.
            most: Maximum number of points. Longer curves are thinned out.

        Returns:
            A list. Each item is a player's rating after an event, or at the start of a season. It has the fields
            `started_at, event_id, change, shown, rating, deviation, sequence`.
        """

    @sends("GET /pools/{pool}/players/{player}/changes")
    def player_changes(self, pool: str, player: str, *, top: int = 50, cursor: str | None = None) -> ChangesPage:
        """Return a page of a player's changes, newest first.

        Args:
            player: Name of the player.
            top: Number of rows per page.
            cursor: Cursor: the value of `next` on the previous page.

        Returns:
            A page of a player's changes. It has the fields `rows, next`.
        """

    @sends("GET /pools/{pool}/players/{player}/rivals")
    def rivals(self, pool: str, player: str) -> Rivals:
        """Return a player's opponents in the latest 100 events, with the results against each.

        The first request takes about a second.

        Args:
            player: Name of the player.

        Returns:
            A player's opponents across the most recent events that have explanations. It has the fields `events, duels,
            won, expected, opponents, best_win`.
        """

    @sends("GET /pools/{pool}/events/{event_id}/field")
    def event_field(self, pool: str, event_id: str) -> EventField:
        """Return how strong the field of an event was, and how well each player performed.

        Args:
            event_id: ID of the event.

        Returns:
            The strength of an event's field, and the performance of each entrant. It has the fields `players,
            mean_rating, performances`.
        """

    @sends("GET /pools/{pool}/events/{event_id}/record")
    def event_record(self, pool: str, event_id: str) -> list[CorrectionRecord]:
        """Return the submission of an event and its corrections: who sent them, why, and which lines changed.

        Args:
            event_id: ID of the event.

        Returns:
            A list. Each item is the submission of an event, or a later action on it. It has the fields `seq, kind,
            received_at, actor, reason, events, players, largest, lines`.
        """

    @sends("GET /pools/{pool}/events/{event_id}/players/{player}/fairness")
    def fair_expectation(self, pool: str, event_id: str, player: str) -> FairExpectation:
        """Return a player's expected wins in an event, based on the ratings and on similar duels in the pool.

        Args:
            event_id: ID of the event.
            player: Name of the player.

        Returns:
            A player's expected number of wins in an event, and a more realistic estimate. It has the fields `duels,
            expected, fair, example`.
        """

    @sends("GET /pools/{pool}/standings")
    def standings(self, pool: str, *, season: str | None = None, top: int = 100, before: bool = False) -> Championship:
        """Return the points for each round of a season, according to the pool's points scheme.

        Args:
            season: Name of the season. Default: the current one, or all events.
            top: Number of rows per page.
            before: Return the standings before this season, which must be the pool's first.

        Returns:
            The standings of a season. It has the fields `season, scheme, counting, remaining, points_left, rounds,
            players, teams`.
        """

    @sends("GET /pools/{pool}/facts")
    def facts(self, pool: str) -> PoolFacts:
        """Return expected scores by rating lead, how much a duel changes ratings, and how reliable predictions are.

        These facts are calculated every night.

        Returns:
            Facts from a pool's whole history, as of a given day. It has the fields `day, events, players, duels,
            expected, weights, reliability`.
        """
