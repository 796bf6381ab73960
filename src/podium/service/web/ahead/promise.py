"""What a place had promised before the start, beside what it came to."""

from decimal import Decimal
from typing import Any

import polars as pl

from podium.ledger.reasons.explanation import Explanation
from podium.ledger.stakes.stakes import Stakes
from podium.ledger.stakes.wording import place_words
from podium.pages.numbers import percent
from podium.store.reading.events.stories import EventStory
from podium.support.rounding import shown, shown_change, signed


def promised_words(promise: Stakes | None, story: EventStory) -> str:
    """What the player's place had promised, and what it came to, in sentences; empty where no line is the place's."""
    explanation = story.explanation
    line = None if promise is None or explanation is None else promised_line(promise, explanation)
    if line is None or promise is None or explanation is None:
        return ""
    digits = promise.digits
    promised = shown_change(line["rating"] - line["delta"], line["rating"], digits)
    came = shown_change(explanation.rating_before, explanation.rating_before + explanation.delta, digits)
    place = place_words(line["place"], promise.sides)
    what = f"a {place}" if promise.sides == 2 or place == "quit" else f"{place} place"  # noqa: PLR2004  (a duel)
    chance = "" if line["chance"] is None else f", a chance of {percent(line['chance'])}"
    words = f"Promised for {what}{chance}: {signed(promised)}. It came to {signed(came)}"
    return f"{words}{why_words(explanation, came - promised)}."


def promised_line(promise: Stakes, explanation: Explanation) -> Any:
    """The line of the place that the player took; None where several shared it, or a side did."""
    table = explanation.standings
    own = table.filter(player=explanation.player)
    if own.height != 1 or promise.sides != promise.field.height or promise.frame.is_empty():
        return None
    place = own["place"][0]
    if place is None:
        return next((line for line in promise.lines() if line["place"] is None), None)
    shared = table.filter(place=place).height > 1
    if shared and promise.sides > 2:  # noqa: PLR2004  (of two it is a draw)
        return None
    return next((line for line in promise.lines() if line["place"] == (1.5 if shared else float(place))), None)


def why_words(explanation: Explanation, more: Decimal) -> str:
    """Who finished where nobody expected, where it came otherwise; empty where it came as promised."""
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
