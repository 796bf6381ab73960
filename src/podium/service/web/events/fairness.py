"""Whether a change is fair: what promises of its size come to in the pool, and why points are not handed on."""

from dataclasses import dataclass

from markupsafe import Markup

from podium.ledger.reasons.explanation import Explanation
from podium.pages.numbers import direction, in_sentence, percent
from podium.service.web.rendering import PoolFrame
from podium.store.derive.events import Change
from podium.store.insights.event_story import EventStory
from podium.store.insights.fact_models import FairExpectation, ReliabilityBin
from podium.support.rounding import shown_change

EVEN = 0.5  # of a duel


@dataclass(frozen=True, slots=True)
class Fairness:
    """The answer, in sentences."""

    promise: str  # what such promises come to; empty where too little is known
    fair: str
    handed: Markup  # why another moved further; empty where nobody did the other way


def fairness(pool: PoolFrame, story: EventStory, expectation: FairExpectation) -> Fairness | None:
    """The answer for a change; None where there is nothing to say."""
    explanation = story.explanation
    if explanation is None:
        return None
    promise, fair, handed = "", "", handed_words(pool, story, explanation)
    if expectation.example is not None and expectation.fair is not None:
        promise = promise_words(pool, expectation.example)
        if f"{expectation.fair:.1f}" != f"{expectation.promised:.1f}":
            fair = (
                f"Seen so, about {expectation.fair:.1f} of {expectation.duels} duels would have been fair to expect"
                f" instead of {expectation.promised:.1f}."
            )
    return Fairness(promise, fair, handed) if promise or handed else None


def promise_words(pool: PoolFrame, example: ReliabilityBin) -> str:
    """What comes of promises like most of these."""
    if example.lowest <= example.expected <= example.highest:
        verdict = "promises like most of these come true about as often as they should"
    else:
        who = "favourites" if example.expected >= EVEN else "outsiders"
        verdict = f"ratings promise {who} too {'much' if example.observed < example.expected else 'little'}"
    return (
        f"The promise came from ratings, and in {pool.title} {verdict}: of duels given {percent(example.expected)},"
        f" {percent(example.observed)} were won ({example.duels:,} duels)."
    )


def handed_words(pool: PoolFrame, story: EventStory, explanation: Explanation) -> Markup:
    """Why another moved further the other way, where a rating's own uncertainty decides how far a duel moves it."""
    system = story.pool.system
    against = [each for each in story.details.changes if each.delta * explanation.delta < 0.0]
    furthest = max(against, key=lambda each: abs(each.delta), default=None)
    if (
        furthest is None
        or "deviation" not in system.state_type._fields
        or abs(furthest.delta) <= abs(explanation.delta)
    ):
        return Markup()
    words = (
        f"Points are not handed from one to another: each {pool.word}'s own ± decides how far a duel moves them."
        f" That is why {furthest.player} {moved_words(furthest, system.digits)} in this event."
    )
    return in_sentence(words, furthest.player)


def moved_words(change: Change, digits: int) -> str:
    """What a change was, in words."""
    points = shown_change(change.rating_before, change.rating, digits)
    return {"gain": f"gained {points}", "loss": f"lost {-points}"}.get(direction(points), "stayed level")
