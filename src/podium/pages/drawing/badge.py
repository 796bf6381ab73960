"""A badge: what it is about, and what it says, side by side in a small picture."""

import unicodedata

from markupsafe import Markup

HEIGHT, PADDING = 20, 7
LETTER, WIDE_LETTER = 6.7, 11.5  # pixels of a letter of 11 px; of one that takes the room of two
MOST_LETTERS = 40


def width_of(text: str, letter: float = LETTER, wide_letter: float = WIDE_LETTER) -> float:
    """About how many pixels a text takes."""
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return wide * wide_letter + (len(text) - wide) * letter


def shortened(text: str, most: int) -> str:
    """A text of at most so many letters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def badge_svg(label: str, message: str) -> Markup:
    """The badge as SVG, its letters in a colour that can be read on either half.

    Args:
        label: what it is about.
        message: what it says.
    """
    label = shortened(label, MOST_LETTERS)
    left, right = (round(width_of(each) + 2 * PADDING) for each in (label, message))
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img"'
        ' aria-label="{label}: {message}"><title>{label}: {message}</title>'
        '<rect width="{left}" height="{height}" fill="#33303f"/>'
        '<rect x="{left}" width="{right}" height="{height}" fill="#4f46b8"/>'
        '<g fill="#fff" font-family="system-ui,Segoe UI,Roboto,sans-serif" font-size="11">'
        '<text x="{padding}" y="14" textLength="{label_length}">{label}</text>'
        '<text x="{start}" y="14" textLength="{message_length}">{message}</text></g></svg>'
    ).format(
        width=left + right,
        height=HEIGHT,
        left=left,
        right=right,
        label=label,
        message=message,
        padding=PADDING,
        start=left + PADDING,
        label_length=left - 2 * PADDING,
        message_length=right - 2 * PADDING,
    )
