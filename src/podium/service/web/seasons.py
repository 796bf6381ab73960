"""Pages for seasons: their champions, the leaderboards at their ends, and the championship standings."""

from collections.abc import Sequence

from fastapi import Response

from podium.ledger.championship import ChampionshipRow, RoundPoints
from podium.service.http.json import SeasonName
from podium.service.web.rendering import PageRouter, pool_address
from podium.service.web.visiting import VisiblePool, Visit
from podium.support.words import counted
from podium.views.boards.seasons import FinalLeaderboard

router = PageRouter()
MAX_ROWS = 200  # number of players in standings
MAX_ROUNDS = 30  # number of columns for rounds; the newest rounds are shown


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
        "Seasons",
        description=f"The champions of {visit.header.title}.",
        boards=[(season_title(board), season_address(visit.pool, board), board) for board in boards],
    )


@router.pool_page("/seasons/{season}")
def season(visit: VisiblePool, season: SeasonName) -> Response:
    """Show the leaderboard at the end of a season, or the current leaderboard if the season has not ended."""
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
        title,
        description=f"{title} of {header.title}: {counted(board.players, header.word)}{champion}.",
        board=board,
    )


@router.pool_page("/standings")
def standings(visit: VisiblePool) -> Response:
    """Show the standings of the current season."""
    return standings_page(visit)


@router.pool_page("/standings/{season}")
def standings_of(visit: VisiblePool, season: SeasonName) -> Response:
    """Show the standings of a season."""
    return standings_page(visit, season)


@router.pool_page("/standings/{season}/before")
def standings_before(visit: VisiblePool, season: SeasonName) -> Response:
    """Show the standings before the first season."""
    return standings_page(visit, season, before=True)


def standings_page(visit: Visit, season: str | None = None, *, before: bool = False) -> Response:
    table = visit.store.standings(visit.pool, season, before=before, top=MAX_ROWS)
    seasons = [begun.name for begun in visit.store.seasons(visit.pool)]
    spans = [(name, visit.path("standings", name)) for name in reversed(seasons)]
    if seasons:
        spans.append((f"Before {seasons[0]}", visit.path("standings", seasons[0], "before")))
    of_season = f" {'before' if before else 'of'} {table.season}" if table.season else ""
    title, numbered = f"Standings{of_season}", [*enumerate(table.rounds, start=1)]
    return visit.show(
        "standings.html",
        title,
        tab="standings",
        description=f"{title}: the championship points of {visit.header.title}.",
        table=table,
        spans=spans,
        players=with_cells(table.players),
        teams=with_cells(table.teams),
        most_rows=MAX_ROWS,
        rounds=numbered[-MAX_ROUNDS:],
        names={round_.event_id: round_.title or round_.event_id for round_ in table.rounds},
    )


def with_cells(rows: Sequence[ChampionshipRow]) -> list[tuple[ChampionshipRow, dict[str, RoundPoints]]]:
    """Return each row, with its rounds by event."""
    return [(row, {round_.event_id: round_ for round_ in row.rounds}) for row in rows]
