"""The duels of an event: a square for each, filled where it was won, or one bar of many; and a mark at the promise."""

from markupsafe import Markup

MOST_SQUARES = {"desk": 60, "phone": 40}  # beyond, squares would touch
FEW, FEW_WIDTH = 8, 26  # so few squares have a width of their own, in pixels
TOP, HEIGHT = 14, 18
GAP = 0.11  # of the width of a square, on each side
MIDDLE = 0.5


def duel_marks(count: int, won: float, expected: float, label: str) -> Markup:
    """The strip; nothing where there are no duels.

    Args:
        count: of duels.
        won: of them; a draw is a half.
        expected: how many the ratings promised.
        label: what it shows, in words.
    """
    if not count:
        return Markup()
    if count <= MOST_SQUARES["phone"]:
        return strip(count, won, expected, label, "duels", with_squares=True)
    if count > MOST_SQUARES["desk"]:
        return strip(count, won, expected, label, "duels", with_squares=False)
    wide = strip(count, won, expected, label, "duels desk", with_squares=True)
    return wide + strip(count, won, expected, label, "duels phone", with_squares=False)


def strip(count: int, won: float, expected: float, label: str, name: str, *, with_squares: bool) -> Markup:
    """One form of the strip.

    Args:
        name: its classes.
        with_squares: a square a duel, or a bar.
    """
    few = count <= FEW
    width = f"{count * FEW_WIDTH}" if few else "100%"
    x = f"{expected * FEW_WIDTH:.1f}" if few else f"{100 * expected / count:.2f}%"
    to_the_left = expected > MIDDLE * count and not few
    shapes = squares(count, won) if with_squares else halves_of_bar(count, won)
    return Markup(
        '<svg class="{name}" role="img" aria-label="{label}">'
        '<svg y="{top}" width="{width}" height="{height}" viewBox="0 0 {count} 1" preserveAspectRatio="none">'
        "{shapes}</svg>"
        '<line class="mark" x1="{x}" x2="{x}" y1="2" y2="36"/>'
        '<text class="strong" x="{x}" y="10" dx="{dx}" text-anchor="{anchor}">expected {expected}</text></svg>'
    ).format(
        name=name,
        label=label,
        top=TOP,
        width=width,
        height=HEIGHT,
        count=count,
        shapes=shapes,
        x=x,
        dx="-6" if to_the_left else "6",
        anchor="end" if to_the_left else "start",
        expected=f"{expected:.1f}",
    )


def squares(count: int, won: float) -> Markup:
    """Filled ones, at most one that is filled in part, and outlined ones."""
    whole = int(won)
    share = won - whole
    filled = "".join(square(k, 1.0) for k in range(whole)) + (square(whole, share) if share else "")
    outlined = "".join(square(k, 1.0) for k in range(whole, count))
    return paths(filled, outlined)


def square(k: int, share: float) -> str:
    """The outline of one square, or of its left part."""
    width = (1 - 2 * GAP) * share
    return f"M{k + GAP:.2f} 0h{width:.2f}v1h-{width:.2f}z"


def halves_of_bar(count: int, won: float) -> Markup:
    """A bar: filled as far as duels were won."""
    return paths(f"M0 0H{won:.2f}V1H0z" if won else "", f"M{won:.2f} 0H{count}V1H{won:.2f}z" if won < count else "")


def paths(filled: str, outlined: str) -> Markup:
    """Both shapes, where there are any."""
    shapes = (("won", filled), ("lost", outlined))
    return Markup().join(Markup('<path class="{}" d="{}"/>').format(kind, shape) for kind, shape in shapes if shape)
