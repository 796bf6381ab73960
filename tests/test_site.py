"""The documentation builds without warnings, and loads nothing from other sites."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import podium
from podium.support.collector import paused_collection

DOCS = Path(__file__).parents[1] / "docs"
LOADS = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "use": "href",
    "image": "href",
}
LOADING = re.compile(rf"""<(?:{"|".join(LOADS)})\b(?:[^>"']|"[^"]*"|'[^']*')*>""", re.IGNORECASE)

pytestmark = pytest.mark.filterwarnings("ignore")  # from Sphinx and its theme


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    from sphinx.cmd.build import build_main

    out = tmp_path_factory.mktemp("site")
    with paused_collection():  # which would walk the trees of all pages repeatedly
        assert build_main(["-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(out)]) == 0
    return out


class Loads(HTMLParser):
    """The files that a page loads when it is opened."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if tag in LOADS and named.get(LOADS[tag]) and named.get("rel") not in {"next", "prev", "index", "search"}:
            self.addresses.append(named[LOADS[tag]])


def test_no_page_loads_anything_from_other_sites(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        loads = Loads()
        loads.feed("".join(LOADING.findall(page.read_text(encoding="utf-8"))))
        assert loads.addresses
        assert [each for each in loads.addresses if "//" in each] == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(https?:)?//|@import", style.read_text(encoding="utf-8")), style


def test_every_page_of_the_docs_is_in_the_site(site):
    """Records of decisions are only for contributors, who read them in the repository."""
    for page in {*DOCS.rglob("*.md")} - {*(DOCS / "decisions").glob("*.md")}:
        assert (site / page.relative_to(DOCS).with_suffix(".html")).exists(), page


def test_every_public_name_is_described(site):
    """`podium` loads lazily, so Sphinx finds only the names on the page, without a warning."""
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        described = InventoryFile.load(file, "", lambda _, uri: uri)
    names = {
        name: item.uri for kind in ("function", "class", "exception") for name, item in described[f"py:{kind}"].items()
    }
    page = (site / "reference" / "python.html").read_text(encoding="utf-8")
    for name in [*(f"podium.{each}" for each in podium.__all__), "podium.sklearn.DuelClassifier"]:
        assert names[name] == f"reference/python.html#{name}"
        assert f'id="{name}"' in page
    for method in ("podium.Live.rate_one", "podium.Client.submit", "podium.AsyncClient.leaderboard"):
        assert method in described["py:method"]


def test_every_address_is_described(site):
    page = (site / "reference" / "http.html").read_text(encoding="utf-8")
    for route in ("GET /api/v1/pools", "POST /api/v1/pools/{pool}/events", "GET /healthz"):
        assert f">{route}</span>" in page.replace('<span class="pre">', "<span>").replace("</span> <span>", " ")


def test_the_first_page_leads_to_every_page(site):
    """The links of its list lead to all pages."""
    links = set(re.findall(r'href="([^"#]+)\.html"', (site / "index.html").read_text(encoding="utf-8")))
    pages = {str(page.relative_to(site).with_suffix("")) for page in site.rglob("*.html")}
    assert pages - links <= {"index", "genindex", "search", "py-modindex"}
