"""Static sites and reports show the same public pages as the service, except for links and forms."""

import json
import re
from unittest import mock
from urllib.parse import unquote

import polars as pl
import pytest
from html_tree import tree
from leagues import HOSTILE, START
from served import EVERY_WAY, SCREENS
from test_every_page import check_waterfalls
from test_screens import MEASURE, SIDEWAYS, UNFOLD, heard, violations

import podium
from podium.service.site import folder as folders
from podium.service.site import folder as reports
from podium.service.site.folder import MANIFEST, ResultsSource, StoreSource, write_site
from podium.service.site.pages import Extent, SiteError, file_stem, public_files, read_pages
from podium.store import Store
from podium.systems import find

WAYS = SCREENS if EVERY_WAY else [(320, "light"), (1280, "dark")]
# Parts that need the service, because they have a form or link only to pages that a static site lacks.
SERVICE_ONLY = re.compile(
    r"Are you on this list|Filter|Share|Follow and share|Opponents|1 year|5 years"
    r"|All (changes|[\d,]+)$|Find a player in any leaderboard|Total the reasons"
    r"|What if .* had gone differently|Chances against"
)
TO_THE_SERVICE = re.compile(r" Admins can send one ?, and game servers use the API ?\.")
POOLS = "bikes", "names", "club", "empty", "forty"


@pytest.fixture(scope="module")
def pages(site):
    """Yield the addresses and the HTML of static pages: some of them, or all in `make soak`."""
    with site.store.at_one_moment() as view:
        addresses = [*public_files(view, POOLS, Extent(explained=3))]
        yield [*read_pages(view, POOLS, addresses if EVERY_WAY else addresses[:12] + addresses[12::7])]


@pytest.fixture(scope="module")
def league():
    """Return results with names that are difficult for file systems and pages."""
    names = [*HOSTILE, "Ana", "ana", "ANA", "con", "..", ".", "x-" + "0" * 16]
    rows = [
        {"event_id": f"../{event}", "started_at": f"{START:%Y-%m}-{1 + number:02}"}
        | {"player": name, "position": 1 + (place + number * 5) % len(names)}
        for number, event in enumerate(["a", "A", "</title>", "e/f", "?x=1#y", "e f"])
        for place, name in enumerate(dict.fromkeys(names))
    ]
    return podium.read_results(rows, name="league.csv")


@pytest.fixture(scope="module")
def few(league):
    """Return two events of four players, for a site that is written quickly."""
    those = pl.col("event_id").is_in(["../A", "../e f"]), pl.col("player").is_in(["Ana", "ana", "con", HOSTILE[0]])
    return podium.read_results(league.frame.filter(*those), name="league.csv")


@pytest.fixture(scope="module")
def site_written(league, tmp_path_factory):
    """Write the league's site to a folder and a report next to it, and return the folder and the counts."""
    out = tmp_path_factory.mktemp("static") / "sub path" / "site"
    source = ResultsSource(league, find("folyami")(), "<script>alert(4)</script>")
    written = write_site(out, source)
    # Axe is slow on one large file, so include only a few pages of each kind.
    fewest = mock.patch.multiple(reports, MAX_PLAYERS=4, MAX_EVENTS=2, MAX_EXPLAINED=1)
    with fewest, source.opened({}) as (view, pools, _):
        text = reports.one_file(view, pools, "<script>alert(5)</script>")
        (out.parent / "report.html").write_text(text, encoding="utf-8")
    return out, written


@pytest.fixture
def hostile_site(site_written):
    return site_written[0]


@pytest.fixture
def report(hostile_site):
    return hostile_site.parent / "report.html"


def words(node):
    """Return the words of an element, without forms and parts that need the service."""
    if isinstance(node, str):
        return node.split()
    parts = {"p", "details", "section", "nav"}
    if node.tag == "form" or (node.tag in parts and SERVICE_ONLY.match(node.text)):
        return []
    return [word for each in node.children for word in words(each)]


def main_of(html):
    return TO_THE_SERVICE.sub("", " ".join(words(tree(html).first("main"))))


