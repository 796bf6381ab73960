"""A line of a player's newest ratings, small enough for a row of a table."""

from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 96, 24, 3


def spark(points: Sequence[float], low: float | None = None, high: float | None = None) -> Markup:
    """The line, with a dot at its end; nothing for fewer than two points.

    Args:
        points: oldest first.
        low: of the scale; the lowest of the points where None.
        high: likewise.
    """
    if len(points) < 2:  # noqa: PLR2004  (a line)
        return Markup()
    bottom, top = min(points) if low is None else low, max(points) if high is None else high
    scale = (HEIGHT - 2 * MARGIN) / (top - bottom) if top > bottom else 0.0
    heights = [round(HEIGHT - MARGIN - (each - bottom) * scale) if scale else HEIGHT // 2 for each in points]
    across = [round(WIDTH * k / (len(points) - 1)) for k in range(len(points))]
    places = [f"{x} {y}" for x, y in zip(across, heights, strict=True)]
    return Markup(
        '<svg class="spark" viewBox="0 0 96 24" aria-hidden="true">'
        '<path d="M{}"/><circle cx="96" cy="{}" r="2.5"/></svg>'
    ).format("L".join(places), heights[-1])
