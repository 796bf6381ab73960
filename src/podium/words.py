"""An explanation in words: what the result was, what it did to the rating, and what weighed most."""

import polars as pl

MOST_REASONS = 3
SMALL = 0.05  # points that round to 0.1
CAUSES = {
    "base_points": "base points for taking part",
    "floor": "the floor",
    "deviation": "being surer of the rating",
    "quits": "quitting again",
    "joint": "the field as a whole",
    "idle": "the time away",
}


def in_words(player: str, delta: float, rows: pl.DataFrame, gaps: dict[str, float]) -> str:
    """One or two sentences to the player whom the rows are about."""
    met = rows.filter(pl.col("opponent").is_not_null())
    moved = "kept your rating" if abs(delta) < SMALL else f"{'gained' if delta > 0 else 'lost'} {abs(delta):.1f} points"
    won = outcome(met)
    link = (
        "but" if (won.startswith("won") and delta <= -SMALL) or (won.startswith("lost") and delta >= SMALL) else "and"
    )
    start = f"{player}: you {won} {link} {moved}" if won else f"{player}: you {moved}"
    told = [*reasons(met, delta, gaps), *other_causes(rows)]
    return f"{start}: {'; '.join(told)}." if told else f"{start}."


def outcome(met: pl.DataFrame) -> str:
    """How the player did against the others, by the overall result where there is one."""
    overall = met.filter(pl.col("heat") == "overall")
    last = overall if overall.height else met
    if not last.height:
        return ""
    results = last["result"]
    won, lost = int((results > 0.5).sum()), int((results < 0.5).sum())  # noqa: PLR2004  (a draw is 0.5)
    if won == last.height:
        return "won"
    if lost == last.height:
        return "lost" if last.height == 1 else "came last"
    if not won and not lost:
        return "drew"
    return f"beat {won} of {last.height}"


def reasons(met: pl.DataFrame, delta: float, gaps: dict[str, float]) -> list[str]:
    """The comparisons that weighed most: those that agree with the change, then the one most against it."""
    sign = -1.0 if delta < 0 else 1.0
    ranked = met.with_columns(weighed=pl.col("contribution") * sign).sort("weighed", descending=True)
    agreeing = ranked.filter(pl.col("weighed") >= SMALL).head(MOST_REASONS)
    against = ranked.filter(pl.col("weighed") <= -SMALL).tail(1)
    return [reason(row, gaps) for row in [*agreeing.iter_rows(named=True), *against.iter_rows(named=True)]]


def reason(row: dict[str, float | str], gaps: dict[str, float]) -> str:
    """One comparison: "heat 3 against B, rated 610 below you, cost 15.1"."""
    opponent, points = str(row["opponent"]), float(row["contribution"])
    gap = gaps[opponent]
    rated = "rated as you are" if abs(gap) < 1.0 else f"rated {abs(gap):.0f} {'above' if gap > 0 else 'below'} you"
    heat = str(row["heat"] or "")
    where = "" if not heat else "the overall result " if heat == "overall" else f"heat {heat} "
    return f"{where}against {opponent}, {rated}, {'cost' if points < 0 else 'brought'} {abs(points):.1f}"


def other_causes(rows: pl.DataFrame) -> list[str]:
    """What moved the rating beside the opponents."""
    causes = rows.filter(pl.col("opponent").is_null() & (pl.col("contribution").abs() >= SMALL))
    return [
        f"{CAUSES.get(cause, cause.replace('_', ' '))} {'cost' if points < 0 else 'brought'} {abs(points):.1f}"
        for cause, points in causes.select("cause", "contribution").iter_rows()
    ]
