"""Speedrun races of racetime.gg: one race, a page of a category's races, or one of either a line.

Source: racetimeGG/racetime-app, whose own rating also goes by category and goal.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, refuse_file
from podium.importers.trees import Node, records

UNFINISHED = ("open", "invitational", "pending", "in_progress", "cancelled")
STATUSES = {"done": "finished", "dnf": "dnf", "dq": "disqualified"}
ABSENT = ("requested", "invited", "declined", "partitioned", "not_ready", "ready")


class Entrant(NamedTuple):
    node: Node
    player: str | None  # None: the user is deleted
    name: str | None
    team: str | None
    status: str  # a column's
    time: Decimal | None
    place: int | None


def read(files: Sequence[Source], collector: Collector) -> None:
    for root, file in records(files, collector):
        races = root.get("races")
        for race in races if isinstance(races.value, list) else [root]:
            if not isinstance(race.value, dict) or not {"name", "status", "entrants"} & set(race.value):
                refuse_file(file, f"has no race of racetime.gg at {race.place}")
            take(race, file, collector)


def take(race: Node, file: str, collector: Collector) -> None:
    event = Event(file, race.place, race.get("name").text() or "")
    status = race.get("status").get("value")
    if status.value in UNFINISHED:
        collector.drop("cancelled" if status.value == "cancelled" else "not finished")
        return
    if status.value != "finished":
        event.refuse(status.value, "is no status of a race", place=status.place)
    event.start([race.get("started_at")], times.of_iso, "is no moment in ISO 8601")
    category = race.get("category").get("slug").text() or event.event_id.rpartition("/")[0]
    goal = race.get("goal").get("name").text()
    if not goal or not category:
        event.refuse(race.get("goal").value, "must have a name, and the race a category", place=race.get("goal").place)
    is_ranked = race.get("ranked").value is not False and race.get("goal").get("custom").value is not True
    event.shared = {"pool": f"{category}/{goal}", "ranked": is_ranked}
    if not isinstance(race.get("entrants").value, list):
        remedy = "must be a list; fetch the races with show_entrants=true"
        event.refuse(race.get("entrants").value, remedy, place=race.get("entrants").place)
    entrants = [each for node in race.get("entrants") if (each := entrant(node, event, collector)) is not None]
    if race.get("team_race").value is True or any(each.team is not None for each in entrants):
        add_teams(entrants, event)
    else:
        check_places(entrants, event)
        for each in entrants:
            if each.player is not None:
                values = {"position": each.place and float(each.place), "time_s": each.time and float(each.time)}
                event.add(each.player, values | {"status": each.status}, name=each.name, place=each.node.place)
    collector.drop("deleted user", sum(each.player is None for each in entrants))
    collector.take(event)


def entrant(node: Node, event: Event, collector: Collector) -> Entrant | None:
    """An entrant, or None for one who did not start or is reported."""
    status = node.get("status").get("value")
    if status.value in ABSENT:
        collector.drop(str(status.value))
        return None
    if status.value not in STATUSES:
        remedy = "stands in a race that is finished" if status.value == "in_progress" else "is no status of an entrant"
        event.refuse(status.value, remedy, place=status.place)
        return None
    user = node.get("user")
    player = user.get("id").text()
    if user.value is not None and not event.require(user.get("id"), "the id of a user"):
        return None
    time = place = None
    if status.value == "done":
        time, place = finish_time(node.get("finish_time"), event), node.get("place").value
        if place is not None and not (node.get("place").is_number() and isinstance(place, int) and place > 0):
            event.refuse(place, "must be a whole number above 0", place=node.get("place").place)
            place = None
    team = node.get("team").get("slug").text()
    return Entrant(node, player, user.get("full_name").text(), team, STATUSES[status.value], time, place)


def finish_time(node: Node, event: Event) -> Decimal | None:
    iso = isinstance(node.value, str) and node.value.startswith("P")
    time = times.parse(node.value) if iso else None
    if time is None or time.sign or not time.seconds:
        remedy = "is missing; who is done has a time" if node.value is None else "must be like P0DT01H15M23.123456S"
        event.refuse(node.value, remedy, place=node.place)
        return None
    return time.seconds


def check_places(entrants: list[Entrant], event: Event) -> None:
    placed = [each for each in entrants if each.place is not None and each.time is not None]
    placed.sort(key=lambda each: (each.place or 0, each.time or 0))
    slowest, slowest_place = Decimal(0), 0
    for each in placed:
        time, place = each.time or Decimal(0), each.place or 0
        if time < slowest and place > slowest_place:
            remedy = f"is a worse place than {slowest_place}, and its time is shorter"
            event.refuse(place, remedy, place=each.node.get("place").place)
        if time > slowest:
            slowest, slowest_place = time, place


def add_teams(entrants: list[Entrant], event: Event) -> None:
    """Place teams by their members' mean time, as racetime does; those with a dnf or dq share the last, uncompared."""
    teams: dict[str, list[Entrant]] = {}
    for each in entrants:
        teams.setdefault(each.team or f"{each.node.place}, alone", []).append(each)
    done = {team: own for team, own in teams.items() if all(each.status == "finished" for each in own)}
    nothing = Decimal(0)
    means = {team: sum((each.time or nothing for each in own), nothing) / len(own) for team, own in done.items()}
    ranks: dict[Decimal, int] = {}
    for number, mean in enumerate(sorted(means.values()), start=1):
        ranks.setdefault(mean, number)
    for team, members in teams.items():
        rank = float(ranks[means[team]]) if team in means else None
        for each in members:
            status = "dnf" if rank is None and each.status == "finished" else each.status
            values = {"team": each.team, "position": rank, "status": status}
            if each.player is not None:
                event.add(each.player, values, name=each.name, place=each.node.place)
