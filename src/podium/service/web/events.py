"""The page of an event: its result, the reasons for one change, the expected score, and corrections."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from statistics import fmean
from typing import Annotated, Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import polars as pl
from fastapi import Query, Response
from markupsafe import Markup

from podium.ledger.hypothetical_race import place_words
from podium.ledger.pair_predictions import ReliabilityBin
from podium.ledger.reasons import Explanation
from podium.ledger.stakes import Stakes
from podium.log.pools import today
from podium.pages.numbers import direction, in_sentence, percent, rating
from podium.pages.result_table import ResultTable, duel_table, result_table
from podium.pages.why import why_view
from podium.results.derived_heats import OVERALL
from podium.service.http.json import EventId, PlayerName
from podium.service.web.messages import card_path, headline_of
from podium.service.web.rendering import PageRouter, PoolHeader, pool_header, unchanged
from podium.service.web.visiting import VisiblePool, Visit
from podium.store.pool_facts import LARGE_FIELD, PoolFacts, fair_expectation
from podium.support.words import capitalised, counted, part, shown, shown_change, signed
from podium.views.models import ResultRow
from podium.views.races.explanations import EventStory

TAGS = {"rated": "", "voided": "void"}
AS_SENT = "Ranked as submitted"


def reason_of(story: EventStory) -> str:
    """Return the reason why an event is not rated, without a full stop, or an empty string."""
    if story.details.status != "voided":
        return capitalised(story.details.reason.replace("_", " "))
    why = next((entry.reason for entry in reversed(story.record) if entry.kind == "void"), None)
    return f"The event is void{f': {why}' if why else ''}"


def result_of(story: EventStory) -> ResultTable:
    """Return the result of an event: the standings that explain the change, or else the result as it was sent."""
    details, explanation, digits = story.details, story.explanation, story.pool.system.digits
    before = {change.player: change.rating_before for change in details.changes}
    changes = {change.player: shown_change(change.rating_before, change.rating, digits) for change in details.changes}
    if explanation is None:
        lines: Sequence[Mapping[str, Any]] = [sent_line(entry) for entry in details.entries]
        basis = AS_SENT
    else:
        lines, basis = explanation.standings.to_dicts(), explanation.ranked_by.partition(":")[0].rstrip(".")
    if basis == AS_SENT and story.record:
        basis = f"Ranked as submitted by {story.record[0].actor or 'a command'}"
    return result_table(lines, before, changes, story.player, f"{basis}." if basis else "")


def sent_line(entry: ResultRow) -> Mapping[str, Any]:
    line = asdict(entry)
    place = None if entry.position is None else int(entry.position)
    return line | {"place": place, "status": entry.status or "finished", "gap_s": None}


def performance_words(story: EventStory, word: str) -> str:
    """Return a sentence about a player's performance in an event, or an empty string if nobody was compared."""
    played = story.performance
    if played is None or played.rating is None:
        return ""
    level = " ".join(filter(None, (played.bound, rating(played.rating, story.pool.system.digits - 1))))
    return f"A {word} rated {level} would be expected to win as many."


EVEN_SCORE = 0.5  # expected score in an even duel


def fairness(
    pool: PoolHeader, story: EventStory, explanation: Explanation, facts: PoolFacts
) -> tuple[str | Markup, ...]:
    """Return sentences about how fair a change was."""
    expectation = fair_expectation(facts, explanation)
    judged, fair, handed = "", "", handed_words(pool, story, explanation)
    if not facts.duels and len(story.details.changes) > LARGE_FIELD:
        judged = (
            f"Predictions are evaluated in events with up to {LARGE_FIELD:,} entrants, and {pool.title} has no such"
            " events."
        )
    if expectation.example is not None and expectation.fair is not None:
        judged = reliability_words(pool, expectation.example)
        if f"{expectation.fair:.1f}" != f"{expectation.expected:.1f}":
            fair = (
                f"By that measure, a fair expectation would have been {expectation.fair:.1f} of {expectation.duels}"
                f" duels instead of {expectation.expected:.1f}."
            )
    return tuple(sentence for sentence in (judged, fair, handed) if sentence)


def reliability_words(pool: PoolHeader, example: ReliabilityBin) -> str:
    if example.lowest <= example.expected <= example.highest:
        verdict = "most predictions like these come true about as often as they should"
    else:
        who = "favourites" if example.expected >= EVEN_SCORE else "outsiders"
        verdict = f"ratings expect too {'much' if example.observed < example.expected else 'little'} of {who}"
    return (
        f"The expected score came from ratings, and in {pool.title} {verdict}: of duels given "
        f"{percent(example.expected)}, {percent(example.observed)} were won ({example.duels:,} duels)."
    )


def handed_words(pool: PoolHeader, story: EventStory, explanation: Explanation) -> Markup:
    """Explain why another player's rating moved more in the other direction, if their deviations are the cause."""
    system = story.pool.system
    against = [change for change in story.details.changes if change.delta * explanation.delta < 0.0]
    furthest = max(against, key=lambda change: abs(change.delta), default=None)
    has_deviation = "deviation" in system.state_type._fields
    if furthest is None or not has_deviation or abs(furthest.delta) <= abs(explanation.delta):
        return Markup()
    points = shown_change(furthest.rating_before, furthest.rating, system.digits)
    moved = {"gain": f"gained {points}", "loss": f"lost {-points}"}.get(direction(points), "stayed level")
    words = (
        f"Points are not transferred between players: each {pool.word}'s own ± decides how much a duel changes the"
        f" rating. That is why {furthest.player} {moved} in this event."
    )
    return in_sentence(words, furthest.player)


