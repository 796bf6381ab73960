"""Write the public pages of a store or a results file to a folder, or as one self-contained file.

In a folder, only files that have changed are written. In a single file, each page appears when you follow its link.
"""

import base64
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import polars as pl
import sqlalchemy as sa
from markupsafe import Markup

from podium import __version__
from podium.engine.system import System
from podium.errors import ParameterError
from podium.log.database import write_transaction
from podium.log.log import SUBMIT
from podium.log.schema import log
from podium.results.reading import Results
from podium.service.site.pages import Extent, SiteError, link_files, link_pages, public_files, read_pages
from podium.service.web.rendering import FILES, STATIC_ADDRESS, Page, Site, environment, templates_digest
from podium.store import Store
from podium.support.immutable import immutable
from podium.support.part_files import part_file

Received = Mapping[str, Mapping[str, str]]  # by pool, the time when each event in a file was first read


Opened = tuple[Store, Sequence[str], Received]  # a view of the store, the pools to publish, and the times of receipt


@immutable
class StoreSource:
    """A store's public pools, or one of them."""

    url: str
    pool: str | None = None

    def state(self) -> str:
        """Return a short text that identifies the content of all pages.

        It is empty if changes cannot be detected.
        """
        with self.opened({}) as (view, pools, _):
            return repr([(pool, view.version(pool), view.pool_facts(pool), view.hindsight_day(pool)) for pool in pools])

    @contextmanager
    def opened(self, received: Received) -> Iterator[Opened]:
        store = Store(self.url, must_exist=True)
        try:
            with store.at_one_moment() as view:
                public = sorted(view.public_pools())
                wanted = public if self.pool is None else [view.pool(self.pool).name]
                if not wanted or not {*wanted} <= {*public}:
                    which = f"pool {self.pool} is not public" if self.pool else f"{self.url}: has no public pool"
                    remedy = f"podium pool set {self.pool or 'NAME'} --public"
                    raise ParameterError(f"{which}, but the pages are public. To publish it: {remedy}")
                yield view, wanted, received
        finally:
            store.close()


@immutable
class ResultsSource:
    """The results in a file, with each pool rated by a system. A single pool may have a title."""

    results: Results
    system: System
    title: str | None = None
    points_scheme: str | None = None

    def state(self) -> str:
        if not self.system.shipped:  # a user's own system may have changed
            return ""
        return repr(
            [self.results.source, self.system.label, self.title, self.points_scheme, self.results.frame.write_csv()]
        )

    @contextmanager
    def opened(self, received: Received) -> Iterator[Opened]:
        source, frame = Path(self.results.source), self.results.frame
        pools = frame["pool"].unique(maintain_order=True).to_list()
        with tempfile.TemporaryDirectory(prefix="podium-site-") as folder:
            store = Store(f"{folder}/podium.db")
            try:
                for pool in pools:
                    title = (self.title or source.stem) if len(pools) == 1 else pool
                    store.create_pool(pool, self.system, title=title, public=True, points_scheme=self.points_scheme)
                    rows = frame.filter(pl.col("pool") == pool)
                    store.submit(pool, rows, actor=source.name, order="sequence")
                    store.keep_hindsight(pool)
                first = keep_received(store, received)
                with store.at_one_moment() as view:
                    yield view, pools, first
            finally:
                store.close()


def keep_received(store: Store, known: Received) -> Received:
    """Set the events' times of receipt to the first reading of their file, so that their pages stay the same."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    received = {}
    with write_transaction(store.engine) as connection:
        for pool in store.pools():
            of_pool = log.c.pool_id == pool.id
            events = connection.execute(sa.select(log.c.subject).where(of_pool, log.c.kind == SUBMIT)).scalars()
            received[pool.name] = {event: known.get(pool.name, {}).get(event, now) for event in events}
            is_event = sa.and_(of_pool, log.c.subject == sa.bindparam("event"))
            moments = [{"event": event, "moment": moment} for event, moment in received[pool.name].items()]
            connection.execute(sa.update(log).where(is_event).values(received_at=sa.bindparam("moment")), moments)
    return received


Source = StoreSource | ResultsSource
MANIFEST = "podium-site.json"
LOADED = "podium.css", "filter.js", "mark.svg"  # files that the pages load
UNFINISHED = ".podium-site-"  # prefix of the folder for changed files until all are written


@immutable
class Written:
    files: int = 0
    changed: int = 0
    removed: int = 0


@immutable
class Manifest:
    """The files of a site, and a digest of the source."""

    made_of: str = ""  # digest of everything on which pages depend; empty while files are being moved
    files: Collection[str] = ()
    received: Received = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read the manifest in a folder. It is empty for a new folder."""
        path = folder / MANIFEST
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else cls()
        except (OSError, ValueError, TypeError) as error:
            raise SiteError(
                f"{path}: does not list a site's files ({error}). Write the site to a new folder."
            ) from None

    def write(self, folder: Path) -> None:
        with part_file(folder / MANIFEST, SiteError) as part:
            part.write_text(json.dumps(asdict(self), indent=0, sort_keys=True), encoding="utf-8")


