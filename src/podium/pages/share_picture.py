"""Pictures for sharing: a badge, result cards, and a change with its verdict and a waterfall of groups.

All numbers are in pixels. Widths of text are estimates.
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from markupsafe import Markup, escape

from podium.errors import needs_extra
from podium.ledger.reasons import Explanation
from podium.pages.drawing import Scale
from podium.pages.numbers import DASH, change, halves, rating, shortened
from podium.pages.why import WhyView
from podium.support.words import MINUS, capitalised

HEIGHT, PADDING = 20, 7
BADGE_LETTER, WIDE_BADGE_LETTER = 6.7, 11.5  # width in pixels of a letter at 11 px, and of a double-width letter
MAX_LETTERS = 40


def width_of(text: str, letter: float = BADGE_LETTER, wide_letter: float = WIDE_BADGE_LETTER) -> float:
    """Return the approximate width of a string in pixels."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return wide * wide_letter + (len(text) - wide) * letter


def badge_svg(label: str, message: str) -> Markup:
    """Return a badge as SVG, with readable text on both halves."""
    label = shortened(label, MAX_LETTERS)
    left, right = (round(width_of(text) + 2 * PADDING) for text in (label, message))
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


MARGIN = 64
LETTER = 0.56  # average width of a letter as a share of the font size
BOLD_LETTER = 0.62
WIDE_LETTER = 1.02
MAX_BARS = 9
MIN_ROW, MAX_ROW, MAX_BAR, DOT = 26.0, 130.0, 40.0, 8  # DOT is a radius
EDGE = 12  # height of the coloured edge at the top
MAX_HEADING = 60  # maximum number of letters
MAX_LABEL, MAX_RESULT = 18, 24  # number of letters


class Palette(NamedTuple):
    """The colours of a picture. Those of changes are the same as in the style sheet of the pages."""

    paper: str
    ink: str
    soft: str
    line: str
    gain: str  # of numbers
    loss: str
    up: str  # of bars
    down: str
    mark: str


LIGHT: Final = Palette(
    "#ffffff", "#1d1b2e", "#5b586b", "#c9c7d4", "#006871", "#a93716", "#0095a1", "#d75a21", "#4f46b8"
)
DARK: Final = Palette("#1a1825", "#f1eff8", "#b1adc2", "#3d3a4d", "#74d3d8", "#fa9d68", "#40b1b9", "#e97d46", "#a79ff0")


class Size(NamedTuple):
    width: int
    height: int


WIDE: Final = Size(1200, 630)  # the size of link previews on most sites
TALL: Final = Size(1080, 1350)  # for phones
POSTER: Final = Size(1600, 900)  # for charts


def share_picture(view: WhyView, heading: str, address: str, size: Size) -> Markup:
    """Draw a change, with a heading above it and the address of its explanation below."""
    verdict_size = 64 if size is TALL else 56
    lines = wrapped(view.verdict.striptags(), verdict_size, size.width - 2 * MARGIN, most=4 if size is TALL else 2)
    top = MARGIN + 40
    verdict = Markup().join(
        text(MARGIN, top + verdict_size * (1 + 1.15 * k), line, verdict_size, LIGHT.ink, weight=700)
        for k, line in enumerate(lines)
    )
    below = top + verdict_size * 1.15 * len(lines)
    cause = wrapped(view.cause.striptags(), 32, size.width - 2 * MARGIN, most=2)
    causes = Markup().join(text(MARGIN, below + 52 + 42 * k, line, 32, LIGHT.soft) for k, line in enumerate(cause))
    begin = below + 42 * len(cause) + 50
    bars = waterfall(view, begin, size.height - MARGIN - 40, size)
    return framed(size, LIGHT, heading, address, verdict + causes + bars)


class CardRow(NamedTuple):
    """A line of a result card, as text."""

    place: str
    name: str
    points: float  # the change
    change: str  # empty if the player was not in the event
    rating: str
    rank: str = ""  # the rank or its change; empty if it is not known, or is the same
    trend: Sequence[float] = ()  # the latest ratings, oldest first, which are drawn instead of the change


CARD_ROWS = 8
MAX_CARD_ROW, CARD_FOOT = 68.0, 558.0  # pixels: highest row, and end of the last one
ROW_LETTER, MAX_ROW_LETTER = 0.66, 36  # font size as a share of a row, and its maximum
TITLE, CAUSE = 48, 26  # font sizes
NAME_X, NAME_WIDTH, BAR_GAP = 150, 440, 32  # BAR_GAP is the space on both sides of the bars or trends
TREND_WIDTH = 200.0
COLUMNS = (1136, 1010, 880)  # right ends of the columns, last column first


