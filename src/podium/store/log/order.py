"""The order of a pool's events: by their dates, or by numbers where they have none.

Within the store number n is the n-th second of 1970, so that one key orders either kind. What comes in becomes such a
time here, and what goes out of a counted pool becomes a number again.
"""

from datetime import datetime, timedelta
from typing import Literal

from podium.errors import ParameterError
from podium.ledger.leaderboard import instant as instant_in
from podium.store.sql.statements import microseconds

Order = Literal["dated", "counted"]
When = datetime | float  # a moment, or the number of an event in a counted pool
DATED: Order = "dated"
COUNTED: Order = "counted"
NUMBER_US = 1_000_000  # a decimal of a number is a rank between two
LARGEST = 2_000_000_000  # a double holds every such number with five decimals
DAY = timedelta(days=1)
COUNTED_BODY = b'{"sequence":'  # how content begins in the log of a counted pool, and in that of no other


def time_of(when: When) -> int:
    """When something is, as the store has it: microseconds since 1970.

    Raises:
        ParameterError: a number that it cannot keep exactly.
    """
    if isinstance(when, datetime):
        return microseconds(when)
    time = 10 * round(when * NUMBER_US / 10) if abs(when) <= LARGEST else 0
    if number_at(time) != when:
        raise ParameterError(f"the number {when!r} is beyond {LARGEST:,}, or has more than five decimals")
    return time


def number_at(time: int) -> float:
    """The number of an event, or of the first of a season, from microseconds since 1970."""
    return 10 * -(-time // 10) / NUMBER_US


def read_when(order: Order | None, text: str, *, whole_day: bool = False) -> When:
    """When something is, as people write it: a number in a counted pool, else a date.

    Raises:
        ParameterError: it is neither.
    """
    if order != COUNTED:
        return instant_in(text, whole_day=whole_day)
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{text!r} is not the number of an event, and this pool's events have no dates") from None


def season_time(when: When) -> int:
    """When a season begins, as the store has it: in a counted pool a microsecond before its first event."""
    return time_of(when) - (not isinstance(when, datetime))


def earlier(when: When, span: timedelta) -> When:
    """So long before; in a counted pool so many events as the span has days."""
    return when - span if isinstance(when, datetime) else when - span / DAY
