"""Import a Challonge tournament with its participants and matches, from version 1 of the API.

Source: `tournaments/{tournament}.json?include_participants=1&include_matches=1` in Challonge's API v1.
"""

import re
from collections.abc import Sequence

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, refuse_file
from podium.importers.trees import Node, records

PAIR = re.compile(r"^(-?[0-9]{1,9})-(-?[0-9]{1,9})$")


def read(files: Sequence[Source], collector: Collector) -> None:
    for document in records(files, collector.refuse):
        tournament = document["tournament"]
        if not tournament.is_object:
            refuse_file(document.file, f"has no Challonge API v1 tournament at {document.place}")
        for name in ("participants", "matches"):
            if not tournament[name].is_list:
                refuse_file(document.file, f"has no list {name}. Fetch it with include_{name}=1.")
        players: dict[str | None, Node] = {}
        for item in tournament["participants"]:
            participant = item["participant"]
            for number in (participant["id"], *participant["group_player_ids"]):
                if number.text is not None:
                    players[number.text] = participant
        pool = tournament["game_name"].text or tournament["url"].text
        for item in tournament["matches"]:
            take(item["match"], pool, players, collector)


def take(match: Node, pool: str | None, players: dict[str | None, Node], collector: Collector) -> None:
    sides = [match["player1_id"], match["player2_id"]]
    reason = reason_to_drop(match, sides)
    if reason:
        collector.drop(reason)
        return
    event = Event(match.file, match.place, f"challonge-{match['id'].text}", shared={"pool": pool})
    event.require(match["id"], "the ID of a match")
    if not pool:
        event.refuse(None, "the tournament has neither a game_name nor a url")
    event.start([match["started_at"], match["completed_at"]], times.of_iso, "is not a time in ISO 8601")
    for side, position, score in zip(sides, positions(match, sides, event), scores(match, event), strict=True):
        if side.text not in players:
            event.refuse_node(side, "is not a participant of the tournament")
            continue
        player = players[side.text]
        name = player["challonge_username"].text or event.require(player["name"], "a name")
        if name:
            event.add(name, {"position": position, "score": score}, place=side.place)
    collector.take(event)


def reason_to_drop(match: Node, sides: list[Node]) -> str:
    """Return the reason why a match does not count, or an empty string if it counts."""
    if match.is_object and match["state"].value != "complete":
        return "not complete"
    if match["forfeited"].value is True:
        return "forfeited"
    return "bye" if match["id"].text is not None and any(side.value is None for side in sides) else ""


def positions(match: Node, sides: list[Node], event: Event) -> tuple[float, float]:
    """Return the places of both sides. Without a winner and loser, the places are equal."""
    winner = match["winner_id"]
    if winner.value is None:
        if match["loser_id"].value is not None:
            event.refuse_node(winner, "is missing, although there is a loser")
        return 1.0, 1.0
    if winner.text not in [side.text for side in sides]:
        event.refuse_node(winner, "is not a player of the match")
    return (1.0, 2.0) if winner.text == sides[0].text else (2.0, 1.0)


def scores(match: Node, event: Event) -> tuple[float | None, float | None]:
    """Return the points in a single set or, if there are several sets, the number of sets that each side won."""
    node = match["scores_csv"]
    if node.value in (None, ""):
        return None, None
    pairs = [PAIR.match(part.strip()) for part in node.value.split(",")] if isinstance(node.value, str) else [None]
    points = [(float(pair[1]), float(pair[2])) for pair in pairs if pair]
    if len(points) < len(pairs):
        event.refuse_node(node, "must be scores such as 3-1,3-2")
        return None, None
    if len(points) == 1:
        return points[0]
    return float(sum(one > other for one, other in points)), float(sum(other > one for one, other in points))