def result_card(
    heading: str,
    headline: str,
    rows: Sequence[CardRow],
    address: str,
    *,
    cause: str = "",
    titles: tuple[str, str, str, str] = ("rank", "rating", "change", "place"),
    count: int | None = None,
    dark: bool = False,
) -> Markup:
    """Draw the result of an event as a picture of 1200 x 630 pixels.

    Args:
        heading: the pool, the event and its date.
        headline: a sentence about the winner and the player who climbed most.
        rows: the entrants, winner first. The first `CARD_ROWS` are drawn, and the others are counted.
        address: the address of the result, or an empty string if it is not known.
        cause: a sentence that explains the headline.
        titles: the headings of the columns, last column first.
        count: the number of entrants. Default: the number of rows.
        dark: True for a dark background.
    """
    palette, size = DARK if dark else LIGHT, WIDE
    lines = wrapped(headline, TITLE, size.width - 2 * MARGIN, most=2)
    parts = [
        text(MARGIN, 84 + 1.15 * TITLE * (k + 1), line, TITLE, palette.ink, weight=700) for k, line in enumerate(lines)
    ]
    top = 84 + 1.15 * TITLE * len(lines) + 48
    for line in wrapped(cause, CAUSE, size.width - 2 * MARGIN, most=1):
        parts.append(text(MARGIN, top - 6, line, CAUSE, palette.soft))
        top += 42
    count = len(rows) if count is None else count
    drawn = rows if count <= CARD_ROWS else rows[: CARD_ROWS - 1]
    height = min(MAX_CARD_ROW, (CARD_FOOT - top) / max(1, min(count, CARD_ROWS)))
    letter = min(MAX_ROW_LETTER, int(ROW_LETTER * height))
    cells = zip(titles, zip(*((row.rank, row.rating, row.change) for row in drawn), strict=True), strict=False)
    columns = [*zip(COLUMNS, [column for column in cells if any(column[1])], strict=False)]
    parts += [text(x, top - 8, title, 20, palette.soft, anchor="end") for x, (title, _) in columns]
    parts.append(text(MARGIN, top - 8, titles[-1], 20, palette.soft))
    names = [shortened(row.name, fitting(row.name, NAME_WIDTH, letter)) for row in drawn]
    widest = max((width_of(name, LETTER * letter, WIDE_LETTER * letter) for name in names), default=0.0)
    most = max((len(row.change) for row in drawn), default=0)
    numbers = columns[-1][0] if columns else COLUMNS[-1]
    left, right = NAME_X + widest + BAR_GAP, numbers - most * BOLD_LETTER * letter - BAR_GAP
    if any(row.trend for row in drawn):
        left = max(left, right - TREND_WIDTH)
        parts.append(text(left, top - 8, "trend", 20, palette.soft))
    scale = Scale.over([0.0, *(row.points for row in drawn)])
    zero = left + scale.share(0.0) * (right - left)
    for k, (row, name) in enumerate(zip(drawn, names, strict=True)):
        y = top + height * (k + 0.72)
        end = left + scale.share(row.points) * (right - left)
        parts += [
            text(MARGIN, y, row.place, letter, palette.soft),
            text(NAME_X, y, name, letter, palette.ink, weight=700 if k == 0 else 400),
            box(MARGIN, top + height * (k + 1), size.width - 2 * MARGIN, 1, palette.line),
        ]
        if row.trend:
            parts.append(trend_line(row.trend, left, right, top + height * (k + 0.3), 0.5 * height, palette.mark))
        elif row.points:
            shade = palette.down if row.points < 0.0 else palette.up
            parts.append(box(min(zero, end), top + height * (k + 0.3), abs(end - zero), 0.4 * height, shade))
        for x, (title, values) in columns:
            value = values[k] or DASH
            ink = palette.ink if title == "rating" else change_colour(value, palette)
            weight = 700 if ink in {palette.gain, palette.loss} else 400
            parts.append(text(x, y, value, letter, ink, weight=weight, anchor="end"))
    if len(drawn) < count:
        y = top + height * (len(drawn) + 0.72)
        parts.append(text(NAME_X, y, f"and {count - len(drawn):,} more", 24, palette.soft))
    return framed(size, palette, heading, address, Markup().join(parts))


