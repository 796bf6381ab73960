"""The routes that pages read, and those of races to come, each a method of both clients."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from podium.client import page_answers as answers
from podium.client.calls import EVENT, PLAYER, POOL, Call, Moment, get, json_call, route
from podium.client.chance_answers import Fixture, Places, RaceStakes, RunningRace
from podium.errors import ParameterError


class PageRoutes:
    """What pages show of ladders, players and events."""

    @get(f"{POOL}/board")
    def board(
        self,
        pool: str,
        *,
        top: int = 50,
        cursor: str | None = None,
        min_events: int | None = None,
        active_within: str | None = None,
        unsettled: bool = False,
    ) -> Call[answers.ListedPage]:
        """Show a page of the board of those who are listed, with their ranks among each other.

        Args:
            top: rows of the page.
            cursor: `next` of the page before.
            min_events: rated events that a listed player has at least.
            active_within: how long before the newest event a listed player has played at most, as 90d, 12w or 1y.
            unsettled: rank players who are not settled among the others.

        Returns:
            `rows` with moves and curves, `next`, and how many are listed.
        """

    @get(f"{POOL}/board/newest")
    def newest_entrants(
        self,
        pool: str,
        *,
        top: int = 200,
        min_events: int | None = None,
        active_within: str | None = None,
        unsettled: bool = False,
    ) -> Call[answers.ListedPage]:
        """Show those of the board who were in the newest rated event, the largest gain first; filtered as `board`.

        Returns:
            As `board`.
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
        unsettled: bool = False,
    ) -> Call[answers.PlayerPage]:
        """Find the page of the board, filtered as `board`, that a player is on.

        Returns:
            `cursor`, to be sent for that page; None of whoever is not listed.
        """

    @get(f"{POOL}/search")
    def search(self, pool: str, text: str, *, most: int = 10) -> Call[list[answers.FoundPlayer]]:
        """Find players by how a name or a former one begins, or one of its words.

        Returns:
            `player, rating, rank, former_name` and the like of each; similar names where none is found.
        """

    @get(f"{POOL}/events")
    def events(self, pool: str, *, top: int = 50, cursor: str | None = None) -> Call[answers.EventListPage]:
        """List events, newest first, with a headline each.

        Returns:
            `events`, and `next`, the cursor of the page after it; None on the last.
        """

    @get(f"{EVENT}/adjacent")
    def adjacent_events(self, pool: str, event_id: str) -> Call[answers.AdjacentEvents]:
        """Name the events before and after an event.

        Returns:
            `previous` and `next`.
        """

    @get(f"{POOL}/movers")
    def movers(self, pool: str, *, days: int = 7, most: int = 10) -> Call[answers.Movers]:
        """Show who moved most in the days up to the newest rated event, and the surprise of these days.

        Returns:
            `since, gained, lost, surprise`; `most` players on either side.
        """

    @get(f"{PLAYER}/card")
    def player_card(self, pool: str, player: str) -> Call[answers.PlayerCard]:
        """Show a player at a glance.

        Returns:
            Rank, form, trend, streaks, records and neighbours.
        """

    @get(f"{PLAYER}/curve")
    def rating_curve(
        self, pool: str, player: str, *, since: date | str | None = None, most: int = 300
    ) -> Call[list[answers.CurvePoint]]:
        """Show a player's rating after each change.

        Args:
            since: a moment, or a day from its first moment on.
            most: points at most; of more, those that tell the shape.

        Returns:
            The points, oldest first.
        """

    @get(f"{PLAYER}/changes")
    def player_changes(
        self, pool: str, player: str, *, top: int = 50, cursor: str | None = None
    ) -> Call[answers.ChangesPage]:
        """Show a page of a player's changes, newest first.

        Returns:
            `rows`, and `next`, the cursor of the page after it; None on the last.
        """

    @get(f"{PLAYER}/rivals")
    def rivals(self, pool: str, player: str) -> Call[answers.Rivals]:
        """Show whom a player met in the newest hundred events, and how it went.

        Returns:
            `events, duels, won, expected`, `opponents`, a row each, and the `best_scalp`.
        """

    @get(f"{EVENT}/field")
    def event_field(self, pool: str, event_id: str) -> Call[answers.EventField]:
        """Show how strong the field of an event was, and how well each played in it.

        Returns:
            `players, mean_rating`, and the `performances`.
        """

    @get(f"{EVENT}/record")
    def event_record(self, pool: str, event_id: str) -> Call[list[answers.CorrectionRecord]]:
        """List what was done to an event, oldest first.

        Returns:
            A record each: who, why, what it moved, and the `lines` that it changed.
        """

    @get(f"{EVENT}/players/{{player}}/fairness")
    def fair_expectation(self, pool: str, event_id: str, player: str) -> Call[answers.FairExpectation]:
        """Say what would have been fair to expect of a player in an event.

        Returns:
            `duels, promised, fair`, and an `example` of such promises; the two are None where too few are known.
        """

    @get(f"{POOL}/facts")
    def facts(self, pool: str) -> Call[answers.PoolFacts]:
        """Show what a ladder's whole history says of its ratings.

        Returns:
            `promise` by leads, `weights` of duels by event, and `reliability` of promises.
        """


FIXTURE = f"{POOL}/fixtures/{{fixture_id}}"
Entrants = Iterable[str | Mapping[str, Any]]


def entrant_rows(entrants: Entrants | None) -> list[Mapping[str, Any]] | None:
    """Return entrants as the service takes them; a ParameterError where they are a text, which has letters."""
    if isinstance(entrants, str):
        raise ParameterError(f"the entrants {entrants!r} are a text; write them as a list of names")
    return None if entrants is None else [{"player": each} if isinstance(each, str) else each for each in entrants]


