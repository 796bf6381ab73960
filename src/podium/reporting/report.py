"""One self-contained page about a league: every pool's board, its players with their reasons, and how well it predicts.

It loads nothing and needs no script; the one it has finds players by name. Needs the extra `charts`.
"""

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from podium import __version__
from podium.pages.environment import Setting, create_environment, settings, static_content, without_spaces
from podium.pages.numbers import counted
from podium.rated import Rated
from podium.reporting.histories import Fit, fit
from podium.reporting.players import Board, PlayerSection, Reason, board, player_section, ranked, with_places
from podium.results.columns import DEFAULTS

MOST_SECTIONS = 300  # players of all pools together
MOST_ROWS = 5_000  # of all boards together
RECENT = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class PoolReport:
    """A pool of the league."""

    anchor: str
    title: str
    sizes: str  # how many events and players
    board: Board
    sections: tuple[PlayerSection, ...]
    sections_words: str  # whose sections there are, where not everybody has one
    surprise: tuple[str, Reason] | None  # the player of the greatest among those that are explained


@dataclass(frozen=True, slots=True)
class Report:
    """The page."""

    title: str
    summary: str
    written: date
    version: str
    rated: Rated
    pools: tuple[PoolReport, ...]
    fit: Fit | None
    settings: tuple[Setting, ...]
    style: Markup
    script: Markup
    policy: str  # what a browser may load and run: the style and the script above, and nothing else
    icon: str


def report(rated: Rated, pool: str | None = None, *, title: str | None = None, written: date | None = None) -> str:
    """The page as HTML that needs no network and no script."""
    template = create_environment("podium.reporting").get_template("report.html")
    return str(template.render(page=report_page(rated, pool, title, written or datetime.now(UTC).date()))).lstrip()


def report_page(rated: Rated, pool: str | None, title: str | None, written: date) -> Report:
    """What the page shows."""
    rated.pool(pool)  # there is something to report on
    history = with_places(rated)
    names = [pool] if pool is not None else rated.ratings["pool"].unique(maintain_order=True).to_list()
    standings = {name: ranked(rated.system, rated.ratings.filter(pl.col("pool") == name)) for name in names}
    chosen = players_with_sections(standings)
    rows = most_each([each.height for each in standings.values()], MOST_ROWS)
    style, script, icon = (
        own_file("report.css", static_content("podium.css").decode()),
        own_file("report.js"),
        base64.b64encode(static_content("mark.svg")).decode(),
    )
    return Report(
        title=title or f"{Path(rated.results.source).name}, rated by {rated.system.title}",
        summary=(getdoc(type(rated.system)) or "").partition("\n")[0],
        written=written,
        version=__version__,
        rated=rated,
        pools=tuple(
            pool_report(
                rated, name, history.filter(pl.col("pool") == name), standings[name], chosen[name], rows, number
            )
            for number, name in enumerate(names, start=1)
        ),
        fit=fit(rated),
        settings=settings(rated.system),
        style=Markup(style),  # noqa: S704  (Podium's own)
        script=Markup(script),  # noqa: S704
        policy=(
            f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; img-src data:;"
            " base-uri 'none'; form-action 'none'"
        ),
        icon=icon,
    )


@cache
def own_file(name: str, before: str = "") -> str:
    """A file beside the template, after what comes before it, as it stands in the page."""
    text = files("podium.reporting").joinpath("templates", name).read_text(encoding="utf-8")
    return before + (without_spaces(text) if name.endswith(".css") else text.strip())


def digest(text: str) -> str:
    """The hash by which a policy allows a style or a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def players_with_sections(standings: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Who has a section: everybody, or the best of those who played in the last year, of all pools alike."""
    if sum(each.height for each in standings.values()) <= MOST_SECTIONS:
        return standings
    recent = {name: played_recently(each) for name, each in standings.items()}
    most = most_each([each.height for each in recent.values()], MOST_SECTIONS)
    return {name: each.head(most) for name, each in recent.items()}


def most_each(heights: list[int], most: int) -> int:
    """How many rows each table may have, so that all of them together have at most so many."""
    return max(k for k in range(most + 1) if sum(min(k, height) for height in heights) <= most)


def played_recently(players: pl.DataFrame) -> pl.DataFrame:
    """The players of a pool who played within a year of its newest event; all where there are no dates."""
    newest = players["last_played_at"].max()
    return players.filter(pl.col("last_played_at") >= newest - RECENT) if isinstance(newest, datetime) else players


def pool_report(
    rated: Rated,
    name: str,
    history: pl.DataFrame,
    standings: pl.DataFrame,
    chosen: pl.DataFrame,
    most: int,
    number: int,
) -> PoolReport:
    """What the page tells of a pool.

    Args:
        number: of the pool, from 1.
    """
    sections = tuple(player_sections(rated, history, standings, chosen, number))
    anchors = {each.player: each.anchor for each in sections}
    newest = {each.player: each.reasons[0].anchor for each in sections if each.reasons}
    explained = [(each.player, reason) for each in sections for reason in each.reasons]
    greatest = max(explained, key=lambda each: (each[1].is_against_result, abs(each[1].change)), default=None)
    words = ""
    if chosen.height < standings.height:
        who = "of those who played in the last year" if standings["last_played_at"].count() else "of all"
        words = f"{chosen.height:,} of {counted(standings.height, 'player')}: the best {who}."
    return PoolReport(
        anchor=f"pool-{number}",
        title="Leaderboard" if name == DEFAULTS["pool"] else name,
        sizes=f"{counted(history['event_id'].n_unique(), 'event')}, {counted(standings.height, 'player')}",
        board=board(rated, name, history, most, anchors, newest),
        sections=sections,
        sections_words=words,
        surprise=greatest,
    )


def player_sections(
    rated: Rated, history: pl.DataFrame, standings: pl.DataFrame, chosen: pl.DataFrame, number: int
) -> Iterator[PlayerSection]:
    """The sections of a pool's players; see `pool_report`."""
    own = history.filter(pl.col("player").is_in(chosen["player"].implode()))
    careers: dict[Any, pl.DataFrame] = own.partition_by("player", as_dict=True, maintain_order=True)
    settled = standings["rating"].filter(~standings["provisional"])
    for k, standing in enumerate(chosen.iter_rows(named=True), start=1):
        career = careers.get((standing["player"],), history.clear())
        would_be = 1 + int((settled > standing["rating"]).sum())
        yield player_section(rated, standing, career, f"player-{number}-{k}", settled=settled.len(), would_be=would_be)
