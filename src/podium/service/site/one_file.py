"""The public pages as one file that loads nothing: each page is shown where a link leads to it."""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from typing import ClassVar

from markupsafe import Markup

from podium import __version__
from podium.service.site.pages import Extent, linked, public_pages, request_for
from podium.service.web.rendering import FILES, Page, page_text
from podium.store import Store

MOST_PLAYERS, MOST_EVENTS, MOST_EXPLAINED = 300, 100, 12  # of all pools together
SHOW_ONE = """.page:not(:target):not(:has(:target)) { display: none }
main:not(:has(.page:target)):not(:has(.page :target)) > .page:first-child { display: grid }"""
PARTS = re.compile(
    r'(?P<tabs><nav class="tabs".*?</nav>)?\s*<p class="news.*?<main id="main" class="wrap">(?P<main>.*)</main>\s*'
    r'<footer><div class="wrap row">(?P<foot>.*?)</div></footer>',
    re.DOTALL,
)
NAMED = re.compile(r' (id|for|aria-labelledby)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Section:
    anchor: str
    content: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage(Page):
    """All pages in one."""

    template: ClassVar[str] = "report.html"

    sections: Sequence[Section]
    style: Markup
    script: Markup
    policy: str
    icon: str
    version: str
    written: date


def one_file(view: Store, pools: Sequence[str], title: str) -> str:
    """The pages of some pools of one moment, of the best players and the newest events, as one file."""
    share = max(1, len(pools))
    extent = Extent(*(-(-most // share) for most in (MOST_PLAYERS, MOST_EVENTS, MOST_EXPLAINED)))
    pages = [*public_pages(view, pools, extent)]
    anchors = {page.address: f"p{number}" for number, page in enumerate(pages)}
    style = own_file("podium.css") + SHOW_ONE
    script = own_file("filter.js")
    return page_text(
        request_for("/"),
        ReportPage(
            title=title,
            sections=[section(page.write(), anchors[page.address], anchors) for page in pages],
            style=Markup(f"<style>{style}</style>"),  # noqa: S704  (Podium's own)
            script=Markup(script),  # noqa: S704
            policy=(
                f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; img-src data:;"
                " base-uri 'none'; form-action 'none'"
            ),
            icon=base64.b64encode(FILES["mark.svg"]).decode(),
            version=__version__,
            written=datetime.now(UTC).date(),
        ),
    )


def section(text: str, anchor: str, anchors: dict[str, str]) -> Section:
    """A page as a part of the file: the names of its parts begin with its own, so that all are different."""

    def target(path: str, part: str) -> str | None:
        there = anchors.get(path)
        return None if there is None else f"#{there}-{part}" if part else f"#{there}"

    found = PARTS.search(text)
    if found is None:
        raise ValueError("a page without its frame")
    content = f'{found["tabs"] or ""}{found["main"]}<div class="row small soft">{found["foot"]}</div>'
    content = NAMED.sub(rf' \1="{anchor}-\2"', content).replace('href="#', f'href="#{anchor}-')
    return Section(anchor, Markup(linked(content, target)))  # noqa: S704  (a template's)


@cache
def own_file(name: str) -> str:
    return FILES[name].decode().strip()


def digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
