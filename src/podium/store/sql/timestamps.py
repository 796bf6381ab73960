"""Moments as the store has them: whole microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_US = 86_400_000_000


def instant(microseconds: int) -> datetime:
    """The moment so many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=microseconds)


def microseconds(moment: datetime) -> int:
    """The microseconds since 1970 at a moment."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def now() -> int:
    """The microseconds since 1970 at this moment."""
    return microseconds(datetime.now(UTC))