def test_static_pages_match_the_service_except_links_and_forms(site, pages):
    compared = 0
    for address, static in pages:
        if address.endswith("/find"):
            continue  # static pages have a filter instead of a search
        status, _, live = site.get(address)
        assert status == 200
        assert "<form" not in static
        assert "sign-in" not in static
        if address != "/":  # the service's home page lists every pool
            assert main_of(static) == main_of(live), address
            check_waterfalls((None, None, None, tree(static)))
            compared += 1
    assert compared > 40


def every_link(folder):
    """Yield every link in a site's files: the file, the link and its target."""
    for path in folder.rglob("*.html"):
        root = tree(path.read_text(encoding="utf-8"))
        for each in root.every():
            link = each.attributes.get("href") or each.attributes.get("src")
            if link is not None:
                yield path, link, (path.parent / unquote(link.partition("#")[0])).resolve()


def test_every_link_leads_to_a_file_of_the_site(league, site_written):
    out, written = site_written
    assert written.files == written.changed == sum(path.is_file() for path in out.rglob("*")) - 1
    assert all(".." not in path.name and path.name.isascii() for path in out.rglob("*"))
    assert len({str(path).lower() for path in out.rglob("*")}) == len([*out.rglob("*")])
    links = 0
    for path, link, there in every_link(out):
        if not link.startswith("#"):
            assert there.is_file(), (path, link)
            assert out.resolve() in there.parents, (path, link)
            links += 1
    assert links > 500
    found = [each.first("bdi").text for each in tree((out / "find.html").read_text("utf-8")).every("th", "name")]
    assert {*found} == {*league.frame["player"]}


def test_undated_results_have_pages(few, tmp_path):
    counted = podium.read_results(few.frame.drop("started_at"), name="league.csv")
    assert write_site(tmp_path, ResultsSource(counted, find("elo")())).files > 20
    text = (tmp_path / "default" / "index.html").read_text(encoding="utf-8")
    assert str(START.year) not in main_of(text)


@pytest.mark.parametrize("name", ["ana", "race-12", "2026"])
def test_plain_names_become_file_names(name):
    assert file_stem(name) == name


def test_other_names_get_distinct_file_names_in_any_case():
    names = [*HOSTILE, "Ana", "ANA", "ana", "con", "com1", "", ".", "a" * 300, "a" * 301, "ana-" + "0" * 16, "-ana"]
    stems = [file_stem(name) for name in names]
    assert len({*stems}) == len({*names})
    assert all(re.fullmatch("[a-z0-9-]{1,70}", stem) for stem in stems)
    assert not {*stems} & {"con", "com1"}


def files_of(folder):
    """Return each file's modification time and content."""
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def test_a_second_run_writes_only_changes_and_removes_old_files(few, tmp_path):
    own = tmp_path / "site" / "CNAME"
    own.parent.mkdir()
    own.write_text("club.example", encoding="utf-8")
    source = ResultsSource(few, find("elo")())
    first = write_site(own.parent, source)
    before = files_of(own.parent)
    assert write_site(own.parent, source).changed == 0
    assert files_of(own.parent) == before
    (own.parent / ".podium-site-ended").mkdir()  # left by an interrupted run
    fewer = podium.read_results(few.frame.filter(pl.col("event_id") != "../e f"), name="league.csv")
    second = write_site(own.parent, ResultsSource(fewer, find("elo")()))
    assert second.removed == 1 + few.frame["player"].n_unique()
    assert second.files == first.files - second.removed
    now = files_of(own.parent)
    written = [path for path in now if path.name != MANIFEST and now[path] != before[path]]
    assert all(now[path][1] != before[path][1] for path in written)
    assert 0 < len(written) == second.changed < second.files
    assert own.read_text(encoding="utf-8") == "club.example"
    assert not [*own.parent.glob(".*")]
    with pytest.raises(SiteError, match=r"CNAME: cannot be written \(File exists\)"):
        folders.write_files(own, folders.Manifest(), folders.Manifest(), [])
    (own.parent / MANIFEST).write_text("[]", encoding="utf-8")
    with pytest.raises(SiteError, match=r"does not list a site's files .* Write the site to a new folder"):
        write_site(own.parent, source)


