"""An explanation in words: what the result was, what it did to the rating, and what weighed most."""

import polars as pl

MOST_REASONS = 3
CAUSES = {
    "base_points": "base points for taking part",
    "floor": "the floor",
    "deviation": "being surer of the rating",
    "quits": "quitting again",
    "joint": "the field as a whole",
    "idle": "the time away",
}


def explain_in_words(player: str, delta: float, rows: pl.DataFrame, gaps: dict[str, float], digits: int) -> str:
    """One or two sentences to the player whom the rows are about.

    Args:
        digits: decimals of points that are shown; what they show as zero is left out, or a rating that stayed.
    """
    met = rows.filter(pl.col("opponent").is_not_null())
    shown = round(delta, digits)
    moved = f"{'gained' if shown > 0 else 'lost'} {abs(delta):.{digits}f} points" if shown else "kept your rating"
    result = outcome(rows)
    link = "but" if (result == "won" and shown < 0) or (result == "lost" and shown > 0) else "and"
    start = f"{player}: you {result} {link} {moved}" if result else f"{player}: you {moved}"
    clauses = [*reasons(met, delta, gaps, digits), *other_causes(rows, digits)]
    return f"{start}: {'; '.join(clauses)}." if clauses else f"{start}."


def outcome(rows: pl.DataFrame) -> str:
    """How the player did against the others, by the overall result where there is one."""
    met = rows.filter(pl.col("opponent").is_not_null())
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


def reasons(met: pl.DataFrame, delta: float, gaps: dict[str, float], digits: int) -> list[str]:
    """The comparisons that weighed most: those that agree with the change, then the one most against it."""
    sign = -1.0 if delta < 0 else 1.0
    ranked = met.with_columns(weighed=pl.col("contribution") * sign).sort("weighed", descending=True)
    least = 0.5 * 10.0**-digits
    agreeing = ranked.filter(pl.col("weighed") >= least).head(MOST_REASONS)
    against = ranked.filter(pl.col("weighed") <= -least).tail(1)
    return [reason(row, gaps, digits) for row in [*agreeing.iter_rows(named=True), *against.iter_rows(named=True)]]


def reason(row: dict[str, float | str], gaps: dict[str, float], digits: int) -> str:
    """One comparison: "heat 3 against B, rated 610 below you, cost 15.1"; gaps have one decimal fewer than points."""
    opponent, points = str(row["opponent"]), float(row["contribution"])
    gap, coarse = gaps[opponent], digits - 1
    above = f"rated {abs(gap):.{coarse}f} {'above' if gap > 0 else 'below'} you"
    rated = above if round(gap, coarse) else "rated as you are"
    heat = str(row["heat"] or "")
    where = "" if not heat else "the overall result " if heat == "overall" else f"heat {heat} "
    return f"{where}against {opponent}, {rated}, {'cost' if points < 0 else 'brought'} {abs(points):.{digits}f}"


def other_causes(rows: pl.DataFrame, digits: int) -> list[str]:
    """What moved the rating beside the opponents."""
    causes = rows.filter(pl.col("opponent").is_null() & (pl.col("contribution").abs() >= 0.5 * 10.0**-digits))
    return [
        f"{CAUSES.get(cause, cause.replace('_', ' '))} {'cost' if points < 0 else 'brought'} {abs(points):.{digits}f}"
        for cause, points in causes.select("cause", "contribution").iter_rows()
    ]