def change_colour(value: str, palette: Palette) -> str:
    """Return the colour of a change of a rating or rank, or of another text in these columns."""
    if value.startswith(("+", "▲")):
        return palette.gain
    return palette.loss if value.startswith((MINUS, "▼")) else palette.soft


def trend_line(ratings: Sequence[float], left: float, right: float, top: float, height: float, colour: str) -> Markup:
    """Draw a player's latest ratings as a line, on a scale of its own."""
    scale, last = Scale.over(ratings), max(len(ratings) - 1, 1)
    points = [
        (left + (right - left) * k / last, top + (1.0 - scale.share(value)) * height) for k, value in enumerate(ratings)
    ]
    return Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="3" stroke-linejoin="round"/>').format(
        " ".join(f"{x:.1f},{y:.1f}" for x, y in points), colour
    ) + dot(*points[-1], 5, colour)


def card_words(won: str, explanation: Explanation) -> tuple[str, str]:
    """Return the headline and the cause of a result card.

    Args:
        won: a sentence about the winners.
        explanation: the explanation of the player who gained most.
    """
    points, decisive, duels = explanation.shown_change, explanation.decisive, explanation.duels
    player, cause = shortened(explanation.player, MAX_LETTERS), ""
    if points <= 0:
        return won, ""
    if decisive is not None:
        others = f"; everything else cost {decisive.points - points}" if decisive.points > points else ""
        cause = f"{capitalised(decisive.subject)} brought {player} {decisive.points}{others}."
    elif duels.count:
        ahead = f"all {duels.count}" if duels.won == duels.count else f"{halves(duels.won)} of {duels.count}"
        cause = f"{player} was ahead in {ahead} duels; {duels.expected:.1f} were expected."
    if explanation.winners == [explanation.player]:
        return explanation.verdict, cause
    return f"{won} {player} gained most, {change(points, explanation.digits)}.", cause


def standings_card(heading: str, rows: Sequence[CardRow], address: str = "", **options: Any) -> Markup:
    """Draw the first places of a leaderboard. The arguments are the same as for `result_card`."""
    leader = f"{rows[0].name} leads with {rows[0].rating}." if rows else "Nobody has a rating yet."
    return result_card(heading, leader, rows, address, titles=("moved", "rating", "newest event", "rank"), **options)


def fitting(words: str, width: float, size: int) -> int:
    """Return the number of letters of a string that fit into a width in pixels."""
    count = len(words)
    while count > 1 and width_of(words[:count], LETTER * size, WIDE_LETTER * size) > width:
        count -= 1
    return count


def picture(size: Size, paper: str, content: Markup) -> Markup:
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}"'
        ' font-family="DejaVu Sans, sans-serif" font-stretch="condensed">'
        '<rect width="{w}" height="{h}" fill="{paper}"/>{content}</svg>'
    ).format(w=size.width, h=size.height, paper=paper, content=content)


def framed(size: Size, palette: Palette, heading: str, address: str, content: Markup) -> Markup:
    """Return a picture with a heading above its content, and an address and Podium's mark below."""
    head = text(MARGIN, MARGIN + 14, shortened(heading, MAX_HEADING), 28, palette.soft)
    shown, space, _ = unquote(address).partition(" ")
    shown = shown.rpartition("/")[0] if space else shown  # readers would type a space, or not see where it ends
    link = text(MARGIN, size.height - 32, shortened(shown, 70), 24, palette.soft)
    edge = box(0, 0, size.width, EDGE, palette.mark)
    return picture(size, palette.paper, edge + head + content + link + brand(size, palette))


def poster(chart: Markup) -> Markup:
    """Return a chart, which is an SVG document with a size in pixels, as a picture with a margin and Podium's mark.

    A chart that is too high for 1600 x 900 pixels makes the picture higher.
    """
    found = next(re.finditer(r'width="([\d.]+)" height="([\d.]+)"', chart))
    room = POSTER.width - 2 * MARGIN
    drawn = int(room * float(found[2]) / float(found[1]))
    size = POSTER._replace(height=max(POSTER.height, drawn + 2 * MARGIN + 40))
    place = Markup('x="{0}" y="{0}" width="{1}" height="{2}" overflow="visible"').format(MARGIN, room, drawn)
    content = chart[: found.start()] + place + chart[found.end() :]
    return picture(size, LIGHT.paper, content + brand(size, LIGHT))


