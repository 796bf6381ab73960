"""Format numbers, times and counts for display. `podium.support.words` rounds changes."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal

from markupsafe import Markup, escape

from podium.ledger.reasons.standings import plain
from podium.support.words import MINUS, part, shown, signed

DASH = "\N{EN DASH}"  # for missing values
GAP = "\N{NO-BREAK SPACE}"
# the same in every locale
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MINUTE_S = 60
SHARPLY_BELOW_0, SHARPLY_ABOVE_1 = 1, 99  # per cent
SIGMAS = 2  # deviations are displayed as the margin that is right 19 times out of 20


class Shape(str):
    """A template that works like `Markup.format`, but is five times as fast."""

    __slots__ = ()

    def format(self, *values: object, **named: object) -> Markup:
        """Return the template as markup, with the values escaped."""
        safe = {name: escape(value) for name, value in named.items()}
        return Markup(str.format(self, *map(escape, values), **safe))  # noqa: S704  (escaped)


def rating(value: float | Decimal | None, digits: int = 0) -> str:
    return DASH if value is None else with_minus(as_shown(value, digits))


def with_minus(number: Decimal) -> str:
    """Return a number with a typographic minus sign."""
    return str(number).replace("-", MINUS)


def change(points: float | Decimal | None, digits: int = 1) -> str:
    return DASH if points is None else signed(as_shown(points, digits))


def as_shown(points: float | Decimal, digits: int) -> Decimal:
    """Return a number rounded for display. A Decimal is already rounded, and is not changed."""
    return points if isinstance(points, Decimal) else shown(points, digits)


def direction(points: float | Decimal) -> str:
    """Return the CSS class of a change: `gain`, `loss` or `even`."""
    return "gain" if points > 0 else "loss" if points < 0 else "even"


def points(shown_points: float | Decimal, digits: int = 1) -> Markup:
    """Return a change with its sign and its CSS class."""
    return Shape('<span class="{}">{}</span>').format(direction(shown_points), change(shown_points, digits))


def with_notes(number: str, notes: Iterable[tuple[str, str]]) -> Markup:
    """Return a number with small notes after it, each with its CSS class. Empty notes are left out."""
    small = (Shape(' <small class="{}">{}</small>').format(place, note) for place, note in notes if note)
    return escape(number) + Markup("").join(small)


def change_link(shown_points: float | Decimal | None, event: str, player: str, digits: int) -> str:
    """Return a change as a link to its reasons, whose address begins with that of the event.

    If the change is None, return a dash.
    """
    if shown_points is None:
        return DASH
    css, question = direction(shown_points), f"Why did {player} {moved(shown_points, digits)}?"
    link = Shape('<a class="{}" href="{}/{}" aria-label="{}">{}</a>')
    return link.format(css, event, part(player), question, change(shown_points, digits))


def name_link(address: str, name: str) -> Markup:
    """Return a name as a link. The name can be in any language and direction."""
    return Shape('<a href="{}"><bdi>{}</bdi></a>').format(address, name)


def moved(points: float | Decimal, digits: int = 1) -> str:
    """Return a change for use in a question: "gain 12.3", "lose 40.5", "keep the rating"."""
    number = as_shown(points, digits)
    return f"gain {number}" if number > 0 else f"lose {-number}" if number < 0 else "keep the rating"


def deviation(value: float | None, digits: int = 0) -> str:
    """Return the margin of a rating. The true rating is within it 19 times out of 20."""
    return DASH if value is None else f"±{shown(SIGMAS * value, digits)}"


def percent(share: float) -> str:
    """Return a share as a percentage. It is 0 or 100 only if the outcome is certain."""
    if 0.0 < share < SHARPLY_BELOW_0 / 100:
        return f"<{SHARPLY_BELOW_0}%"
    return f">{SHARPLY_ABOVE_1}%" if SHARPLY_ABOVE_1 / 100 < share < 1.0 else f"{100 * share:.0f}%"


def number(value: float | None, digits: int = 0) -> str:
    """Format a number other than a rating, for example as 1,234 or 17.5."""
    return DASH if value is None else f"{shown(value, digits):,}".replace("-", MINUS)


def halves(value: float) -> str:
    """Return a number of duels, such as 17 or 17.5."""
    return f"{value:,.1f}" if value % 1 else f"{value:,.0f}"


def day(moment: date | float | None) -> str:
    """Return a day, such as "12 Dec 2025", or the number of an event, such as "no. 17"."""
    return DASH if moment is None else day_words(moment)


def utc_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def minute(moment: datetime | float) -> str:
    """Return a day and time, such as "12 Dec 2025, 09:27 UTC", or "no. 17"."""
    return day(moment) if isinstance(moment, int | float) else of_day(moment, minute_words(moment))


def minute_words(moment: datetime) -> str:
    return f"{day_words(moment)}, {moment:%H:%M}{GAP}{zone_words(moment)}"


def zone_words(moment: datetime) -> str:
    """Return the time zone of a time, such as "CET", or "UTC+03" if it has no letters."""
    name = f"{moment:%Z}"
    return name if name.isalpha() else f"UTC{name}"


def start(moment: datetime | float) -> str:
    """Return the start of an event, without the time if only the date is known."""
    return day(moment) if isinstance(moment, datetime) and is_date(moment) else minute(moment)


def is_date(moment: datetime) -> bool:
    """Return True for midnight in UTC, which is the time of every result that has only a date."""
    return moment.astimezone(UTC).time() == time.min


def of_day(moment: datetime, words: str) -> Markup:
    """Return the text for a time in machine-readable markup."""
    return Shape('<time datetime="{}">{}</time>').format(utc_text(moment), words)


def day_words(moment: date | float) -> str:
    return short_day(moment) if isinstance(moment, int | float) else f"{short_day(moment)}{GAP}{moment.year}"


def short_day(moment: date | float) -> str:
    """Return a day of the year, such as "15 Dec", or the number of an event, such as "no. 17"."""
    if isinstance(moment, int | float):
        return f"no.{GAP}{plain(float(moment))}"
    return f"{moment.day}{GAP}{MONTHS[moment.month - 1]}"


def hour(moment: datetime) -> Markup:
    """Return the time of day, such as "19:42 UTC"."""
    return of_day(moment, f"{moment:%H:%M}{GAP}{zone_words(moment)}")


def until(moment: datetime) -> str:
    """Return the days from today to a day, as "today", "tomorrow" or "in 2 days". Return no text for a past day."""
    days = (moment.date() - datetime.now(moment.tzinfo).date()).days
    return "" if days < 0 else ("today", "tomorrow")[days] if days < 2 else f"in {days:,} days"  # noqa: PLR2004


def second(moment: datetime) -> Markup:
    """Return the time of day with seconds, such as "19:42:07 UTC"."""
    return of_day(moment, f"{moment:%H:%M:%S}{GAP}{zone_words(moment)}")


def duration(seconds: float) -> str:
    """Return a duration with as many digits as were sent, such as "1:23.456" or "59.8 s"."""
    text = plain(seconds)
    if abs(seconds) < MINUTE_S:
        return f"{text}{GAP}s"
    whole, point, fraction = text.partition(".")
    minutes, rest = divmod(int(whole), MINUTE_S)
    hours, minutes = divmod(minutes, MINUTE_S)
    clockwise = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{clockwise}{point}{fraction}"


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def named(text: str) -> Markup:
    """Return a name, in any language and direction, for use within a sentence."""
    return Shape("<bdi>{}</bdi>").format(text)


def in_sentence(sentence: str, *names: str) -> Markup:
    """Mark these names in a sentence, if they are separate words, so that they keep their own text direction."""
    known = {name for name in names if name}
    parts, begin = list[Markup](), 0
    while found := [(at, -len(name), name) for name in known if (at := place_of(name, sentence, begin)) >= 0]:
        at, _, name = min(found)  # the longest of the names at the same position, because "Ana" is in "Ana Lu"
        parts += [escape(sentence[begin:at]), named(name)]
        begin = at + len(name)
    return Markup().join([*parts, escape(sentence[begin:])])


def place_of(name: str, sentence: str, begin: int) -> int:
    """Return the position of a name that is a separate word, searching from `begin` on, or -1."""
    at = sentence.find(name, begin)
    while at >= 0:
        around = sentence[max(0, at - 1) : at] + sentence[at + len(name) : at + len(name) + 1]
        if not any(character.isalnum() or character == "_" for character in around):
            break
        at = sentence.find(name, at + 1)
    return at
