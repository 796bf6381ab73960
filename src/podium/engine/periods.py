"""Rating periods: an event, or so many days, weeks or months, in UTC."""

import re

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.errors import ParameterError

EVENT = "event"
DAY_US = 86_400_000_000
DAYS_TO_1970 = 719_163.0  # from the day before the year 1 began
MONDAY = 4 * DAY_US  # 1970-01-05, so that weeks begin on Mondays
SHAPE = re.compile(r"([1-9][0-9]{0,3})(d|w|mo)")


def check_period(period: str) -> str:
    """Return the period, if it is one.

    Raises:
        ParameterError: it is not `event` or like `1d`, `2w`, `1mo`.
    """
    if period != EVENT and SHAPE.fullmatch(period) is None:
        raise ParameterError(f"period is {period!r}; it must be event, or like 1d, 1w or 1mo")
    return period


def period_numbers(frame: pl.DataFrame, period: str) -> npt.NDArray[np.int64] | None:
    """The number of each row's rating period, counted from 1970; None where every event is one.

    Raises:
        ParameterError: `period` is not one, or the table has no `started_at` to tell it by.
    """
    if check_period(period) == EVENT:
        return None
    if "started_at" not in frame.columns:
        raise ParameterError(f"a rating period of {period} needs the column started_at")
    return numbers_at(frame["started_at"], period)


def numbers_at(started_at: pl.Series, period: str) -> npt.NDArray[np.int64]:
    """The number of the period that each instant lies in."""
    match = SHAPE.fullmatch(period)
    count, unit = (int(match[1]), match[2]) if match else (1, "d")
    if unit == "mo":
        months = started_at.dt.year().cast(pl.Int64) * 12 + started_at.dt.month().cast(pl.Int64)
        numbers: npt.NDArray[np.int64] = np.floor_divide(months.to_numpy() - 1970 * 12 - 1, count)
        return numbers
    instants = started_at.cast(pl.Int64).to_numpy()
    since, days = (MONDAY, 7 * count) if unit == "w" else (0, count)
    spans: npt.NDArray[np.int64] = np.floor_divide(instants - since, DAY_US * days)
    return spans
