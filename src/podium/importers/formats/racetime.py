"""Import speedrun races from racetime.gg: a single race, a page of a category's races, or one of these per line.

Source: racetimeGG/racetime-app, which also has a separate rating for each category and goal.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, refuse_file
from podium.importers.trees import Node, records

UNFINISHED = ("open", "invitational", "pending", "in_progress", "cancelled")
STATUSES = {"done": "finished", "dnf": "dnf", "dq": "disqualified"}
ABSENT = ("requested", "invited", "declined", "partitioned", "not_ready", "ready")


class Entrant(NamedTuple):
    node: Node
    status: str  # status for the column `status`
    time: Decimal | None = None
    place: int | None = None

    @property
    def team(self) -> str | None:
        return self.node["team.slug"].text


def read(files: Sequence[Source], collector: Collector) -> None:
    for root in records(files, collector.refuse):
        for race in root["races"] if root["races"].is_list else [root]:
            if not race.is_object or not {"name", "status", "entrants"} & set(race.value):
                refuse_file(race.file, f"has no racetime.gg race at {race.place}")
            take(race, collector)


def take(race: Node, collector: Collector) -> None:
    event = Event(race.file, race.place, race["name"].text or "")
    status, goal = race["status.value"], race["goal"]
    if status.value in UNFINISHED:
        collector.drop("cancelled" if status.value == "cancelled" else "not finished")
        return
    if status.value != "finished":
        event.refuse_node(status, "is not the status of a race")
    event.start([race["started_at"]], times.of_iso, "is not a time in ISO 8601")
    category = race["category.slug"].text or event.event_id.rpartition("/")[0]
    if not goal["name"].text or not category:
        event.refuse_node(goal, "must have a name, and the race a category")
    is_ranked = race["ranked"].value is not False and goal["custom"].value is not True
    event.shared = {"pool": f"{category}/{goal['name'].text}", "ranked": is_ranked}
    if not race["entrants"].is_list:
        event.refuse_node(race["entrants"], "must be a list. Fetch the races with show_entrants=true.")
    entrants = [found for node in race["entrants"] if (found := entrant(node, event, collector)) is not None]
    if race["team_race"].value is True or any(runner.team is not None for runner in entrants):
        rows = rows_of_teams(entrants)
    else:
        check_places(entrants, event)
        rows = [
            (runner, {"position": runner.place, "time_s": runner.time and float(runner.time), "status": runner.status})
            for runner in entrants
        ]
    for runner, values in rows:
        user = runner.node["user"]
        if user["id"].text is None:
            collector.drop("deleted user")
        else:
            event.add(user["id"].text, values, name=user["full_name"].text, place=runner.node.place)
    collector.take(event)


def entrant(node: Node, event: Event, collector: Collector) -> Entrant | None:
    """Return an entrant, or None if the entrant did not start or is invalid."""
    status, place = node["status.value"], node["place"]
    if status.value in ABSENT:
        collector.drop(str(status.value))
        return None
    if status.text not in STATUSES:
        is_racing = status.value == "in_progress"
        event.refuse_node(
            status, "is impossible in a finished race" if is_racing else "is not the status of an entrant"
        )
        return None
    if node["user"].value is not None and not event.require(node["user.id"], "the ID of a user"):
        return None
    if status.text != "done":
        return Entrant(node, STATUSES[status.text])
    time = finish_time(node["finish_time"], event)
    if place.value is not None and not (place.is_number and isinstance(place.value, int) and place.value > 0):
        event.refuse_node(place, "must be a whole number above 0")
        return None
    return Entrant(node, "finished", time, place.value)


def finish_time(node: Node, event: Event) -> Decimal | None:
    time = times.parse(node.value) if isinstance(node.value, str) and node.value.startswith("P") else None
    if time is not None and time.seconds and not time.sign:
        return time.seconds
    is_missing = node.value is None
    form = "must be a time such as P0DT01H15M23.123456S"
    event.refuse_node(node, "is missing. A finisher must have a time." if is_missing else form)
    return None


def check_places(entrants: list[Entrant], event: Event) -> None:
    """Report finishers whose place is worse than a slower entrant's."""
    placed = [(runner.place, runner.time, runner.node["place"]) for runner in entrants if runner.place and runner.time]
    slowest, slowest_place = Decimal(0), 0
    for place, time, node in sorted(placed, key=lambda placed: placed[:2]):
        if time < slowest and place > slowest_place:
            event.refuse_node(node, f"is a worse place than {slowest_place}, although the time is shorter")
        if time > slowest:
            slowest, slowest_place = time, place


def rows_of_teams(entrants: list[Entrant]) -> list[tuple[Entrant, dict[str, Any]]]:
    """Place teams by the mean time of their members, as racetime.gg does.

    A team that includes a dnf or dq gets no place.
    """
    teams: dict[str, list[Entrant]] = {}
    for runner in entrants:
        teams.setdefault(runner.team or f"{runner.node.place}, alone", []).append(runner)
    means = {
        name: sum((runner.time or Decimal(0) for runner in members), Decimal(0)) / len(members)
        for name, members in teams.items()
        if all(runner.status == "finished" for runner in members)
    }
    rows = []
    for name, members in teams.items():
        rank = 1.0 + sum(mean < means[name] for mean in means.values()) if name in means else None
        for runner in members:
            status = "dnf" if rank is None and runner.status == "finished" else runner.status
            rows.append((runner, {"team": runner.team, "position": rank, "status": status}))
    return rows
