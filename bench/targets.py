"""The table of targets: what was measured, its spread, and if it meets its target."""

import statistics
from dataclasses import dataclass

NO_SLOWER = 0.97  # the difference that a repeated run may show
HEADINGS = "| | figure | spread | target |", "|---|---|---|---|"


@dataclass
class Row:
    """A figure from several rounds. Its target is the most or the least that the median may be."""

    what: str
    values: list[float]
    unit: str = ""
    most: float | None = None
    least: float | None = None

    @property
    def figure(self) -> float:
        """Return the median."""
        return statistics.median(self.values)

    @property
    def spread(self) -> str:
        """Return half the range of the rounds, as a percentage of the median."""
        half = (max(self.values) - min(self.values)) / 2.0
        return f"±{100.0 * half / self.figure:.0f}%" if half else ""

    @property
    def target(self) -> str:
        """Return the target, and if the figure meets it."""
        if self.most is not None:
            return f"≤{number(self.most)} {'met' if self.figure <= self.most else 'missed'}"
        if self.least is not None:
            return f"≥{number(self.least)} {'met' if self.figure >= self.least else 'missed'}"
        return ""

    def cells(self) -> list[str]:
        """Return the cells of the row, as text."""
        space = "" if self.unit == "x" else " "
        return [self.what, f"{number(self.figure)}{space}{self.unit}", self.spread, self.target]


def number(value: float) -> str:
    """Return a number with three digits, and large numbers in full."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004


def table(groups: dict[str, list[Row]]) -> list[str]:
    """Return the lines of the table as Markdown, one group after the other."""
    lines = []
    for name, rows in groups.items():
        lines += [f"| **{name}** | | | |", *(f"| {' | '.join(row.cells())} |" for row in rows)]
    return [*HEADINGS, *lines]