FONTS = tuple(str(path) for path in sorted(Path(__file__).with_name("fonts").glob("*.ttf")))
FONTS_VARIABLE = "PODIUM_FONTS"  # environment variable for a folder with more fonts
# The renderer searches other fonts for a letter only if they produce the same number of glyphs. Therefore, an emoji is
# drawn without its skin tone, a group as its members, and a flag as its two letters.
JOINING = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d(?=[\u2600-\U0001ffff])")
TEXT = re.compile(">([^<]+)<")
SYLLABLES = re.compile("(?<=[a-z])(?=[A-Z])")  # in a transcription, such as TianZhong
NEVER_DRAWN = "\U0010fffd"  # a letter for private use
INSIDE_FLAG = re.compile("(?<=[\U0001f1e6-\U0001f1ff])(?=[\U0001f1e6-\U0001f1ff])")


def draw_png(svg: str) -> bytes:
    """Draw a picture as a PNG, without letters that are missing from all fonts."""
    words = INSIDE_FLAG.sub("\u200c", JOINING.sub("", svg))
    foreign = {letter for letter in words if not letter.isascii() and is_missing(letter, system_fonts=False)}
    missing = {letter for letter in foreign if is_missing(letter, system_fonts=True)}
    if missing:
        words = TEXT.sub(lambda found: f">{escape(legible(unescape(found[1]), missing))}<", words)
    return render(words, system_fonts=bool(foreign))


def legible(words: str, missing: set[str]) -> str:
    """Return a text without these letters. A word that has no other letters is transcribed into Latin letters."""
    if missing.isdisjoint(words):
        return words
    with needs_extra("service", "a picture"):
        from anyascii import anyascii  # noqa: PLC0415  (an extra)
    found = []
    for word in words.split(" "):
        kept = "".join(letter for letter in word if letter not in missing)
        if not any(map(str.isalpha, kept)):
            latin = ((letter, anyascii(letter) if letter in missing else letter) for letter in word)
            # the transcription of an emoji, such as :fire:, is left out
            kept = "".join(letters for letter, letters in latin if letter.isalpha() or not letters.startswith(":"))
            kept = SYLLABLES.sub(" ", kept)
        found.append(kept)
    return " ".join(filter(None, found)) or "?"


def is_missing(letter: str, *, system_fonts: bool) -> bool:
    """Return True if no font has this letter, so that a box would appear."""
    return draw_letter(letter, system_fonts=system_fonts) == draw_letter(NEVER_DRAWN, system_fonts=system_fonts)


@cache
def draw_letter(letter: str, *, system_fonts: bool) -> bytes:
    return render(picture(Size(40, 40), LIGHT.paper, text(0, 30, letter, 24, LIGHT.ink)), system_fonts=system_fonts)


def render(svg: str, *, system_fonts: bool) -> bytes:
    with needs_extra("service", "a picture"):
        import resvg_py  # noqa: PLC0415  (an extra)
    folders = [folder] if (folder := os.environ.get(FONTS_VARIABLE)) else []
    png: bytes = resvg_py.svg_to_bytes(
        svg_string=svg,
        skip_system_fonts=not system_fonts,
        font_files=[*FONTS],
        font_dirs=folders,
        sans_serif_family="DejaVu Sans",
    )
    return png


def waterfall(view: WhyView, top: float, bottom: float, size: Size) -> Markup:
    """Draw bars between two heights, from the rating before to the rating after.

    Each bar starts at the end of the bar above it.
    """
    letter = 30 if size is TALL else 24
    bars = bars_of(view, min(MAX_BARS, int((bottom - top) / MIN_ROW) - 2))
    before, after = float(view.before), float(view.after)
    rows = [("Before", "", before, before, ""), *bars, ("After", "", after, after, change(view.change, view.digits))]
    scale = Scale.over(end for _, _, _, end, _ in rows)
    left, right = MARGIN + 11.5 * letter, size.width - MARGIN - 5 * letter
    row = min(MAX_ROW, (bottom - top) / len(rows))
    thick = min(MAX_BAR, 0.5 * row)
    parts, below = [], top  # below: the lower edge of the bar or dot in the row above
    for k, (label, result, start, end, points) in enumerate(rows):
        middle = top + (k + 0.5) * row
        baseline = middle + 0.35 * letter
        first, last = (left + scale.share(value) * (right - left) for value in (start, end))
        is_end = k in {0, len(rows) - 1}
        half = DOT if is_end else thick / 2
        if k:
            parts.append(line(first, below, middle - half))
        below = middle + half
        if is_end:
            number = rating(view.after if k else view.before, view.digits)
            x, anchor = (last + 18, "start") if last < (left + right) / 2 else (last - 18, "end")
            parts.append(dot(last, middle, DOT, LIGHT.ink))
            parts.append(text(x, baseline, number, letter, LIGHT.ink, weight=700, anchor=anchor))
        else:
            shade = LIGHT.up if end >= start else LIGHT.down
            parts.append(box(min(first, last), middle - half, max(abs(last - first), 3.0), thick, shade))
        shade, large = change_colour(points, LIGHT), letter + (6 if is_end else 2)
        parts.append(text(size.width - MARGIN, baseline, points, large, shade, weight=700, anchor="end"))
        if result and row > 2 * letter:
            baseline -= 0.5 * letter
            below_label = baseline + 1.1 * letter
            parts.append(text(MARGIN, below_label, shortened(result, MAX_RESULT), int(0.8 * letter), LIGHT.soft))
        parts.append(text(MARGIN, baseline, shortened(label, MAX_LABEL), letter, LIGHT.soft if is_end else LIGHT.ink))
    return Markup().join(parts)


