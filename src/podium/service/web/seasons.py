"""Pages about seasons: the champion of each season, and the leaderboard at its end."""

from fastapi import Request, Response

from podium.log.pools import Pool
from podium.service.http.json import SeasonName
from podium.service.http.requests import CurrentStore
from podium.service.web.rendering import Page, PageRouter, pool_address, pool_header, render
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.support.words import counted
from podium.views.boards.seasons import FinalLeaderboard

router = PageRouter()


def boards_of(store: Store, pool: Pool) -> tuple[FinalLeaderboard, ...]:
    """Return the seasons of a pool with their leaders, newest first.

    They are read once for each version of the pool.
    """
    return store.answers.value(
        ("seasons", pool.id), store.version(pool.name), lambda: store.final_leaderboards(pool.name)
    )


def season_title(board: FinalLeaderboard) -> str:
    return f"Before {board.season}" if board.is_before else f"Season {board.season}"


def season_address(pool: str, board: FinalLeaderboard) -> str:
    return pool_address(pool, "seasons", board.season, *(["before"] if board.is_before else []))


@router.pool_page("/seasons")
def seasons(request: Request, visit: VisiblePool, store: CurrentStore) -> Response:
    """List the seasons with their champions, newest first."""
    pool = store.pool(visit.pool)
    header = pool_header(pool)
    page = Page(
        "seasons.html",
        title="Seasons",
        description=f"The champions of {header.title}.",
        pool=header,
        newest_entry=store.version(pool.name),
        boards=[(season_title(each), season_address(pool.name, each), each) for each in boards_of(store, pool)],
    )
    return render(request, page)


@router.pool_page("/seasons/{season}")
def season(request: Request, visit: VisiblePool, store: CurrentStore, season: SeasonName) -> Response:
    """Show the leaderboard at the end of a season, or the current one if it has not ended."""
    return season_page(request, store, visit.pool, store.final_leaderboard(visit.pool, season))


@router.pool_page("/seasons/{season}/before")
def before_first_season(request: Request, visit: VisiblePool, store: CurrentStore, season: SeasonName) -> Response:
    """Show the leaderboard as it was at the beginning of the first season."""
    return season_page(request, store, visit.pool, store.final_leaderboard(visit.pool, season, before=True))


def season_page(request: Request, store: Store, pool_name: str, board: FinalLeaderboard) -> Response:
    header = pool_header(store.pool(pool_name))
    leader = board.rows[0].player if board.rows else ""
    champion = f", won by {leader}" if leader and board.until is not None else ""
    page = Page(
        "season.html",
        title=season_title(board),
        description=f"{season_title(board)} of {header.title}: {counted(board.players, header.word)}{champion}.",
        pool=header,
        newest_entry=store.version(pool_name),
        board=board,
    )
    return render(request, page)
