"""The wording of explanations: the verdict, the decisive part, and the duels."""

import math
from collections.abc import Sequence
from decimal import Decimal

from podium.ledger.reasons.duels import BAND, CAUSE, HEAT, OPPONENT, Group, Heading
from podium.probability.draws import DRAW
from podium.support.immutable import immutable
from podium.support.words import capitalised, listed, shown, signed

MAX_NAMED = 8  # most names in a list; other names are only counted
DECIDING_SHARE = Decimal("0.4")  # a part counts as the cause if it has at least this share of the change
TWO_DIGITS = 9.95  # an expected margin above this is shown as a whole number
CAUSES = {
    "base_points": "base points for taking part",
    "bonus_points": "the bonus",
    "floor": "the floor",
    "deviation": "greater certainty about the rating",
    "quits": "quitting again",
    "idle": "the time away",
    "time": "taking part after time away",
    "did_not_start": "not starting",
    "first_rating": "the first rating",
    "below_the_floor": "falling below the lowest rating",
    "rounding": "rounding",
    "home": "playing at home or away",
    "lead_in_score": "the size of the win",
    "season": "the start of the season",
    "least_rating": "the lowest possible rating",
    "margin": "the margin",
}
UNFINISHED = {"quit": "quitting", "dnf": "not finishing"}
UNFINISHED_PAST = {"quit": "quit", "dnf": "did not finish"}
GOOD, BAD = ("won", "shared first place"), ("lost", "came last", "shared last place", "quit", "did not finish")


@immutable
class Tally:
    won: int
    drew: int
    lost: int

    @property
    def duels(self) -> int:
        return self.won + self.drew + self.lost


def tally(results: Sequence[float]) -> Tally:
    """Count the outcomes of duels."""
    won, lost = (sum(sign * (result - DRAW) > 0.0 for result in results) for sign in (1, -1))
    return Tally(won, len(results) - won - lost, lost)


def outcome(against: Tally, status: str, *, two_teams: bool = False) -> str:
    """Return the player's outcome, worded to follow a name: "won", "beat 5 of 6", "came last"."""
    if not against.duels:
        return ""
    if status in UNFINISHED_PAST:
        return UNFINISHED_PAST[status]
    if against.won == against.duels:
        return "won"
    if against.lost == against.duels:
        return "lost" if against.duels == 1 or two_teams else "came last"
    if against.drew == against.duels:
        return "drew"
    if not against.lost:
        return "shared first place"
    if not against.won:
        return "shared last place"
    drew = f", drew with {against.drew}" if against.drew else ""
    return f"beat {against.won} of {against.duels}{drew}"


def duels_outcome(against: Tally) -> str:
    """Return the outcome if there is no overall result, worded to follow a name: "won 3 of 8 duels, drew 1"."""
    if not against.duels:
        return ""
    drew = f", drew {against.drew}" if against.drew else ""
    return f"won {against.won} of {against.duels} duel{'s' * (against.duels != 1)}{drew}"


def verdict(player: str, result: str, change: Decimal, *, you: bool = False) -> str:
    """Return the verdict as a sentence: "Dragana won, but lost 40.5 points."."""
    stayed = "kept your rating" if you else "kept the rating"
    moved = stayed if not change else f"{'gained' if change > 0 else 'lost'} {abs(change)} points"
    who = f"{player}: you" if you else player
    if not result:
        return f"{who} {moved}."
    phrase = ("were beaten" if you else "was beaten") if result == "lost" else result
    against = (result in GOOD and change < 0) or (result in BAD and change > 0)
    return f"{who} {phrase}{', but' if against else ' and'} {moved}."


def heat_words(name: str, event_id: str | None = None) -> str:
    """Name a heat, with its event if provided: "heat 3", "the overall result", 'heat "final"'."""
    event = f"event {event_id}" if event_id else ""
    if name == "overall":
        words = "the overall result"
    elif not name:
        return event or "the event"
    else:
        number = name.lower().removeprefix("heat").strip()
        words = f"heat {number}" if number.isdecimal() else f'heat "{name}"'
    return f"{words} of {event}" if event else words


