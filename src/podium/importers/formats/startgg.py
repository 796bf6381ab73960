"""Sets of a start.gg event: answers of its GraphQL interface, one, or one a line.

Source: start.gg's developer portal. The query is in docs/importers.md.
"""

from collections.abc import Sequence
from typing import Any

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, refuse_file
from podium.importers.trees import Node, records

COMPLETED = 3
DISQUALIFIED_SCORE = -1


def read(files: Sequence[Source], collector: Collector) -> None:
    for answer, file in records(files, collector):
        if not isinstance(answer.value, dict) or not {"data", "success", "errors"} & set(answer.value):
            refuse_file(file, f"is no answer of start.gg at {answer.place}: it has no data")
        event = answer.get("data").get("event")
        sets = event.get("sets").get("nodes")
        error = answer.get("success").value is False or answer.get("errors").value
        if error or not isinstance(sets.value, list):
            refused = Event(file, answer.place)
            messages = (each.get("message").text() for each in answer.get("errors"))
            message = answer.get("message").text() or next(messages, "")
            if error:
                refused.refuse(message, "is what start.gg answered, and no sets; fetch this page again")
            else:
                refused.refuse(sets.value, "must be a list of sets", place=sets.place)
            collector.refuse(refused.faults)
            continue
        pool = event.get("videogame").get("name").text() or event.get("slug").text()
        for each in sets:
            take(each, pool, file, collector)


def take(node: Node, pool: str | None, file: str, collector: Collector) -> None:
    number = node.get("id").text()
    if number is not None and number.startswith("preview_"):
        collector.drop("preview")
        return
    if isinstance(node.value, dict) and node.get("state").value != COMPLETED:
        collector.drop("not completed")
        return
    slots = list(node.get("slots"))
    if number is not None and (len(slots) < 2 or any(slot.get("entrant").value is None for slot in slots)):  # noqa: PLR2004
        collector.drop("bye")
        return
    scores = [slot.get("standing").get("stats").get("score").get("value") for slot in slots]
    if node.get("displayScore").value == "DQ" or any(score.value == DISQUALIFIED_SCORE for score in scores):
        collector.drop("disqualified")
        return
    event = Event(file, node.place, f"startgg-{number}", shared={"pool": pool})
    event.require(node.get("id"), "the id of a set")
    if not pool:
        event.refuse(None, "the event has neither a videogame nor a slug")
    event.start(map(node.get, ("startedAt", "completedAt")), of_seconds, "must be seconds since 1970")
    check_winner(node, slots, scores, event)
    for slot, score in zip(slots, scores, strict=True):
        add_entrant(slot.get("entrant"), score, node.get("winnerId"), event)
    collector.take(event)


def of_seconds(value: Any) -> int | None:
    return times.within_years(value * 1_000_000) if isinstance(value, int) and Node(value, "").is_number() else None


def check_winner(node: Node, slots: list[Node], scores: list[Node], event: Event) -> None:
    """Report a set without a winner, or whose winner is nobody's or has the lower score."""
    winner = node.get("winnerId")
    ids = [slot.get("entrant").get("id").text() for slot in slots]
    if winner.text() is None:
        event.refuse(winner.value, "is missing; a completed set has a winner", place=winner.place)
        return
    if winner.text() not in ids:
        event.refuse(winner.value, "is the entrant of no slot", place=winner.place)
        return
    for score in scores:
        if score.value is not None and not score.is_number():
            event.refuse(score.value, "must be a number", place=score.place)
            return
    own = scores[ids.index(winner.text())]
    best = max((each.value for each in scores if each.value is not None), default=None)
    if own.value is not None and best is not None and own.value < best:
        event.refuse(own.value, f"is the winner's score, and lower than {best}", place=own.place)


def add_entrant(entrant: Node, score: Node, winner: Node, event: Event) -> None:
    participants = list(entrant.get("participants"))
    if not participants:
        event.refuse(entrant.get("participants").value, "has no player", place=entrant.get("participants").place)
    position = 1.0 if entrant.get("id").text() == winner.text() else 2.0
    value = float(score.value) if score.is_number() else None
    result = {"score": value}
    if len(participants) > 1:
        result = {"team": entrant.get("id").text(), "team_score": value}  # type: ignore[dict-item]
    for participant in participants:
        player = participant.get("player")
        name = event.require(player.get("id"), "the id of a player")
        if name:
            shown = player.get("gamerTag").text()
            event.add(name, {"position": position, **result}, name=shown, place=participant.place)