def test_a_foreign_file_is_not_overwritten(few, tmp_path):
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    with pytest.raises(SiteError, match=r"index.html: does not belong to the site"):
        write_site(tmp_path, ResultsSource(few, find("elo")()))
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_an_interrupted_run_leaves_the_old_site(few, tmp_path, monkeypatch):
    write_site(tmp_path, ResultsSource(few, find("elo")()))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "remove_empty", fail)
    monkeypatch.setattr(folders, "link_files", fail)
    with pytest.raises(KeyboardInterrupt):
        write_site(tmp_path, ResultsSource(few, find("trueskill")()))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    monkeypatch.undo()
    monkeypatch.setattr(folders.Path, "replace", fail)  # all files are written, and the first is moved into place
    with pytest.raises(KeyboardInterrupt):
        write_site(tmp_path, ResultsSource(few, find("trueskill")()))
    monkeypatch.undo()
    written = write_site(tmp_path, ResultsSource(few, find("trueskill")()))
    assert written.files == len(json.loads((tmp_path / MANIFEST).read_text("utf-8"))["files"])
    assert not [*tmp_path.glob(".*")]


def test_only_public_pools_have_pages(tmp_path):
    url = str(tmp_path / "podium.db")
    store = Store(url)
    store.create_pool("secret", find("elo")())
    with pytest.raises(podium.ParameterError, match=r"has no public pool, .*: podium pool set NAME --public"):
        write_site(tmp_path / "site", StoreSource(url))
    store.create_pool("open", find("elo")(), public=True)
    store.close()
    write_site(tmp_path / "site", StoreSource(url))
    assert {path.name for path in (tmp_path / "site").iterdir() if path.is_dir()} == {"open"}
    assert "secret" not in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    with pytest.raises(podium.ParameterError, match="pool secret is not public"):
        write_site(tmp_path / "other", StoreSource(url, "secret"))
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(("width", "scheme"), WAYS)
def test_static_files_are_readable_on_every_screen(screens, hostile_site, report, width, scheme):
    faults = []
    page = screens(width, scheme, **heard(faults))
    folder = next(path.parent for path in hostile_site.glob("*/rules.html"))
    event = min((folder / "events").glob("*.html"))
    files = [hostile_site / "index.html", report]
    files += [folder / f"{each}.html" for each in ("index", "newest", "events", "find", "rules", "distribution")]
    files += [event, min((folder / "players").iterdir()), min(event.with_suffix("").iterdir())]
    for path in files:
        page.goto(path.as_uri())
        assert page.evaluate(SIDEWAYS) <= 0, path
        page.evaluate(UNFOLD)
        seen = page.evaluate(MEASURE)
        assert seen == {"pale": [], "small": [], "broken": [], "sideways": min(0, seen["sideways"]), "wide": []}, path
        if scheme == "light":
            assert violations(page, preload=False) == [], path
    assert faults == []


def test_the_filter_finds_players_by_any_part_of_a_name(screens, hostile_site):
    page = screens(390)
    page.goto((hostile_site / "find.html").as_uri())
    page.fill("[data-filter] input", "JAVASCRIPT:")
    assert page.locator("tbody tr:visible").count() == 1
    assert page.inner_text("[data-filter] [role=status]") == "1 found"
    page.locator("tbody tr:visible a").first.click()
    assert page.inner_text("h1") == "javascript:alert(3)"
    page.locator(".tabs a").first.click()
    assert page.locator("#board tbody tr").count() > 10


def test_a_report_without_scripts_shows_one_page_at_a_time(screens, report):
    page = screens(390, script=False)
    page.goto(report.as_uri())
    assert page.locator(".page:visible").count() == 1
    page.locator("main a:visible", has_text="alert(4)").first.click()
    assert page.locator(".page:visible").count() == 1
    assert page.locator("table.board:visible").count() >= 1
    page.locator("table.board:visible tbody th a").first.click()
    assert page.locator(".page:visible h1").count() == 1
    assert not page.locator("[data-filter]:visible").count()


def test_a_report_loads_nothing_and_links_only_within_itself(report):
    root = tree(report.read_text("utf-8"))
    anchors = [each.attributes["id"] for each in root.every() if "id" in each.attributes]
    assert len(anchors) == len({*anchors})
    for each in root.every():
        assert each.tag not in {"img", "iframe", "object", "form"}
        assert not {"style", "src", "srcset", "action"} & each.attributes.keys()
        if each.tag == "a":
            assert each.attributes["href"].removeprefix("#") in anchors
