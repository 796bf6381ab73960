"""Stakes in words: which places gain, what the best likely one would bring, and how near the numbers are."""

from collections.abc import Mapping, Sequence
from typing import Any

from podium.ledger.reasons.what_if import ordinal_number
from podium.support.rounding import shown, shown_change

DUEL = {1.0: "a win", 1.5: "a draw", 2.0: "a loss"}
TWO = 2


def place_words(place: float | None, sides: int) -> str:
    """A place as a line of the table names it: "3rd", "win", "draw", "quit"."""
    if place is None:
        return "quit"
    return DUEL[place].removeprefix("a ") if sides == TWO else ordinal_number(int(place))


def headline(lines: Sequence[Mapping[str, Any]], sides: int, digits: int) -> str:
    """Which places gain: those from the first on, as far as each of them does."""
    places = [line for line in lines if line["place"] is not None]
    gains = [shown_change(line["rating"] - line["delta"], line["rating"], digits) > 0 for line in places]
    count = gains.index(False) if False in gains else len(gains)
    if count == len(gains):
        return "Every place gains." if sides > TWO else "Any result gains."
    if count == 0:
        return "No place gains." if sides > TWO else "No result gains."
    if sides == TWO:
        return f"{' or '.join(DUEL[line['place']] for line in places[:count])} gains.".capitalize()
    return "Only a win gains." if count == 1 else f"A place in the top {count} gains."


def promise(line: Mapping[str, Any], sides: int, rank: int | None) -> str:
    """What one line brings, by its rank: "3rd would make you 4th."."""
    place = DUEL[line["place"]].capitalize() if sides == TWO else ordinal_number(int(line["place"]))
    verb = "leave" if line["rank"] == rank else "make"
    return f"{place} would {verb} you {ordinal_number(line['rank'])}."


def method(draws: int, error: float, digits: int, lines_from: str | None, *, is_exact: bool) -> str:
    """How a table was computed, with its error."""
    if draws == 1:
        how = "Each result is rated as it would be: nobody else's place is open."
    elif is_exact:
        how = f"The mean over all {draws:,} orders of the others, each as likely as the system expects it."
    else:
        how = (
            f"The mean over {draws:,} orders of the others, drawn as the system expects them, ±{shown(error, digits)}."
        )
    source = f" Each place brings the time or score of the same place of {lines_from}." if lines_from else ""
    return how + source
