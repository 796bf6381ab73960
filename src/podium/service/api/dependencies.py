"""What routes depend on: the roles of keys, and the parts of the service, which stand in the app's state."""

from typing import Annotated

from fastapi import Depends, Request

from podium.service.api.batching import Intake
from podium.service.api.board_cache import BoardCache
from podium.service.delivery.watchers import Watchers
from podium.service.http import stores
from podium.service.http.access import require_role
from podium.service.http.threads import Threads
from podium.service.metrics import Metrics
from podium.service.visits.visitors import Visitor, check_reader


async def get_intake(request: Request) -> Intake:
    """Return the queues of results; this and the others are coroutines, so that no thread is needed for them."""
    intake: Intake = request.app.state.intake
    return intake


async def get_board_cache(request: Request) -> BoardCache:
    """Return the cache of leaderboard pages."""
    board_cache: BoardCache = request.app.state.board_cache
    return board_cache


async def get_metrics(request: Request) -> Metrics:
    """Return the counters of the service."""
    metrics: Metrics = request.app.state.metrics
    return metrics


async def get_threads(request: Request) -> Threads:
    """Return the threads of each kind of work."""
    threads: Threads = request.app.state.threads
    return threads


async def get_watchers(request: Request) -> Watchers:
    """Return the watchers of the log."""
    watchers: Watchers = request.app.state.watchers
    return watchers


CurrentStore = stores.CurrentStore
CurrentIntake = Annotated[Intake, Depends(get_intake)]
CurrentBoardCache = Annotated[BoardCache, Depends(get_board_cache)]
CurrentMetrics = Annotated[Metrics, Depends(get_metrics)]
CurrentThreads = Annotated[Threads, Depends(get_threads)]
CurrentWatchers = Annotated[Watchers, Depends(get_watchers)]
Reader = Annotated[Visitor, Depends(check_reader)]  # anybody, of a public pool
KeyedReader = Annotated[str, Depends(require_role("read"))]  # the name of the request's key
Writer = Annotated[str, Depends(require_role("write"))]
Admin = Annotated[str, Depends(require_role("admin"))]
