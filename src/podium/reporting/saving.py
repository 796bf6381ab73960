"""Charts as SVG text, pictures, and pages that need no script and no network. Needs the extra `charts`."""

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podium.errors import PodiumError, needs_extra
from podium.reporting.style import NARROW_LEGEND_COLUMNS, NARROW_WIDTH, WIDTH, configuration, legend_columns
from podium.support.part_files import part_file

SUFFIXES = (".png", ".svg", ".html")
PIXELS = 2  # of a picture for each of the drawing
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1d1b2e; --page: #fff; font-family: system-ui, sans-serif }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #eceaf4; --page: #17161f }} }}
body {{ margin: 1rem; color: var(--ink); background: var(--page) }}
svg {{ display: block; max-width: 100%; height: auto }}
.narrow {{ display: none }}
@media (max-width: 50rem) {{ .wide {{ display: none }} .narrow {{ display: block }} }}
</style>
<div class="wide">{wide}</div>
<div class="narrow">{narrow}</div>
</html>
"""


class ChartError(PodiumError):
    """A chart cannot be drawn or written."""


def as_svg(chart: Any, *, inline: bool = False, narrow: bool = False) -> str:
    """The chart as SVG text.

    Args:
        inline: it stands in a page, from which it takes the colour of its texts and its background.
        narrow: it is for a phone.
    """
    svg: str = with_renderer("vegalite_to_svg", specification(chart, inline=inline, narrow=narrow))
    return svg


def as_page(chart: Any, title: str) -> str:
    """A page with the chart for wide and for narrow screens, light and dark."""
    wide, narrow = (as_svg(chart, inline=True, narrow=each) for each in (False, True))
    return PAGE.format(title=html.escape(title), wide=wide, narrow=narrow)


def specification(chart: Any, *, inline: bool, narrow: bool) -> dict[str, Any]:
    """The chart in Vega-Lite, with its look."""
    document: dict[str, Any] = chart.to_dict()
    document["config"] = configuration(inline=inline)
    width, columns = (NARROW_WIDTH, [NARROW_LEGEND_COLUMNS]) if narrow else (WIDTH, [])
    columns += [fitting for names in coloured_names(document) if (fitting := legend_columns(names, width)) is not None]
    if narrow:
        narrow_plots(document)
    if columns:
        document["config"]["legend"]["columns"] = min(columns)
    return document


def coloured_names(part: Any) -> Iterator[list[str]]:
    """The names to which each scale of colours in a document gives one."""
    if isinstance(part, dict):
        match part:
            case {"color": {"scale": {"domain": [*names]}}}:
                yield [str(name) for name in names]
        part = [each for name, each in part.items() if name not in ("data", "datasets")]
    if isinstance(part, list):
        for each in part:
            yield from coloured_names(each)


def narrow_plots(part: Any) -> None:
    """Let every plot of a document be as wide as a phone has room for."""
    if isinstance(part, dict):
        if part.get("width") == WIDTH:
            part["width"] = NARROW_WIDTH
        if "columns" in part:  # of panels side by side
            part["columns"] = 1
        for name, each in part.items():
            if name not in ("data", "datasets"):
                narrow_plots(each)
    elif isinstance(part, list):
        for each in part:
            narrow_plots(each)


def with_renderer(name: str, document: dict[str, Any] | str, **options: Any) -> Any:
    """What a function of the renderer makes of a document, or of SVG.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needs_extra("charts", "a chart"):
        import vl_convert  # noqa: PLC0415  (an extra, and large)
    return getattr(vl_convert, name)(document, **options)


def check_path(path: Path) -> Path:
    """The path, if a chart can be written there.

    Raises:
        ChartError: another suffix, or no such folder.
    """
    if path.suffix not in SUFFIXES:
        raise ChartError(f"{path}: a chart is written as {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if not path.resolve().parent.is_dir():
        raise ChartError(f"{path}: there is no folder {path.parent}")
    return path


def save(chart: Any, path: Path) -> None:
    """Write a chart: .png, .svg, or .html that needs no network.

    Raises:
        ChartError: another suffix, or the file cannot be written.
    """
    check_path(path)
    if path.suffix == ".png":
        document = specification(chart, inline=False, narrow=False)
        content: bytes = with_renderer("vegalite_to_png", document, scale=PIXELS)
    else:
        text = as_svg(chart) if path.suffix == ".svg" else as_page(chart, path.stem)
        content = text.encode()
    with part_file(path, ChartError) as part:
        part.write_bytes(content)
