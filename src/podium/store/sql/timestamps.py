"""Moments, as the store keeps them: whole microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_US = 86_400_000_000


def instant(microseconds: int) -> datetime:
    """The moment of a number."""
    return EPOCH + timedelta(microseconds=microseconds)


def microseconds(moment: datetime) -> int:
    """The number of a moment."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def now() -> int:
    """The number of this moment."""
    return microseconds(datetime.now(UTC))
