"""Days as numbers and as people write them; in a numbered pool, events take their place."""

from datetime import UTC, date, datetime

from podium.errors import ParameterError
from podium.log.pools import COUNTED, DATED, Order
from podium.log.statements import DAY_US, instant


def day_of(moment: date) -> int:
    """A day's number: days since 1970."""
    return (moment - instant(0).date()).days


def today() -> int:
    """The number of the current day in UTC."""
    return day_of(datetime.now(UTC).date())


def parse_day(text: str, order: Order | None = DATED) -> int:
    """Read a day that is written like 2026-01-31, as its number; in a numbered pool that of an event."""
    try:
        return int(text) if order == COUNTED else day_of(date.fromisoformat(text))
    except ValueError:
        like = "not the number of an event" if order == COUNTED else "not a day; write it like 2026-01-31"
        raise ParameterError(f"{text!r} is {like}") from None


def date_of(day: int) -> date:
    """Return the date of a day's number."""
    return instant(day * DAY_US).date()


def day_shown(order: Order | None, day: int) -> date | int:
    """The day of that number; in a numbered pool the event, whose ranks are those before it."""
    return day if order == COUNTED else date_of(day)
