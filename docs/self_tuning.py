"""Write docs/data/self-tuning-*.csv, the effect of each part of `adaptive` and hard cases: `make self-tuning`.

`make docs` then writes the summary in docs/comparison.md.
"""

import math
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from compare import write_table
from hard_cases import (
    START,
    YoungPool,
    all_tied,
    crowd,
    reversed_places,
    ring_of_accounts,
    with_constant_guest,
    with_rows,
    young_season,
)
from public_histories import HISTORIES
from tuned import later_events, later_heats, log_loss

import podium
from podium.analysis.audit import audit
from podium.analysis.predictions import HeatSelection
from podium.analysis.scores import judge_heats
from podium.engine.pool_state import PoolNumbers, new_pools
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode
from podium.systems import find

PLAYERS = ("spread", "event", "idle_day", "noise", "growth", "ageing", "unfinished", "reach", "entry")
LEARNT = (*PLAYERS, "thing_1_spread", "thing_1_day", "side_spread", "side_day")
UNREAD = {"shared": "what is shared: a car, a club", "side": "the side: home, white"}
MATCHES = {"teams": 2, "entrants": 20, "players": 200, "events": 300}  # ten against ten
HELD = 1e12  # a precision so high that no result changes the value
SEEDS = range(100, 120)
RING_BEGINS = datetime(2011, 1, 10, tzinfo=UTC)  # a week into the judged part


class Variant(NamedTuple):
    """A pool's start values: some parameters' values, and the parameters that stay fixed."""

    title: str
    values: Mapping[str, float] = {}
    held: tuple[str, ...] = ()


def without(title: str, name: str, value: float) -> Variant:
    """Return the system without one part: its parameter stays at a value without effect."""
    return Variant(title, {name: value}, (name,))


WHOLE = Variant("nothing")
PARTS = (
    Variant("all learning: every parameter stays at its start", {}, LEARNT),
    without("`day`: what days change", "idle_day", -14.0),
    without("`event`: what events change", "event", -11.0),
    without("`noise`: a day's form", "noise", -6.0),
    without("`growth` of newcomers", "growth", 0.0),
    without("`ageing` of veterans", "ageing", 0.0),
    without("`unfinished`: a breakdown counts as a defeat", "unfinished", 0.0),
    without("`reach`: all places count alike", "reach", 3.0),
    without("`entry`: newcomers begin at 1500", "entry", 0.0),
)


def elsewhere(title: str, factor: float, *names: str) -> Variant:
    """Return a start with some parameters multiplied by a factor."""
    start = find("adaptive")().new_pool()
    return Variant(title, {name: getattr(start, name) + math.log(factor) for name in names})


def starts() -> tuple[Variant, ...]:
    """Return the other starts to compare."""
    return (
        elsewhere("spread / 7", 1 / 7, "spread"),
        elsewhere("spread x 7", 7, "spread"),
        elsewhere("drift / 7", 1 / 7, "event", "idle_day"),
        elsewhere("drift x 7", 7, "event", "idle_day"),
        elsewhere("noise / 5", 1 / 5, "noise"),
        elsewhere("noise x 5", 5, "noise"),
    )


def pools_of(system: System, events: Events, variant: Variant) -> PoolNumbers:
    """Return the pools' states with these start values, (pools, fields)."""
    pools = new_pools(system, len(events.pools))
    fields = list(system.pool_state_type._fields)  # type: ignore[union-attr]
    for name in set(variant.values) & set(fields):
        pools[:, fields.index(name)] = variant.values[name]
    for name in set(variant.held) & set(fields):
        k = fields.index(name) - fields.index("spread") + 1
        pools[:, fields.index(f"m_{k}_{k}")] = HELD
    return pools


def loss_of(events: Events, selection: HeatSelection, variant: Variant, system: System | None = None) -> float:
    """Return the log loss of the selected heats with these start values."""
    system = system or find("adaptive")()
    return log_loss(judge_heats(events, system, selection, pools_of(system, events, variant))[0])


class Judged(NamedTuple):
    """A history and its judged part."""

    title: str
    system: System
    events: Events
    selection: HeatSelection

    def loss(self, variant: Variant) -> float:
        """Return the log loss with these start values."""
        return loss_of(self.events, self.selection, variant, self.system)


