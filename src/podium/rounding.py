"""Numbers as people read them: one rule for all that shows a change, so that what is shown adds up as shown.

Ratings are rounded to the digits that a system shows. A change is the difference of the two ratings as shown, and its
parts are rounded so that they add up to it, by largest remainder. What programs read has every digit.
"""

from collections.abc import Sequence
from decimal import Decimal

MINUS = "\N{MINUS SIGN}"


def shown(value: float, digits: int) -> Decimal:
    """The number as it is shown, to so many decimals; zero has no sign."""
    number = Decimal(f"{value:.{digits}f}")
    return abs(number) if number.is_zero() else number


def shown_change(before: float, after: float, digits: int) -> Decimal:
    """The difference of two ratings as they are shown."""
    return shown(after, digits) - shown(before, digits)


def shown_parts(parts: Sequence[float], total: Decimal, digits: int) -> list[Decimal]:
    """Parts as they are shown, so that they add up to a total that is shown, by largest remainder.

    Args:
        parts: numbers that add up to the total but for its own rounding.
        total: to as many decimals.

    Returns:
        One number each, off by less than two units of the last digit where the total is off by less than one.
    """
    if not parts:
        return []
    unit = Decimal(1).scaleb(-digits)
    rounded = [shown(part, digits) for part in parts]
    every, more = divmod(int((total - sum(rounded, Decimal(0))) / unit), len(parts))
    short = sorted(range(len(parts)), key=lambda k: rounded[k] - Decimal(parts[k]))
    for k in range(len(parts)):
        rounded[k] += every * unit
    for k in short[:more]:
        rounded[k] += unit
    return [abs(number) if number.is_zero() else number for number in rounded]


def signed(number: Decimal) -> str:
    """A change with its sign; nothing before zero."""
    return f"+{number}" if number > 0 else f"{MINUS}{-number}" if number < 0 else str(number)
