"""Moments: local times of a zone, dates and seconds since 1970, as microseconds since 1970 in UTC."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from podium.errors import ParameterError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
EARLIEST_US = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND
LATEST_US = (datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC) - EPOCH) // MICROSECOND


class LocalTimes:
    """The times of a zone; a local hour that stands twice or never on its clocks takes the earlier offset."""

    def __init__(self, zone: str) -> None:
        """Find the zone.

        Raises:
            ParameterError: there is none of that name.
        """
        self.name = zone
        self.zone: tzinfo = UTC
        try:
            if zone != "UTC":  # which needs no database of zones
                self.zone = ZoneInfo(zone)
        except (OSError, ValueError, LookupError):
            raise ParameterError(f"there is no time zone {zone!r}; write one like UTC or Europe/Berlin") from None
        self.first_unclear: datetime | None = None
        self.unclear = 0

    def microseconds(self, local: datetime) -> int | None:
        """The moment of a local time without an offset; None where it is beyond the years 1 to 9999."""
        early, late = (local.replace(tzinfo=self.zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
        if early != late:
            self.unclear += 1
            self.first_unclear = self.first_unclear or local
        return within_years((local.replace(tzinfo=UTC) - EPOCH - early) // MICROSECOND)

    def notes(self) -> tuple[str, ...]:
        """A line on the local times that were not clear, if any."""
        if self.first_unclear is None:
            return ()
        times = "a local time" if self.unclear == 1 else f"{self.unclear} local times"
        stands = "stands" if self.unclear == 1 else "stand"
        first = self.first_unclear.isoformat(sep=" ")
        return (f"{times} ({first}) {stands} twice or never on the clocks of {self.name}: the earlier offset is taken",)


def within_years(microseconds: int) -> int | None:
    """The moment, or None where it is beyond the years 1 to 9999."""
    return microseconds if EARLIEST_US <= microseconds <= LATEST_US else None


def of_seconds(seconds: int) -> int | None:
    """The moment so many seconds after 1970 began; None where it is beyond the years 1 to 9999."""
    return within_years(seconds * 1_000_000)


def of_utc(moment: datetime) -> int:
    """The moment of a time in UTC, without an offset."""
    return (moment.replace(tzinfo=UTC) - EPOCH) // MICROSECOND


def of_iso(text: str) -> int | None:
    """The moment of an ISO 8601 text; without an offset it is UTC, and a date alone is 00:00 UTC.

    Returns:
        Microseconds since 1970; None where the text is no such moment.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    offset = moment.utcoffset() or timedelta()
    return within_years((moment.replace(tzinfo=timezone(timedelta())) - EPOCH - offset) // MICROSECOND)