def load(folder: Path, unread: str = "") -> list[Judged]:
    """Return the histories, judged after their training parts, optionally without shared columns or the side."""
    judged = []
    for history in HISTORIES.values():
        results = history.read(folder)
        if unread == "side" and "side" in results.frame.columns:
            results = podium.read_results(results.frame.drop("side"))
        system = find("adaptive")() if unread == "shared" else history.system("adaptive")
        events = encode(results, system)
        later = later_events(results, history.train_until)
        judged.append(Judged(history.title.split(",")[0], system, events, HeatSelection(later_heats(events, later))))
    return judged


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[list[str]]:
    """Return a table as rows, the head first."""
    return [list(head), *(list(row) for row in rows)]


def parts(histories: list[Judged], folder: Path) -> list[list[str]]:
    """Return the effect of each part: the log loss without it, minus the log loss of the whole."""
    whole = [each.loss(WHOLE) for each in histories]
    rows = [["nothing", *(f"{loss:.4f}" for loss in whole)]]
    rows += [[each.title, *changes(histories, whole, each)] for each in PARTS]
    rows += [[title, *changes(load(folder, name), whole, WHOLE)] for name, title in UNREAD.items()]
    return table(["left out", *(each.title for each in histories)], rows)


def changes(histories: list[Judged], whole: list[float], variant: Variant) -> list[str]:
    """Return the change of each history's log loss with other start values."""
    return [f"{each.loss(variant) - loss:+.4f}" for each, loss in zip(histories, whole, strict=True)]


def other_starts(histories: list[Judged]) -> list[list[str]]:
    """Return the effect of other start values."""
    whole = [each.loss(WHOLE) for each in histories]
    rows = [[each.title, *changes(histories, whole, each)] for each in starts()]
    return table(["start", *(each.title for each in histories)], rows)


def young_pools() -> list[list[str]]:
    """Return the excess log loss of young pools over the parameters that drew them."""
    cases = {
        "fields of 4": YoungPool(field=4),
        "fields of 12": YoungPool(),
        "3,000 duels": YoungPool(field=2, races=3000, races_a_day=40),
        "drift five times as fast": YoungPool(drift=1e-3),
    }
    rows = []
    for title, pool in cases.items():
        less = np.array([young_gap(seed, pool) for seed in SEEDS])
        rows.append([title, f"{less.mean():+.4f}", f"{less.max():+.4f}"])
    return table([f"{len(SEEDS)} seasons", "mean", "worst"], rows)


def young_gap(seed: int, pool: YoungPool) -> float:
    """Return the excess log loss on a season's last two fifths over the true parameters, which stay fixed."""
    events = encode(podium.read_results(young_season(seed, pool)), find("adaptive")())
    count = events.columns.entrants.size - 1
    selection = HeatSelection(np.arange(count) >= 0.6 * count)
    true = {"spread": math.log(pool.spread), "noise": math.log(pool.noise), "idle_day": math.log(pool.drift)}
    truth = Variant("true", true | {"event": -11.0}, LEARNT)
    return loss_of(events, selection, WHOLE) - loss_of(events, selection, truth)


def upsets(folder: Path) -> list[list[str]]:
    """Return the effect of each hard case on ratings and on others' predictions."""
    young = [rigged_season(300, "midway"), rigged_season(0, "from its first day on")]
    rows = [rigged_tennis(folder), *young, constant_guest(), *small_cases()]
    return table(["case", "ratings", "others' log loss", "what `audit` says"], rows)


def rigged_tennis(folder: Path) -> list[str]:
    """Add ten accounts to tennis that only play each other."""
    history = HISTORIES["atp"]
    results = history.read(folder)
    ring = podium.read_results(with_rows(results, ring_of_accounts("atp", RING_BEGINS)))
    later = later_events(results, history.train_until)
    losses = []
    for each in (results, ring):
        events = encode(each, find("adaptive")())
        losses.append(loss_of(events, HeatSelection(later_heats(events, later)), WHOLE))
    return ring_row("within tennis", podium.rate(ring, "adaptive"), losses[1] - losses[0])


def rigged_season(day: int, when: str) -> list[str]:
    """Add the same ten accounts to a young season."""
    season = podium.read_results(young_season(3, YoungPool(field=8, races=1000)))
    duels = ring_of_accounts(season.frame["pool"][0], START + timedelta(days=day))
    rated = podium.rate(with_rows(season, duels), "adaptive")
    strangers = duels["player"].unique().to_list()
    change = others_loss(rated, strangers) - others_loss(podium.rate(season, "adaptive"), strangers)
    return ring_row(f"within a young season of 1,000 races, {when}", rated, change)


