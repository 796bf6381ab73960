"""What events did to a player, as lines of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from markupsafe import Markup

from podium.pages.drawing.bars import signed_bar
from podium.service.web.addresses import pool_address
from podium.service.web.rendering import PoolFrame
from podium.store.insights.player_models import FormLine
from podium.support.rounding import shown


@dataclass(frozen=True, slots=True)
class EventRow:
    """What an event did to a player, or the start of a season, which has no addresses."""

    event: str  # what people call it
    event_address: str
    reason_address: str
    started_at: datetime
    rank: int | None
    field: int | None
    change: Decimal
    rating: Decimal
    bar: Markup


def reason_address(frame: PoolFrame, event_id: str, name: str) -> str:
    """The address of why an event moved a player."""
    return pool_address(frame.name, "events", event_id, name)


def event_rows(frame: PoolFrame, name: str, lines: Sequence[FormLine]) -> tuple[EventRow, ...]:
    """Changes as lines of a table, their bars on one scale."""
    low, high = (limit((line.shown for line in lines), default=0.0) for limit in (min, max))
    return tuple(
        EventRow(
            event=line.title or line.event_id or "A season began",
            event_address=pool_address(frame.name, "events", line.event_id) if line.event_id else "",
            reason_address=reason_address(frame, line.event_id, name) if line.event_id else "",
            started_at=line.started_at,
            rank=line.rank,
            field=line.field,
            change=shown(line.shown, frame.digits),
            rating=shown(line.rating, frame.digits - 1),
            bar=signed_bar(line.shown, low, high),
        )
        for line in lines
    )
