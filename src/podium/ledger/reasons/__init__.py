"""Explanations of rating changes: the duels and other causes, their shares of the change, and descriptions in words."""

from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

import polars as pl

from podium.ledger.reasons.duels import Group
from podium.ledger.reasons.standings import SCHEMA as STANDINGS_SCHEMA
from podium.ledger.reasons.wording import Phrases, line_of
from podium.results.derived_heats import OVERALL
from podium.support.answers import answer
from podium.support.words import lines_html, shown, signed

SCHEMA = {
    "player": pl.String,
    "opponent": pl.String,
    "heat": pl.String,
    "result": pl.Float64,
    "expected": pl.Float64,
    "weight": pl.Float64,
    "contribution": pl.Float64,
    "cause": pl.String,
    "gap": pl.Float64,
    "group": pl.Int64,
    "shown": pl.Float64,
}


@answer
class DuelCount:
    """The number of duels that a player won, and the number expected from the ratings.

    Attributes:
        count: Number of duels in which the player took part.
        won: Number of duels won. A draw counts as half.
        expected: Number of duels the player was expected to win.
        headline: A sentence that gives the three numbers.
        meaning: Explanation of the word "duel" in this event.
        not_compared: Players who are not compared, with the reason. Empty if everybody is compared.
    """

    count: int
    won: float
    expected: float
    headline: str  # "Won 17.5 of 25 duels; 23.1 were expected."
    meaning: str
    not_compared: str


NO_DUELS = DuelCount(0, 0.0, 0.0, "", "", "")


@dataclass(frozen=True, slots=True)
class EquipmentPart:
    """The change in the rating of a piece of equipment that the player used."""

    kind: str
    name: str
    points: float
    shown: Decimal  # as displayed


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """All reasons for one change. Their contributions add up to `delta`, in points.

    All numbers in sentences and in fields called `shown` are rounded consistently, so they add up as displayed.
    """

    event_id: str
    player: str
    rating_before: float
    delta: float
    # Columns: player, opponent, heat, result, expected, weight, contribution, cause, gap, group, shown. `gap` is the
    # opponent's rating minus the player's. `group` is an index into `groups`; the rows of a group add up to it as
    # displayed.
    rows: pl.DataFrame
    outcome: str  # "won", "drew", "lost", "came last", "quit" or "beat 2 of 5"; empty if nobody was compared
    summary: str  # a few sentences to the player
    rating_after: float
    digits: int  # number of decimals to display
    verdict: str  # "Dragana won, but lost 40.5 points."
    cause: str = ""  # "Quitting heat 2 cost 33.4 of them."
    groups: tuple[Group, ...] = ()
    duels: DuelCount = NO_DUELS
    ranked_by: str = ""  # what decided the event: "Ranked by the sum of the heats' scores: Dragana 171, Otto 138, …"
    standings: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=STANDINGS_SCHEMA))  # of the event
    method: str = ""  # how a change that is not a sum over duels is divided
    equipment: tuple[EquipmentPart, ...] = ()  # equipment that the result moved as well
    decisive: Phrases | None = None  # the part that explains the change, if there is one
    shared: str = ""  # "The result was worth +35.0: +23.8 to Ana and +11.2 to the car Ferrari."

    def __repr__(self) -> str:
        change = f"{self.shown_before} {signed(self.shown_change)} = {self.shown_after}"
        return f"Explanation({self.player} in {self.event_id}: {change})"

    def _repr_html_(self) -> str:
        """Return the change and its parts as a table for notebooks."""
        parts = [(line_of(group), signed(group.shown)) for group in self.groups]
        ends = ("Before", str(self.shown_before)), ("After", f"{self.shown_after}")
        return lines_html(" ".join(filter(None, (self.verdict, self.cause))), [ends[0], *parts, ends[1]])

    @property
    def shown_before(self) -> Decimal:
        """Return the rating before the event, as displayed."""
        return shown(self.rating_before, self.digits)

    @property
    def shown_after(self) -> Decimal:
        """Return the rating after the event, as displayed."""
        return shown(self.rating_after, self.digits)

    @property
    def shown_change(self) -> Decimal:
        """Return the displayed change: the difference between the displayed ratings."""
        return self.shown_after - self.shown_before

    @property
    def places(self) -> dict[str, int]:
        """The place of each player who has one. If the event has several heats, the overall result decides."""
        placed = self.standings.filter(pl.col("place").is_not_null())
        if placed["heat"].n_unique() > 1:
            has_overall = bool((placed["heat"] == OVERALL).any())
            placed = placed.filter(pl.col("heat") == OVERALL if has_overall else pl.col("heat").is_null())
        return dict(zip(placed["player"].to_list(), placed["place"].to_list(), strict=True))

    @property
    def winners(self) -> list[str]:
        """The players in first place."""
        return [player for player, place in self.places.items() if place == 1]

    def rows_of(self, group: int) -> pl.DataFrame:
        """Select the rows of a group.

        Args:
            group: the group's number in `groups`.

        Returns:
            The rows, with the same columns as `rows`. Rows in the direction of the change come first.
        """
        rows = self.rows.filter(pl.col("group") == group)
        return rows.sort("contribution", descending=self.delta >= 0.0, maintain_order=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON values.

        Returns:
            All fields except the rows. Numbers called `shown` are rounded for display.
        """
        return {
            "event_id": self.event_id,
            "player": self.player,
            "rating_before": self.rating_before,
            "delta": self.delta,
            "words": self.summary,
            "outcome": self.outcome,
            "verdict": self.verdict,
            "cause": self.cause,
            "shown": {
                "before": float(self.shown_before),
                "change": float(self.shown_change),
                "after": float(self.shown_after),
            },
            "groups": [asdict(group) | {"shown": float(group.shown)} for group in self.groups],
            "duels": asdict(self.duels),
            "ranked_by": self.ranked_by,
            "standings": self.standings.to_dicts(),
            "method": self.method,
            "equipment": [
                {"kind": use.kind, "name": use.name, "points": use.points, "shown": float(use.shown)}
                for use in self.equipment
            ],
            "shared": self.shared,
        }