def bars_of(view: WhyView, most: int) -> list[tuple[str, str, float, float, str]]:
    """Return the label, result, start, end and points for each bar of a change.

    If there are too many bars, the last ones are combined.
    """
    groups = view.groups if len(view.groups) <= most else view.groups[: most - 1]
    total, bars = view.before, []
    for group in groups:
        after = total + group.points
        label, points = group.label.striptags(), change(group.points, view.digits)
        bars.append((label, group.result, float(total), float(after), points))
        total = after
    others = len(view.groups) - len(groups)
    if others:
        left = view.after - total
        bars.append((f"{others} more", "", float(total), float(view.after), change(left, view.digits)))
    return bars


def text(x: float, y: float, words: str, size: int, colour: str, *, weight: int = 400, anchor: str = "start") -> Markup:
    return Markup('<text x="{}" y="{}" font-size="{}" fill="{}" font-weight="{}" text-anchor="{}">{}</text>').format(
        f"{x:.1f}", f"{y:.1f}", size, colour, weight, anchor, words
    )


def line(x: float, first: float, last: float) -> Markup:
    return Markup('<line x1="{0}" x2="{0}" y1="{1}" y2="{2}" stroke="{3}" stroke-width="2"/>').format(
        f"{x:.1f}", f"{first:.1f}", f"{last:.1f}", LIGHT.line
    )


def dot(x: float, y: float, radius: int, colour: str) -> Markup:
    return Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"/>').format(x, y, radius, colour)


def box(x: float, y: float, width: float, height: float, colour: str) -> Markup:
    return Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>').format(
        *(f"{number:.1f}" for number in (x, y, width, height)), colour
    )


def brand(size: Size, palette: Palette) -> Markup:
    """Draw Podium's logo, three steps down and one up, and its name."""
    x, y = size.width - MARGIN - 152, size.height - 66
    logo = Markup('<path transform="translate({} {}) scale(1.6)" fill="{}" d="{}"/>').format(
        x, y, palette.mark, "M1 3h5v6H1zM7 9h5v5H7zM13 14h5v7h-5zM19 7h4v14h-4z"
    )
    return logo + text(size.width - MARGIN, y + 33, "Podium", 28, palette.ink, weight=700, anchor="end")


def wrapped(words: str, size: int, width: float, *, most: int) -> Sequence[str]:
    """Wrap a text to a width in pixels, in lines of similar length.

    If it needs more than `most` lines, the last one ends in an ellipsis.
    """
    lines = list(filled_lines(words.split(), size, width))
    if len(lines) <= most:
        even = (list(filled_lines(words.split(), size, share * width / 10.0)) for share in range(5, 11))
        return next(shorter for shorter in even if len(shorter) == len(lines))
    letters = len(lines[most - 1])
    return [*lines[: most - 1], shortened(" ".join(lines[most - 1 :]), letters)]


def filled_lines(words: Sequence[str], size: int, width: float) -> Iterator[str]:
    """Yield lines that contain as many words as fit. A word that is longer than a line is cut."""
    current = ""
    for whole in words:
        word = whole
        while width_of(word, LETTER * size, WIDE_LETTER * size) > width:
            room = max(1, int(width / (WIDE_LETTER * size)))
            if current:
                yield current
            yield word[:room]
            current, word = "", word[room:]
        longer = f"{current} {word}".strip()
        if current and width_of(longer, LETTER * size, WIDE_LETTER * size) > width:
            yield current
            longer = word
        current = longer
    if current:
        yield current
