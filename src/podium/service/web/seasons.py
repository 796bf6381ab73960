"""Pages for seasons: the champion of each, and the leaderboard at its end."""

from fastapi import Response

from podium.service.http.json import SeasonName
from podium.service.web.rendering import PageRouter, pool_address
from podium.service.web.visiting import VisiblePool, Visit
from podium.support.words import counted
from podium.views.boards.seasons import FinalLeaderboard

router = PageRouter()


def season_title(board: FinalLeaderboard) -> str:
    return f"Before {board.season}" if board.is_before else f"Season {board.season}"


def season_address(pool: str, board: FinalLeaderboard) -> str:
    return pool_address(pool, "seasons", board.season, *(["before"] if board.is_before else []))


@router.pool_page("/seasons")
def seasons(visit: VisiblePool) -> Response:
    """List the seasons with their champions, newest first."""
    boards = visit.store.final_leaderboards(visit.pool)
    return visit.show(
        "seasons.html",
        title="Seasons",
        description=f"The champions of {visit.header.title}.",
        boards=[(season_title(board), season_address(visit.pool, board), board) for board in boards],
    )


@router.pool_page("/seasons/{season}")
def season(visit: VisiblePool, season: SeasonName) -> Response:
    """Show the leaderboard at the end of a season, or the current one if the season has not ended."""
    return season_page(visit, visit.store.final_leaderboard(visit.pool, season))


@router.pool_page("/seasons/{season}/before")
def before_first_season(visit: VisiblePool, season: SeasonName) -> Response:
    """Show the leaderboard at the beginning of the first season."""
    return season_page(visit, visit.store.final_leaderboard(visit.pool, season, before=True))


def season_page(visit: Visit, board: FinalLeaderboard) -> Response:
    title, header = season_title(board), visit.header
    leader = board.rows[0].player if board.rows else ""
    champion = f", won by {leader}" if leader and board.until is not None else ""
    return visit.show(
        "season.html",
        title=title,
        description=f"{title} of {header.title}: {counted(board.players, header.word)}{champion}.",
        board=board,
    )
