"""A value as people read it, in a table on a terminal or a page; and as programs do, in a format of texts only."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def cell(value: object, decimals: int = 2, instants: str = "%Y-%m-%d %H:%M") -> str:
    """A value as people read it; nothing where there is none.

    Args:
        value: what the cell holds.
        decimals: of a number from 1 on; a smaller one has four.
        instants: how dates and times are written, as for `strftime`.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 1.0 else f"{value:,.{decimals}f}"
    if hasattr(value, "strftime"):
        return str(value.strftime(instants))
    return str(value)


def as_text(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The frame with instants as ISO 8601 texts, for formats that have none."""
    import polars as pl  # noqa: PLC0415  (large, and a command may show nothing but a help)

    instants = [name for name, kind in frame.schema.items() if kind == pl.Datetime]
    return frame.with_columns(pl.col(instants).dt.strftime("%Y-%m-%dT%H:%M:%S%.fZ")) if instants else frame