def ring_row(where: str, rated: podium.Rated, change: float) -> list[str]:
    """Return the row of a ring of ten accounts."""
    found = audit(rated).isolated_groups.filter(pl.col("players").list.contains("account 0"))
    best = rated.ratings.filter(pl.col("player").str.starts_with("account "))["rating"].max()
    return [
        f"ten accounts, 2,000 duels among themselves, {where}",
        f"{verdict(rated)}; the best account at {best:.0f}",
        f"{change:+.5f}",
        f"names the island of {found['size'][0]}" if found.height else "finds nothing",
    ]


def others_loss(rated: podium.Rated, strangers: list[str]) -> float:
    """Return the log loss of pairs without these players."""
    pairs = rated.predictions()
    pairs = pairs.filter(~pl.col("player").is_in(strangers) & ~pl.col("opponent").is_in(strangers))
    result, chance = pairs["result"].to_numpy(), pairs["expected"].to_numpy()
    return float(-(result * np.log(chance) + (1.0 - result) * np.log(1.0 - chance)).mean())


def constant_guest() -> list[str]:
    """Return the row of a player without skill in half of all races."""
    season = young_season(1, YoungPool(field=8))
    visited = podium.rate(with_constant_guest(season), "adaptive")
    change = others_loss(visited, ["the guest"]) - others_loss(podium.rate(season, "adaptive"), ["the guest"])
    islands = audit(visited).isolated_groups.height
    found = f"names {islands} islands" if islands else "finds nothing"
    return ["one player in half of all races, at random places", verdict(visited), f"{change:+.5f}", found]


def small_cases() -> list[list[str]]:
    """Return the rows of small cases."""
    season = young_season(2, YoungPool(field=8, races=600))
    mirrored = mirror_gap(season)
    tied = podium.rate(all_tied(season), "adaptive")
    widest = np.abs(tied.ratings["rating"].to_numpy() - 1500.0).max()
    cases = {
        "three newcomers, one race": (podium.rate(season.head(3), "adaptive"), ""),
        "10,000 entrants, twice": (podium.rate(crowd(10_000, 2), "adaptive"), ""),
        "all ties": (tied, f"; within {widest:.1g} of the starting rating"),
        "every race in reverse": (
            podium.rate(reversed_places(season), "adaptive"),
            f"; mirrored within {mirrored:.1g}",
        ),
    }
    return [[title, verdict(rated) + more, "", ""] for title, (rated, more) in cases.items()]


def moves(histories: list[Judged]) -> list[list[str]]:
    """Return the largest move of one event in each history, and in matches of ten against ten."""
    rated = [(each.title, podium.rate(each.events.results, each.system)) for each in histories]
    rated.append(
        ("matches of ten against ten, simulated", podium.rate(podium.simulate(**MATCHES, seed=1).results, "adaptive"))
    )
    return table(
        ["history", "largest move", "from and to", "all ratings"],
        [[title, *largest_move(each)] for title, each in rated],
    )


def largest_move(rated: podium.Rated) -> list[str]:
    """Return the largest move of a player in one event, with its start and end, and the range of all ratings."""
    moved = rated.history.sort(pl.col("delta").abs(), descending=True).row(0, named=True)
    to = f"{moved['rating_before']:.0f} to {moved['rating']:.0f}"
    return [f"{moved['delta']:+.0f}", to, verdict(rated)]


def mirror_gap(season: pl.DataFrame) -> float:
    """Return the largest gap between the reversed races' ratings and the mirrored ratings, in points."""
    forth, back = (
        podium.rate(each, "adaptive").ratings.sort("player")["rating"] for each in (season, reversed_places(season))
    )
    return float((forth + back - 3000.0).abs().max())  # type: ignore[arg-type]


def verdict(rated: podium.Rated) -> str:
    """Return the range of all ratings, or "not finite"."""
    ratings = rated.ratings["rating"]
    return f"{ratings.min():.0f} to {ratings.max():.0f}" if ratings.is_finite().all() else "not finite"


def main(folder: Path) -> None:
    """Write every table."""
    histories = load(folder)
    tables = {
        "parts": parts(histories, folder),
        "starts": other_starts(histories),
        "young-pools": young_pools(),
        "hard-cases": upsets(folder),
        "largest-moves": moves(histories),
    }
    for name, (head, *rows) in tables.items():
        write_table(f"self-tuning-{name}.csv", head, rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
