"""The routes of races to come, each a method of both clients."""

from collections.abc import Iterable, Mapping
from typing import Any

from podium.client.calls import POOL, Call, Moment, json_call, moment_text, route
from podium.client.chance_answers import Fixture, Places, RaceStakes, RunningRace

FIXTURE = f"{POOL}/fixtures/{{fixture_id}}"
Entrants = Iterable[str | Mapping[str, Any]]


def entrant_rows(entrants: Entrants | None) -> list[Mapping[str, Any]] | None:
    """Return entrants as the service takes them."""
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

    @route
    def fixture(self, pool: str, fixture_id: str) -> Call[Fixture]:
        """Show a race to come as it is planned, and what became of it.

        Returns:
            The fixture: its id, title, start, entrants and status.
        """
        return json_call("GET", FIXTURE, Fixture, pool=pool, fixture_id=fixture_id)

    @route
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
        params: dict[str, Any] = {"ahead": "true" if ahead else "false", "most": most}
        if since is not None:
            params["since"] = moment_text(since)
        return json_call("GET", f"{POOL}/fixtures", list[Fixture], params=params, pool=pool)

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

    @route
    def places(self, pool: str, fixture_id: str) -> Call[RunningRace]:
        """Show how a race stands, and what it would do to ratings if it ended now.

        Returns:
            `places`, `out`, `posted_at`, and the `changes` by player.
        """
        return json_call("GET", f"{FIXTURE}/places", RunningRace, pool=pool, fixture_id=fixture_id)

    @route
    def fixture_stakes(
        self, pool: str, fixture_id: str, player: str | None = None, *, heats: int = 1
    ) -> Call[RaceStakes]:
        """Show what each place of a race to come would bring.

        Args:
            player: whose table; one who is not among the entrants joins them. The first one's where None.
            heats: the table is the sum of so many.

        Returns:
            `stakes`, a line a place; `entrants`, each with the break-even place; and the table in words.
        """
        params = {"player": player, "heats": heats}
        return json_call("GET", f"{FIXTURE}/stakes", RaceStakes, params=params, pool=pool, fixture_id=fixture_id)

    @route
    def stakes(self, pool: str, entrants: Entrants, player: str | None = None, *, heats: int = 1) -> Call[RaceStakes]:
        """Show what each place of a race of these entrants would bring, as `fixture_stakes` does.

        Args:
            entrants: up to 200 names, or dicts as of a result: `player`, `shared`, `side`.
            player: whose table; one who is not among the entrants joins them. The first one's where None.
            heats: the table is the sum of so many.

        Returns:
            `stakes`, a line a place; `entrants`, each with the break-even place; and the table in words.
        """
        rows = entrant_rows(entrants) or []
        params = {"entrants": [each["player"] for each in rows], "player": player, "heats": heats}
        params["with"] = [cells_of(each) for each in rows if each.keys() > {"player"}]
        return json_call("GET", f"{POOL}/stakes", RaceStakes, params=params, pool=pool)
