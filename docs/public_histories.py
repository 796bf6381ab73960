"""The public histories that docs/comparison.md judges systems on; the results are other people's, see the page."""

from typing import NamedTuple


class History(NamedTuple):
    """A history: what it is, its file, from when it is judged, and where its training part ends."""

    title: str
    file: str
    since: str | None
    train_until: str
    trials: int = 160  # parameter sets that a search tries

    @property
    def past(self) -> str:
        """The training part, in words."""
        if self.train_until.endswith("%"):
            return f"the first {self.train_until} of the events"
        return f"the events until {self.train_until}"


HISTORIES = {
    "atp": History(
        "Men's tennis singles 1968-2024, judged from 1991 on", "atp.parquet", "1991-01-01", "2010-12-31", 64
    ),
    "f1": History("Formula 1, races and qualifying, the whole history", "f1.parquet", None, "2000-12-31"),
    "zakstunts": History("ZakStunts, 293 races of Stunts", "zakstunts.parquet", None, "60%"),
    "speedway": History("Speedway Grand Prix, 5,454 heats of four", "speedway.parquet", None, "2010-12-31"),
}
