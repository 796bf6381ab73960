"""Tables of the library as read models."""

from dataclasses import fields
from typing import Any, TypeVar

import polars as pl

from podium.ledger.forecast import Forecast
from podium.store.read.models import EntrantChances, FieldChances, PairChance, RankChance

Row = TypeVar("Row")


def rows_as(kind: type[Row], table: pl.DataFrame) -> tuple[Row, ...]:
    """The rows of a table, each as a dataclass whose fields are columns; those without a column have their default."""
    model: Any = kind
    present = set(table.columns)
    columns = [each.name for each in fields(model) if each.name in present]
    return tuple(kind(**dict(zip(columns, row, strict=True))) for row in table.select(columns).rows())


def extended(kind: type[Row], base: Any, **more: Any) -> Row:
    """A dataclass with all that one of its base class has, and more."""
    return kind(**{each.name: getattr(base, each.name) for each in fields(base)}, **more)


def field_chances(forecast: Forecast) -> FieldChances:
    """The chances of a field, row by row."""
    return FieldChances(
        rows_as(EntrantChances, forecast.entrants),
        tuple(forecast.entrants.filter(events=0)["player"]),
        rows_as(RankChance, forecast.ranks),
        rows_as(PairChance, forecast.pairs),
    )
