"""Rate one event at a time, preview events, and save the ratings to a file."""

from podium.live.live import Live as Live
from podium.live.one_event import PlayerChange as PlayerChange
from podium.live.one_event import RatedEvent as RatedEvent
from podium.live.saving import refuse_share as refuse_share