def contact_address(contact: str, pool: str, event_id: str, player: str) -> str:
    about = {"pool": pool, "event": event_id} | ({"player": player} if player else {})
    if not contact:
        return ""
    if "://" not in contact:
        subject = ", ".join([f"{pool}: {event_id}", *([player] if player else [])])
        return f"mailto:{quote(contact, safe='@')}?subject={quote(subject, safe='')}"
    parts = urlsplit(contact)
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, urlencode(about))))))


FirstRow = Annotated[int | None, Query(alias="from", ge=1, le=10**9)]
router = PageRouter()


@router.pool_page("/events/{event_id}")
def event(visit: VisiblePool, event_id: EventId, first: FirstRow = None) -> Response:
    """Show an event, and explain its most surprising change."""
    return event_response(visit, event_id, None, first or 1)


@router.pool_page("/events/{event_id}/{player}")
def why(visit: VisiblePool, event_id: EventId, player: PlayerName, first: FirstRow = None) -> Response:
    return event_response(visit, event_id, player, first)


def event_response(visit: Visit, event_id: str, player: str | None, first: int | None) -> Response:
    store = visit.store
    version = f"{store.edition(visit.pool)} {today()} {event_id}\0{player}\0{first}"  # fairness changes every day
    same = unchanged(visit.request, version)
    if same is not None:
        return same
    story = store.event_story(visit.pool, event_id, player)
    pool, details, explanation = pool_header(story.pool), story.details, story.explanation
    why_address = f"{pool.address}/events/{part(details.event_id)}/{part(story.player)}" if story.player else ""
    title, reason = details.title or details.event_id, reason_of(story)
    picture, description = "", reason
    if explanation is not None:
        verdict = explanation.verdict.rstrip(".")
        headline = (headline_of(explanation.winners) or verdict) if player is None else verdict
        title, description = f"{headline} · {title}", f"{explanation.verdict} {explanation.cause}"
        picture = f"{why_address}/picture.png" if player else card_path(pool.name, details.event_id)
    heats = {entry.heat for entry in details.entries} - {None, OVERALL}
    size = [counted(len({entry.player for entry in details.entries}), pool.word)]
    size += [counted(len(heats), "heat")] if len(heats) > 1 else []
    before = [change.rating_before for change in details.changes]
    return visit.show(
        "event.html",
        title,
        tab="events",
        description=description,
        newest_entry=None,
        story=story,
        is_about_player=player is not None,
        size=", ".join(size),
        mean_rating=fmean(before) if before else None,
        reason=reason,
        tag=TAGS.get(details.status, "not rated"),
        result=result_of(story).page(first),
        expected=expected_words(story),
        performance=performance_words(story, pool.word),
        why=None if explanation is None else why_view(explanation),
        contact=contact_address(pool.contact, pool.name, details.event_id, story.player),
        duels=None if explanation is None else duel_table(explanation),
        fairness=() if explanation is None else fairness(pool, story, explanation, store.pool_facts(visit.pool)),
        picture=picture,
        may_correct=visit.visitor.may("admin", visit.pool),
        version=version,
    )


def expected_words(story: EventStory) -> str:
    """Return the expected and the actual change for the player's place, or an empty string if the place has no line."""
    explanation, stakes = story.explanation, story.stakes_before
    if stakes is None or explanation is None or (line := expected_line(stakes, explanation)) is None:
        return ""
    digits = stakes.digits
    expected = shown_change(line["rating"] - line["delta"], line["rating"], digits)
    came = shown_change(explanation.rating_before, explanation.rating_before + explanation.delta, digits)
    place = place_words(line["place"], stakes.sides)
    what = f"a {place}" if stakes.sides == 2 or place == "quit" else f"{place} place"  # noqa: PLR2004  (a duel)
    chance = "" if line["chance"] is None else f", a chance of {percent(line['chance'])}"
    words = f"Expected for {what}{chance}: {signed(expected)}. It turned out to be {signed(came)}"
    return f"{words}{why_words(explanation, came - expected)}."


def expected_line(stakes: Stakes, explanation: Explanation) -> Any:
    """Return the line for the player's place, or None if several players, or a side, shared the place."""
    taken = dict(zip(*(explanation.standings[name].to_list() for name in ("player", "place")), strict=True))
    if len(taken) != explanation.standings.height or stakes.sides != len(stakes.starters) or not stakes.table:
        return None
    place = taken[explanation.player]
    if place is not None and [*taken.values()].count(place) > 1:
        if stakes.sides > 2:  # noqa: PLR2004  (with two it is a draw)
            return None
        place = 1.5
    return next((line for line in stakes.lines() if line["place"] == place), None)


def why_words(explanation: Explanation, more: Decimal) -> str:
    """Name the players who finished higher or lower than expected, if the change differs from the expected one.

    Otherwise, return an empty string.
    """
    if not more:
        return ""
    duels = explanation.rows.filter(pl.col("opponent").is_not_null() & pl.col("gap").is_not_null())
    behind = duels.filter(pl.col("result") > 0.5, pl.col("gap") > 0.0).sort("gap", descending=True)  # noqa: PLR2004
    ahead = duels.filter(pl.col("result") < 0.5, pl.col("gap") < 0.0).sort("gap")  # noqa: PLR2004
    found, verb = (behind, "behind") if more > 0 else (ahead, "ahead")
    if found.is_empty():
        return ""
    row = found.row(0, named=True)
    gap = shown(abs(row["gap"]), 0)
    return f": {row['opponent']}, {gap} {'above' if row['gap'] > 0 else 'below'} {explanation.player}, finished {verb}"
