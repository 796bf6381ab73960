"""The routes whose arguments differ from their requests, as methods of both clients.

`make docs` writes all other routes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from podium.client.answers import Anonymization, PoolSummary, Receipt, Rerated
from podium.client.calls import Call, Entrants, Moment, entrant_rows, json_call, rerated, route
from podium.client.chance_answers import FieldChances, Match, RaceStakes

Parameter = float | str | bool | None
Event = Mapping[str, Any]  # with `event_id`, `started_at` and `entries`; each entry has a `player`


def cells_of(entrant: Mapping[str, Any]) -> str:
    """Return an entrant as `Ana,car=Ferrari,side=white`."""
    given = {**(entrant.get("shared") or {})}
    if entrant.get("side"):
        given["side"] = entrant["side"]
    cells = [entrant["player"], *(f"{kind}={name}" for kind, name in given.items())]
    return ",".join('"{}"'.format(cell.replace('"', '""')) for cell in cells)


class CustomRoutes:
    """Routes with special arguments: events, parameters by name, entrants' names, or a season's date or number."""

    @route
    def create_pool(
        self,
        /,
        name: str,
        system: str,
        *,
        order: Literal["dated", "sequence"] | None = None,
        **parameters: Parameter,
    ) -> Call[PoolSummary]:
        """Create a pool. `describe_pool` gives it a title and makes it public.

        Args:
            name: Name of the pool.
            system: Rating system.
            order: `dated` if its events have dates, or `sequence` if they have numbers instead. Default: the first
                event decides.
            parameters: Parameters of the system.

        Returns:
            The pool: `name, system, parameters, notice, title, contact, player_word, public`.

        Raises:
            ClientError: 409 if the pool exists, 422 if the system or a parameter is invalid.
        """
        body = {"name": name, "system": system, "order": order, "parameters": parameters}
        return json_call("POST", "/pools", PoolSummary, body)

    @route
    def configure(self, /, pool: str, system: str, *, dry_run: bool = False, **parameters: Parameter) -> Call[int]:
        """Rate a pool again with another system, starting with its first event.

        Args:
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """
        body, query = {"system": system, "parameters": parameters}, {"dry_run": dry_run}
        return json_call("PUT", "/pools/{pool}/system", Rerated, body, query, pool=pool).then(rerated)

    @route
    def begin_season(
        self,
        pool: str,
        name: str,
        starts_at: Moment | float,
        *,
        keep: float,
        widens: bool = True,
        dry_run: bool = False,
    ) -> Call[int]:
        """Begin a season, which reduces every lead over a newcomer.

        Args:
            starts_at: Start of the season; in a numbered pool, the number of its first event.
            keep: Share of each lead to keep, from 0 to 1.
            widens: True to make ratings less certain by as many points as the season moves them.
            dry_run: Save nothing.

        Returns:
            Number of history rows that changed, or would change.
        """
        when = "sequence" if isinstance(starts_at, int | float) else "starts_at"
        body, query = {"name": name, when: starts_at, "keep": keep, "widens": widens}, {"dry_run": dry_run}
        return json_call("POST", "/pools/{pool}/seasons", Rerated, body, query, pool=pool).then(rerated)

    @route
    def submit(
        self, pool: str, events: Event | Iterable[Event], *, dry_run: bool = False, effects_after: str | None = None
    ) -> Call[list[Receipt]]:
        """Submit one or several events, each `{"event_id", "started_at", "entries": [{"player", …}]}`.

        Without `started_at`, the event starts now. In a pool with the order `sequence`, it has a number instead, which
        is the next one by default.

        Args:
            dry_run: Save nothing.
            effects_after: The value of `next` in the previous receipt of a dry run, to get the next smaller effects.

        Returns:
            One receipt per event: `event_id, seq, status, reason, duplicate, changes, rerated, effects, totals,
            next, warnings, head, notice`.

        Raises:
            ClientError: 409 if the event exists with different content, 422 if an event is invalid.
        """
        body = events if isinstance(events, Mapping) else {"events": [*events]}
        query = {"dry_run": dry_run, "effects_after": effects_after}
        return json_call("POST", "/pools/{pool}/events", list[Receipt], body, query, pool=pool)

    @route
    def amend(
        self,
        pool: str,
        event: Event,
        *,
        reason: str = "",
        dry_run: bool = False,
        effects_after: str | None = None,
        version: str | None = None,
    ) -> Call[Receipt]:
        """Correct an event.

        Args:
            reason: Reason for the log, whose text can be deleted later.
            dry_run: Save nothing.
            effects_after: The value of `next` in the previous receipt of a dry run, to get the next smaller effects.
            version: The event's version when you read it. If the event has changed since then, it stays unchanged
                (412).

        Returns:
            A receipt, as in `submit`.

        Raises:
            ClientError: 404 if there is no such event, 412 if it has a different version, 422 if it is invalid.
        """
        query = {"reason": reason, "dry_run": dry_run, "effects_after": effects_after}
        names = {"pool": pool, "event_id": str(event["event_id"])}
        return json_call("PUT", "/pools/{pool}/events/{event_id}", Receipt, event, query, **names).of_version(version)

    @route
    def anonymize(self, pool: str, player: str, *, dry_run: bool = False) -> Call[str | Anonymization]:
        """Anonymize a player: remove all names, including from titles, IDs and reasons.

        Args:
            dry_run: Save nothing.

        Returns:
            The pseudonym or, with `dry_run`, all replacements that would be made.
        """
        path, query = "/pools/{pool}/players/{player}/anonymize", {"dry_run": dry_run}
        call = json_call("POST", path, Anonymization, None, query, pool=pool, player=player)
        return call.then(lambda answer: answer if dry_run else answer["name"])

    @route
    def predict(
        self, pool: str, entrants: Entrants = (), *, sides: Iterable[Entrants] = (), top: int = 3
    ) -> Call[FieldChances]:
        """Predict the result of a race between these entrants.

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
        return json_call("POST", "/pools/{pool}/predict", FieldChances, body, pool=pool)

    @route
    def matchmaking(self, /, pool: str, tickets: Iterable[Mapping[str, Any]], **policy: float) -> Call[list[Match]]:
        """Propose matches to start now. Each ticket has a `player` and `waited_s`.

        Args:
            policy: `size`, `teams`, `least`, `target_s`, `scale`.

        Returns:
            One row per match. The list is empty if no match should start yet.
        """
        body = {"tickets": [*tickets]} | policy
        return json_call("POST", "/pools/{pool}/matchmaking", list[Match], body, pool=pool)

    @route
    def stakes(
        self,
        pool: str,
        entrants: Entrants,
        player: str | None = None,
        *,
        heats: int = 1,
        new: Sequence[str] = (),
        margin: float | None = None,
    ) -> Call[RaceStakes]:
        """Return the rating change for each place in a race between these entrants, in the form of `fixture_stakes`.

        Args:
            entrants: Up to 200 names, or dicts with `player` and optionally `shared`, `side`, and `new` for a newcomer
                whose name is similar to a known one.
            player: Player whose table to return. A player who is not among the entrants is added. Default: the first
                entrant.
            heats: Number of heats, from 1 to 100; the player takes the same place in each.
            new: Newcomers whose names are similar to known ones.
            margin: Margin of a win between two sides. Default: the usual margin of the pool.

        Returns:
            `stakes`, one row per place; `entrants`, each with the break-even place; and a summary in words.
        """
        rows = entrant_rows(entrants) or []
        query = {"entrants": [row["player"] for row in rows], "player": player, "heats": heats, "margin": margin}
        query["new"] = [*new, *(row["player"] for row in rows if row.get("new"))]
        query["with"] = [cells_of(row) for row in rows if row.keys() > {"player"}]
        return json_call("GET", "/pools/{pool}/stakes", RaceStakes, None, query, pool=pool)

    @route
    def export(self, pool: str, table: str = "history", kind: str = "parquet") -> Call[bytes]:
        """Download a table.

        Args:
            table: `results` or `history`.
            kind: `parquet` or `csv`.

        Returns:
            The bytes of the file.
        """
        return json_call("GET", "/pools/{pool}/export/{table}.{kind}", bytes, pool=pool, table=table, kind=kind)
