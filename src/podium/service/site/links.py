"""File names of pages, and links between files in place of the addresses of the service."""

import hashlib
import re
from collections.abc import Callable
from html import escape, unescape

MOST_CHARACTERS = 48  # of a name that stands in a file's
DIGEST_BYTES = 8
PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LIKE_OURS = re.compile(rf".*-[0-9a-f]{{{2 * DIGEST_BYTES}}}")  # a name that ends as file names of others do
DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)\d")  # no files' names on Windows
# Templates and `Markup` escape every text: a quote ends an attribute, and no attribute holds a `>`.
ANCHOR = re.compile(r'<a\b([^>]*?) href="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)
LOADED = re.compile(r'(<(?:link|script)\b[^>]*? (?:href|src)=")(/[^"]*)"')


def file_stem(name: str) -> str:
    """The name of a file for a name of any letters; another for each, also where file systems ignore case.

    Letters of ASCII and digits stay; a digest tells apart what else there is.
    """
    if (
        len(name) <= MOST_CHARACTERS
        and PLAIN.fullmatch(name)
        and not (LIKE_OURS.match(name) or DEVICES.fullmatch(name))
    ):
        return name
    legible = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MOST_CHARACTERS].strip("-")
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return f"{legible or 'name'}-{digest}"


def linked(text: str, target: Callable[[str, str], str | None]) -> str:
    """A page whose links lead elsewhere; of one that leads nowhere only its words stay.

    Args:
        target: where a path of the service, with its query, and what follows its `#` lead; None for nowhere.
    """

    def anchor(found: re.Match[str]) -> str:
        before, address, after, words = found.groups()
        if not address.startswith("/"):
            return found[0]
        path, _, part = unescape(address).partition("#")
        there = target(path.removesuffix("?from=1"), part)  # an event's own page begins with the first row
        if there is None:
            return "" if ' rel="' in found[0] else words  # to the next page: there is none
        return f'<a{before} href="{escape(there)}"{after}>{words}</a>'

    return ANCHOR.sub(anchor, text)


def linked_file(text: str, file: str, files: dict[str, str], static: str) -> str:
    """A page as the file of this name, with relative links to others.

    Args:
        files: the file of each address.
        static: the folder of style sheet, script and mark, of which copies stand beside the first page.
    """

    def target(path: str, part: str) -> str | None:
        there = files.get(path)
        if there is None:
            return None
        return beside(file, there) + (f"#{part}" if part else "")

    def loaded(found: re.Match[str]) -> str:
        return f'{found[1]}{beside(file, found[2].removeprefix(f"{static}/"))}"'

    return LOADED.sub(loaded, linked(text, target))


def beside(file: str, other: str) -> str:
    """The relative link from a file to another."""
    return "../" * file.count("/") + other
