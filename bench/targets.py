"""The table of targets: what was measured, its spread, and if it meets its target."""

import statistics
from dataclasses import dataclass

NO_SLOWER = 0.97  # the difference that a repeated run may show
HEADING = f"{'':46} {'figure':>15} {'spread':>6}  target"


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
        return f"±{100.0 * half / abs(self.figure):.0f}%" if half and self.figure else ""

    @property
    def target(self) -> str:
        """Return the target, and if the figure meets it."""
        if self.most is not None:
            return f"≤{number(self.most)} {'met' if self.figure <= self.most else 'missed'}"
        if self.least is not None:
            return f"≥{number(self.least)} {'met' if self.figure >= self.least else 'missed'}"
        return ""

    def line(self) -> str:
        """Return the line of the row."""
        figure = f"{number(self.figure)}{'' if self.unit == 'x' else ' '}{self.unit}"
        return f"  {self.what:44} {figure:>15} {self.spread:>6}  {self.target}".rstrip()


def number(value: float) -> str:
    """Return a number with three digits, and large numbers in full."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004


def table(groups: dict[str, list[Row]]) -> list[str]:
    """Return the lines of the table, one group after the other."""
    lines = [HEADING]
    for name, rows in groups.items():
        lines += ["", name, *(row.line() for row in rows)]
    return lines