def heats_label(names: Sequence[str]) -> str:
    """Return the label of one heat or of several consecutive heats: "Heat 2", "Overall", "Heats 1 to 3"."""
    if len(names) == 1:
        return "Overall" if names[0] == "the overall result" else capitalised(names[0])
    return capitalised(heats_subject(names))


def heats_subject(names: Sequence[str]) -> str:
    """Return one heat, or several consecutive heats, as the subject of a sentence."""
    if len(names) == 1:
        return names[0]
    first = names[0].replace("heat ", "heats ", 1).replace("event ", "events ", 1)
    last = names[-1].removeprefix("heat ").removeprefix("event ")
    return f"{first} {'and' if len(names) == 2 else 'to'} {last}"  # noqa: PLR2004  (two)


def met_words(opponent: str, result: float) -> str:
    """Return the outcome of a duel as a label: "Beat Otto", "Lost to Chidi", "Drew with Jun"."""
    return f"{'Beat' if result > DRAW else 'Lost to' if result < DRAW else 'Drew with'} {opponent}"


def title_of(group: Group) -> str:
    """Return the title of a group for display: "Heat 2", "200+ below", "Lost to Chidi", "Base points"."""
    return met_words(group.label, group.won) if group.kind == OPPONENT else group.label


def line_of(group: Group) -> str:
    """Return the title and the result of a group: "Heat 2, quit, lost all 5", "Lost to Chidi, 723 below"."""
    return ", ".join(filter(None, (title_of(group), group.result)))


def heat_result(against: Tally, status: str) -> str:
    """Return the outcome of a heat: "quit, lost all 5", "won 4 of 5, drew 1"."""
    parts = [UNFINISHED_PAST[status]] if status in UNFINISHED_PAST else []
    count = against.duels
    for word, number in (("won", against.won), ("drew", against.drew), ("lost", against.lost)):
        if number == count:
            return ", ".join([*parts, word if count == 1 else f"{word} all {count}"])
    if against.won:
        parts.append(f"won {against.won} of {count}")
        if against.drew:
            parts.append(f"drew {against.drew}")
    else:
        parts.append(f"drew {against.drew} of {count}, lost {against.lost}")
    return ", ".join(parts)


def band_result(against: Tally) -> str:
    """Return the outcome of the duels in a band: "lost to all 12", "beat 3 of 12, drew with 1"."""
    count = against.duels
    for word, number in (("beat", against.won), ("drew with", against.drew), ("lost to", against.lost)):
        if number == count:
            return f"{word} {'the one' if count == 1 else f'all {count}'}"
    drew = f"drew with {against.drew}" if against.drew else ""
    if not against.won:
        return f"{drew} of {count}, lost to {against.lost}"
    return f"beat {against.won} of {count}{', ' if drew else ''}{drew}"


def gap_words(lead: float, digits: int) -> str:
    """Return a gap, worded to follow a name: "723 below", "level". Gaps have one decimal place fewer than points."""
    gap = shown(lead, digits - 1)
    return f"{abs(gap)} {'above' if gap > 0 else 'below'}" if gap else "level"


def rated_words(lead: float, digits: int, *, you: bool) -> str:
    """Return a gap for use in a sentence: "rated 723 below you", "rated as you are"."""
    gap = gap_words(lead, digits)
    if gap == "level":
        return "rated as you are" if you else "rated the same"
    return f"rated {gap}{' you' if you else ''}"


def band_words(heading: Heading, digits: int, player: str = "") -> str:
    """Describe the limits of a band: "200 or more below Ana", "50 to 199 above Ana", "within 50 of Ana"."""
    low, high = heading.edges
    unit = Decimal(1).scaleb(1 - digits)
    beside, near = (f" {player}", f" of {player}") if player else ("", "")
    if low is None:
        return f"{unit - high} or more below{beside}" if high else f"below{beside}"
    if high is None:
        return f"{low} or more above{beside}" if low else f"level or above{beside}"
    if high <= 0:
        return f"{unit - high} to {-low} below{beside}"
    return f"{low} to {high - unit} above{beside}" if low > 0 else f"within {high}{near}"


