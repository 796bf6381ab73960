"""Import the sets of a start.gg event, from a single response of the GraphQL API or from one response per line.

Source: start.gg's developer portal. The query is in docs/importers.md.
"""

from collections.abc import Sequence

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, refuse_file
from podium.importers.trees import Node, records

COMPLETED = 3
DISQUALIFIED_SCORE = -1


def read(files: Sequence[Source], collector: Collector) -> None:
    for answer in records(files, collector.refuse):
        if not answer.is_object or not {"data", "success", "errors"} & set(answer.value):
            refuse_file(answer.file, f"has no start.gg response at {answer.place}")
        event, sets = answer["data.event"], answer["data.event.sets.nodes"]
        refused = Event(answer.file, answer.place)
        if answer["success"].value is False or answer["errors"].value:
            texts = [answer["message"].text, *(error["message"].text for error in answer["errors"])]
            message = next(filter(None, texts), "")
            refused.refuse(message, "is what start.gg returned instead of sets. Fetch this page again.")
        elif not sets.is_list:
            refused.refuse_node(sets, "must be a list of sets")
        if refused.faults:
            collector.refuse(refused.faults)
            continue
        pool = event["videogame.name"].text or event["slug"].text
        for node in sets:
            take(node, pool, collector)


def take(node: Node, pool: str | None, collector: Collector) -> None:
    slots = list(node["slots"])
    scores = [slot["standing.stats.score.value"] for slot in slots]
    reason = reason_to_drop(node, slots, scores)
    if reason:
        collector.drop(reason)
        return
    event = Event(node.file, node.place, f"startgg-{node['id'].text}", shared={"pool": pool})
    event.require(node["id"], "the ID of a set")
    if not pool:
        event.refuse(None, "the event has neither a videogame nor a slug")
    event.start([node["startedAt"], node["completedAt"]], times.of_seconds, "must be seconds since 1970")
    check_winner(node["winnerId"], slots, scores, event)
    for slot, score in zip(slots, scores, strict=True):
        add_entrant(slot["entrant"], score, node["winnerId"], event)
    collector.take(event)


def reason_to_drop(node: Node, slots: list[Node], scores: list[Node]) -> str:
    """Return the reason why a set does not count, or an empty string if it counts."""
    number = node["id"].text
    if number is not None and number.startswith("preview_"):
        return "preview"
    if node.is_object and node["state"].value != COMPLETED:
        return "not completed"
    if number is not None and (len(slots) < 2 or any(slot["entrant"].value is None for slot in slots)):
        return "bye"
    is_disqualified = any(score.value == DISQUALIFIED_SCORE for score in scores)
    return "disqualified" if is_disqualified or node["displayScore"].value == "DQ" else ""


def check_winner(winner: Node, slots: list[Node], scores: list[Node], event: Event) -> None:
    """Report a set if its winner is missing, is not an entrant, or has the lower score."""
    ids = [slot["entrant.id"].text for slot in slots]
    if winner.text is None:
        event.refuse_node(winner, "is missing. A completed set must have a winner.")
        return
    if winner.text not in ids:
        event.refuse_node(winner, "is not the entrant of a slot")
        return
    known = [score for score in scores if score.value is not None]
    wrong = next((score for score in known if not score.is_number), None)
    own = scores[ids.index(winner.text)]
    if wrong is not None:
        event.refuse_node(wrong, "must be a number")
    elif own in known and own.value < max(score.value for score in known):
        event.refuse_node(own, f"is the winner's score, but lower than {max(score.value for score in known)}")


def add_entrant(entrant: Node, score: Node, winner: Node, event: Event) -> None:
    participants = list(entrant["participants"])
    if not participants:
        event.refuse_node(entrant["participants"], "has no player")
    values = {"position": 1.0 if entrant["id"].text == winner.text else 2.0, "score": None}
    in_team = len(participants) > 1
    values["team_score" if in_team else "score"] = float(score.value) if score.is_number else None
    team = {"team": entrant["id"].text} if in_team else {}
    for participant in participants:
        player = participant["player"]
        name = event.require(player["id"], "the ID of a player")
        if name:
            event.add(name, values | team, name=player["gamerTag"].text, place=participant.place)
