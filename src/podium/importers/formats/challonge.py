"""A Challonge tournament as version 1 of its interface gives it, with participants and matches.

Source: `tournaments/{tournament}.json?include_participants=1&include_matches=1` of Challonge's API v1.
"""

import re
from collections.abc import Sequence

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, refuse_file
from podium.importers.trees import Node, records

PAIR = re.compile(r"^(-?[0-9]{1,9})-(-?[0-9]{1,9})$")


def read(files: Sequence[Source], collector: Collector) -> None:
    for each, file in records(files, collector):
        tournament = each.get("tournament")
        if not isinstance(tournament.value, dict):
            refuse_file(file, f"has no tournament of Challonge's version 1 at {each.place}")
        for name in ("participants", "matches"):
            if not isinstance(tournament.get(name).value, list):
                refuse_file(file, f"has no list {name}; fetch it with include_{name}=1")
        read_tournament(tournament, file, collector)


def read_tournament(tournament: Node, file: str, collector: Collector) -> None:
    pool = tournament.get("game_name").text() or tournament.get("url").text()
    players: dict[str, Node] = {}
    for each in tournament.get("participants"):
        participant = each.get("participant")
        for number in [participant.get("id"), *participant.get("group_player_ids")]:
            if number.text() is not None:
                players[number.text() or ""] = participant
    for each in tournament.get("matches"):
        take(each.get("match"), pool, players, file, collector)


def take(match: Node, pool: str | None, players: dict[str, Node], file: str, collector: Collector) -> None:
    if isinstance(match.value, dict) and match.get("state").value != "complete":
        collector.drop("not complete")
        return
    if match.get("forfeited").value is True:
        collector.drop("forfeited")
        return
    sides = [match.get("player1_id"), match.get("player2_id")]
    if match.get("id").text() is not None and any(side.value is None for side in sides):
        collector.drop("bye")
        return
    event = Event(file, match.place, f"challonge-{match.get('id').text()}", shared={"pool": pool})
    event.require(match.get("id"), "the id of a match")
    if not pool:
        event.refuse(None, "the tournament has neither a game_name nor an url")
    event.start(map(match.get, ("started_at", "completed_at")), times.of_iso, "is no moment in ISO 8601")
    for side, position, score in zip(sides, positions(match, sides, event), scores(match, event), strict=True):
        participant = players.get(side.text() or "")
        if participant is None:
            event.refuse(side.value, "is no participant of the tournament", place=side.place)
            continue
        name = participant.get("challonge_username").text() or event.require(participant.get("name"), "a name")
        if name:
            event.add(name, {"position": position, "score": score}, place=side.place)
    collector.take(event)


def positions(match: Node, sides: list[Node], event: Event) -> tuple[float, float]:
    """The places of both sides: by the winner, or shared where there is neither winner nor loser."""
    winner, loser = match.get("winner_id"), match.get("loser_id")
    if winner.value is None:
        if loser.value is not None:
            event.refuse(None, "is missing, and there is a loser", place=winner.place)
        return 1.0, 1.0
    if winner.text() not in [side.text() for side in sides]:
        event.refuse(winner.value, "is neither player of the match", place=winner.place)
    return (1.0, 2.0) if winner.text() == sides[0].text() else (2.0, 1.0)


def scores(match: Node, event: Event) -> tuple[float | None, float | None]:
    """The points of one set, or of several how many each side won."""
    node = match.get("scores_csv")
    if node.value in (None, ""):
        return None, None
    pairs = [PAIR.match(part.strip()) for part in node.value.split(",")] if isinstance(node.value, str) else [None]
    points = [(int(pair[1]), int(pair[2])) for pair in pairs if pair]
    if len(points) < len(pairs):
        event.refuse(node.value, "must be scores like 3-1,3-2", place=node.place)
        return None, None
    if len(points) == 1:
        return float(points[0][0]), float(points[0][1])
    return float(sum(one > other for one, other in points)), float(sum(other > one for one, other in points))