def band_label(heading: Heading, digits: int) -> str:
    """Return the limits of a band as a label, to be displayed below the player's name: "200+ below", "Within 50"."""
    return capitalised(band_words(heading, digits).replace(" or more", "+"))


def cause_words(cause: str) -> str:
    """Name a cause other than opponents, for use in a sentence."""
    return CAUSES.get(cause, cause.replace("_", " "))


def margin_words(margins: Sequence[tuple[float, float]]) -> str:
    """Describe the margin and the expected margin of one or more heats: "won by 3; 9 were expected"."""
    margin, expected = (math.fsum(numbers) for numbers in zip(*margins, strict=True))
    if len(margins) > 1:
        return f"margins of {margin:+.4g} in {len(margins)} heats; {expected:+.1f} were expected"
    won = f"won by {margin:.4g}" if margin > 0.0 else f"lost by {-margin:.4g}" if margin < 0.0 else "level"
    number = f"{abs(expected):.0f}" if abs(expected) >= TWO_DIGITS else f"{abs(expected):.1f}".removesuffix(".0")
    if margin * expected > 0.0:
        return f"{won}; {number} {'was' if number == '1' else 'were'} expected"
    return f"{won}; a {'win' if expected > 0.0 else 'loss'} by {number} was expected"


@immutable
class Phrases:
    """A group as the subject of a sentence."""

    kind: str
    points: Decimal
    subject: str  # about the player, in the third person
    to_player: str  # the same, addressed to the player


def opponent_subject(name: str, against: Tally, lead: float, points: Decimal, digits: int) -> tuple[str, str]:
    """Return one opponent as the subject of two sentences: about the player, and to the player.

    If the points contradict the result of a duel, the result is not mentioned.
    """
    if against.won and points >= 0:
        verb = "beating"
    elif against.lost and points <= 0:
        verb = "losing to"
    else:
        verb = "the draw with" if against.drew else "the duel with"
    other, own = (f"{verb} {name}, {rated_words(lead, digits, you=you)}," for you in (False, True))
    return other, own


def band_subject(heading: Heading, against: Tally, points: Decimal, digits: int) -> tuple[str, str]:
    """Return a band as the subject of two sentences: about the player, and to the player.

    The subject counts the duels whose outcome matches the sign of the points.
    """
    count = against.duels
    verb, number = ("losing to", against.lost) if points < 0 else ("beating", against.won)
    opponents = f"{'' if number == count else f'{number} of '}{count} opponents"
    words = f"{verb} {opponents}" if number else f"the duels with {opponents.removeprefix('0 of ')}"
    other, own = (f"{words} rated {band_words(heading, digits, to)}" for to in ("", "you"))
    return other, own


def heat_subject(names: Sequence[str], status: str) -> tuple[str, str]:
    """Return one or more heats as the subject of two sentences: about the player, and to the player."""
    words = heats_subject(names)
    if len(names) == 1 and status in UNFINISHED:
        words = f"{UNFINISHED[status]} {words}"
    return words, words


def effect(points: Decimal) -> str:
    """Return a part's effect in words: "cost 33.4", "brought 2.8"."""
    return f"{'cost' if points < 0 else 'brought'} {abs(points)}"


def deciding(phrases: Sequence[Phrases], change: Decimal) -> Phrases | None:
    """Return the part that explains the change: the largest in its direction, if it is unique and at least 40 %."""
    sign = 1 if change > 0 else -1
    largest = max(phrases, key=lambda cause: sign * cause.points, default=None)
    if largest is None or not change or sign * largest.points < DECIDING_SHARE * abs(change):
        return None
    alike = sum(phrase.points == largest.points for phrase in phrases)
    return largest if alike == 1 else None


def cause(phrases: Sequence[Phrases], change: Decimal, *, you: bool = False) -> str:
    """Return a sentence about the decisive part ("Quitting heat 2 cost 33.4 of them."), or about the absence of one."""
    moving = [phrase for phrase in phrases if phrase.points]
    if not change:
        return "Gains and losses are equal." if moving else ""
    largest = deciding(phrases, change)
    if largest is None:
        nouns = {HEAT: "heat", OPPONENT: "opponent", BAND: "group of opponents", CAUSE: "cause"}
        return f"No one {nouns[moving[0].kind if moving else CAUSE]} decided it."
    subject = capitalised(largest.to_player if you else largest.subject)
    if largest.points == change:
        return f"{subject} {'cost' if change < 0 else 'brought'} {'them all' if len(moving) == 1 else 'as much'}."
    if abs(largest.points) > abs(change):
        return f"{subject} {effect(largest.points)}; everything else {effect(change - largest.points)}."
    return f"{subject} {effect(largest.points)} of them."