def cells_of(entrant: Mapping[str, Any]) -> str:
    """An entrant as `Ana,car=Ferrari,side=white`."""
    given = {**(entrant.get("shared") or {})}
    if entrant.get("side"):
        given["side"] = entrant["side"]
    cells = [entrant["player"], *(f"{kind}={name}" for kind, name in given.items())]
    return ",".join('"{}"'.format(cell.replace('"', '""')) for cell in cells)


class FixtureRoutes:
    """What can be read and done of races to come."""

    @route
    def plan_fixture(
        self,
        pool: str,
        fixture_id: str,
        starts_at: Moment,
        *,
        title: str | None = None,
        entrants: Entrants | None = None,
    ) -> Call[Fixture]:
        """Plan a race; its result is the event of its id, and who is missing from that did not start.

        Args:
            starts_at: when it starts.
            title: what people call it.
            entrants: names, or a `player` and a `team` each; without them whoever comes starts.

        Returns:
            The fixture: its id, title, start, entrants and status.

        Raises:
            ClientError: 409 or 422 where an event or a match has the id, or an entrant stands there twice.
        """
        body = {"fixture_id": fixture_id, "starts_at": starts_at, "title": title, "entrants": entrant_rows(entrants)}
        return json_call("POST", f"{POOL}/fixtures", Fixture, body, pool=pool)

    @route
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
        """Change a race to come: move it, name it, let others start; one that was cancelled takes place again.

        Args:
            starts_at: here as below, None leaves it as it is.
            title: an empty text removes it.
            entrants: all who start.
            anybody: it has no entrants any more: whoever comes starts.

        Returns:
            The fixture as it stands.
        """
        body = {"starts_at": starts_at, "title": title, "entrants": entrant_rows(entrants), "anybody": anybody}
        return json_call("PUT", FIXTURE, Fixture, body, pool=pool, fixture_id=fixture_id)

    @route
    def cancel_fixture(self, pool: str, fixture_id: str) -> Call[Fixture]:
        """Say that a race will not take place.

        Returns:
            The fixture as it stands.
        """
        return json_call("POST", f"{FIXTURE}/cancel", Fixture, pool=pool, fixture_id=fixture_id)

    @get(FIXTURE)
    def fixture(self, pool: str, fixture_id: str) -> Call[Fixture]:
        """Show a race to come as it is planned, and what became of it.

        Returns:
            The fixture: its id, title, start, entrants and status.
        """

    @get(f"{POOL}/fixtures")
    def fixtures(
        self, pool: str, *, since: Moment | None = None, ahead: bool = False, most: int = 100
    ) -> Call[list[Fixture]]:
        """List races to come and those that were planned, the first to start first.

        Args:
            since: those that start then or later.
            ahead: only those that may still take place.
            most: fixtures to list.

        Returns:
            A fixture each.
        """

    @route
    def post_places(
        self, pool: str, fixture_id: str, places: Iterable[str], *, out: Iterable[str] = ()
    ) -> Call[Places]:
        """Say how a race stands at this moment, at most once a second; nothing of it counts.

        Args:
            places: the players in their places, the first first.
            out: those who do not finish.

        Returns:
            The places of the moment.

        Raises:
            ClientError: 404 where one is not entered, 409 where it has its result or was posted within this second.
        """
        body = {"places": [*places], "out": [*out]}
        return json_call("PUT", f"{FIXTURE}/places", Places, body, pool=pool, fixture_id=fixture_id)

    @get(f"{FIXTURE}/places")
    def places(self, pool: str, fixture_id: str) -> Call[RunningRace]:
        """Show how a race stands, and what it would do to ratings if it ended now.

        Returns:
            `places`, `out`, `posted_at`, and the `changes` by player.
        """

    @get(f"{FIXTURE}/stakes")
    def fixture_stakes(
        self, pool: str, fixture_id: str, player: str | None = None, *, heats: int = 1, new: Sequence[str] = ()
    ) -> Call[RaceStakes]:
        """Show what each place of a race to come would bring.

        Args:
            player: whose table; one who is not among the entrants joins them. The first one's where None.
            heats: of the race, from 1 to 100, with the same place in each.
            new: newcomers, even if their names are nearly known ones.

        Returns:
            `stakes`, a line a place; `entrants`, each with the break-even place; and the table in words.
        """

    @route
    def stakes(
        self, pool: str, entrants: Entrants, player: str | None = None, *, heats: int = 1, new: Sequence[str] = ()
    ) -> Call[RaceStakes]:
        """Show what each place of a race of these entrants would bring, as `fixture_stakes` does.

        Args:
            entrants: up to 200 names, or dicts as of a result: `player`, `shared`, `side`, and `new` for a newcomer
                whose name is nearly a known one.
            player: whose table; one who is not among the entrants joins them. The first one's where None.
            heats: of the race, from 1 to 100, with the same place in each.

        Returns:
            `stakes`, a line a place; `entrants`, each with the break-even place; and the table in words.
        """
        rows = entrant_rows(entrants) or []
        params = {"entrants": [each["player"] for each in rows], "player": player, "heats": heats}
        params["new"] = [*new, *(each["player"] for each in rows if each.get("new"))]
        params["with"] = [cells_of(each) for each in rows if each.keys() > {"player"}]
        return json_call("GET", f"{POOL}/stakes", RaceStakes, None, params, pool=pool)
