"""Rate one event at a time: where everybody stands, what an event would do, and a file to go on from."""

from podium.live.live import Live as Live
from podium.live.one_event import PlayerChange as PlayerChange
from podium.live.one_event import RatedEvent as RatedEvent
from podium.live.saving import refuse_share as refuse_share