def counterweight(phrases: Sequence[Phrases], change: Decimal) -> str:
    """Return a sentence to the player about the largest part that works against a change, or an empty string."""
    sign = 1 if change > 0 else -1
    against = min(phrases, key=lambda cause: sign * cause.points, default=None)
    if against is None or not change or sign * against.points >= 0:
        return ""
    return f"Against that, {against.to_player} {effect(against.points)}."


def summary(player: str, result: str, phrases: Sequence[Phrases], change: Decimal) -> str:
    """Return a summary for the player in two or three sentences."""
    largest = deciding(phrases, change)
    beyond = largest is not None and abs(largest.points) > abs(change)
    against = "" if beyond else counterweight(phrases, change)
    sentences = (verdict(player, result, change, you=True), cause(phrases, change, you=True), against)
    return " ".join(filter(None, sentences))


def shared_words(player: str, own: Decimal, equipment: Sequence[tuple[str, str, Decimal]]) -> str:
    """Return a sentence about a player's points and those of each piece of equipment (kind, name and points)."""
    if not equipment:
        return ""
    total = own + sum((points for _, _, points in equipment), Decimal(0))
    parts = [
        f"{signed(own)} to {player}",
        *(f"{signed(points)} to the {kind} {name}" for kind, name, points in equipment),
    ]
    return f"The result was worth {signed(total)}: {listed(parts)}."


def duels_headline(count: int, won: float, expected: float, *, graded: bool) -> str:
    """Return a sentence about won and expected duels, such as "Won 17.5 of 25 duels; 23.1 were expected."."""
    if not count:
        return "No one was compared with anyone."
    if count == 1:
        result = f"Scored {won:.2f} in" if graded else "Won" if won > DRAW else "Lost" if won < DRAW else "Drew"
        return f"{result} the one duel; the expected score was {expected:.2f}."
    number = f"{won:.1f}" if graded or won % 1.0 else f"{won:.0f}"
    return f"{'Scored' if graded else 'Won'} {number} of {count} duels; {expected:.1f} were expected."


def duel_meaning(player: str, heats: Sequence[str], opponents: int, *, draws: bool, graded: bool) -> str:
    """Return one or two sentences that explain a duel in an event with these heats."""
    if len(heats) > 1:
        whole = sum(name != "overall" for name in heats)
        more = ", and the overall result counts as one more heat" if whole < len(heats) else ""
        against = f"{opponents} opponent{'s' if opponents > 1 else ''}"
        text = f"A duel is {player} against one opponent in one heat: {against}, {whole} heats{more}."
    else:
        text = f"A duel is {player} against one opponent." if opponents > 1 else ""
    more = "The gap counts: a duel's result is a number from 0 to 1." if graded else "A draw counts as half."
    return " ".join(filter(None, (text, more if graded or draws else "")))


def not_compared_words(left_out: Sequence[tuple[str, str | None, str]], heats: int) -> str:
    """Return sentences about the players who are not compared, given each player's heat and reason.

    The text is empty if there are no such players.
    """
    by_reason: dict[str, dict[str, list[str]]] = {}
    for name, heat, reason in left_out:
        by_reason.setdefault(reason, {}).setdefault(name, []).append(heat or "")
    clauses = []
    for reason, names in by_reason.items():
        words = [
            name if len(in_heats) >= heats or not all(in_heats) else f"{name} in {listed(in_heats)}"
            for name, in_heats in names.items()
        ]
        who = listed(words) if len(words) <= MAX_NAMED else f"{len(words)} entrants"
        clauses.append(f"{who} ({reason})")
    return f"Not compared: {'; '.join(clauses)}." if clauses else ""