def write_site(folder: Path, source: Source) -> Written:
    """Write the public pages of a source to a folder, unless the folder is up to date."""
    known, state = Manifest.read(folder), source.state()
    made_of = digest_of(f"{templates_digest()} {datetime.now(UTC).date()} {state}") if state else ""
    if made_of and known.made_of == made_of and all((folder / file).is_file() for file in known.files):
        return Written(len(known.files))
    with source.opened(known.received) as (view, pools, received):
        files = public_files(view, pools, Extent())
        new = Manifest(made_of, [*LOADED, *files.values()], received)
        loaded = ((name, FILES[name]) for name in LOADED)
        pages = (
            (files[address], link_files(text, files[address], files, STATIC_ADDRESS).encode())
            for address, text in read_pages(view, pools, files)
        )
        return write_files(folder, known, new, chain(loaded, pages))


def digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def write_files(folder: Path, old: Manifest, new: Manifest, contents: Iterable[tuple[str, bytes]]) -> Written:
    """Write the files of a site. Old files stay until all new files are complete."""
    foreign = next((file for file in sorted({*new.files} - {*old.files}) if (folder / file).exists()), None)
    if foreign is not None:
        raise SiteError(f"{folder / foreign}: does not belong to the site. Move it, or choose another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left_over in folder.glob(f"{UNFINISHED}*"):  # left by an interrupted run
            shutil.rmtree(left_over, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder) as waiting:
            return _replace(folder, Path(waiting), old, new, contents)
    except OSError as error:
        raise SiteError(f"{error.filename or folder}: cannot be written ({error.strerror})") from None


def _replace(
    folder: Path, waiting: Path, old: Manifest, new: Manifest, contents: Iterable[tuple[str, bytes]]
) -> Written:
    """Write changed files to a temporary folder, and then move them."""
    changed, gone = list[str](), sorted({*old.files} - {*new.files})
    for file, content in contents:
        if (folder / file).is_file() and (folder / file).read_bytes() == content:
            continue
        path = waiting / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        changed.append(file)
    Manifest("", sorted({*old.files, *changed}), old.received).write(folder)  # in case the moving is interrupted
    for file in changed:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (waiting / file).replace(folder / file)
    for file in gone:
        (folder / file).unlink(missing_ok=True)
        remove_empty(folder, (folder / file).parent)
    new.write(folder)
    return Written(len(new.files), len(changed), len(gone))


def remove_empty(folder: Path, inner: Path) -> None:
    while inner != folder and inner.is_dir() and not any(inner.iterdir()):
        inner.rmdir()
        inner = inner.parent


MAX_PLAYERS, MAX_EVENTS, MAX_EXPLAINED = 300, 100, 12  # totals for all pools
SHOW_ONE = """.page:not(:target):not(:has(:target)) { display: none }
main:not(:has(.page:target)):not(:has(.page :target)) > .page:first-child { display: grid }"""
PARTS = re.compile(
    r'(?P<tabs><nav class="tabs".*?</nav>)?\s*<p class="news.*?<main id="main" class="wrap">(?P<main>.*)</main>\s*'
    r'<footer><div class="wrap row">(?P<foot>.*?)</div></footer>',
    re.DOTALL,
)
NAMED = re.compile(r' (id|for|aria-labelledby)="([^"]*)"')


def one_file(view: Store, pools: Sequence[str], title: str) -> str:
    """Return a single file with these pools' pages: leaderboards, best players and newest events."""
    share = max(1, len(pools))
    extent = Extent(*(-(-most // share) for most in (MAX_PLAYERS, MAX_EVENTS, MAX_EXPLAINED)))
    anchors = {address: f"p{number}" for number, address in enumerate(public_files(view, pools, extent))}
    pages = read_pages(view, pools, anchors)
    style = FILES["podium.css"].decode() + SHOW_ONE
    script = FILES["filter.js"].decode().strip()
    text: str = (
        environment()
        .get_template("report.html")
        .render(
            page=Page(
                "report.html",
                title,
                sections=[(anchors[address], section(text, anchors[address], anchors)) for address, text in pages],
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
            site=Site(STATIC_ADDRESS, origin="", is_static=True),
        )
    )
    return text


def section(text: str, anchor: str, anchors: dict[str, str]) -> Markup:
    """Return a page as a section of the file. The page's anchor precedes each ID, so that IDs are unique."""

    def find_target(path: str, part: str) -> str | None:
        there = anchors.get(path)
        return None if there is None else f"#{there}-{part}" if part else f"#{there}"

    found = PARTS.search(text)
    if found is None:
        raise ValueError("a page without its frame")
    content = f'{found["tabs"] or ""}{found["main"]}<div class="row small soft">{found["foot"]}</div>'
    content = NAMED.sub(rf' \1="{anchor}-\2"', content).replace('href="#', f'href="#{anchor}-')
    return Markup(link_pages(content, find_target))  # noqa: S704  (a template's)


def digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
