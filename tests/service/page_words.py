"""Read pages as a visitor with a browser does."""

import re
from html import unescape

from starlette.testclient import TestClient

from podium.service import create_app

TAG = re.compile(r"<[^>]*>")


def people(store, **headers):
    """Return a client that reads pages like a browser without a session."""
    return TestClient(create_app(store), headers={"Accept": "text/html"} | headers, follow_redirects=False)


def words(html):
    """Return the visible text of HTML."""
    return " ".join(unescape(TAG.sub(" ", html)).split())


def main_of(answer, status=200):
    assert answer.status_code == status, words(answer.text)
    return answer.text.partition("<main")[2].partition("</main>")[0]


def lines(html, table="board"):
    """Return the rows of a table as lists of visible text."""
    body = re.search(rf'<table[^>]* id="{table}".*?<tbody[^>]*>(.*?)</tbody>', html, re.DOTALL)
    assert body is not None, words(html)
    return [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", body[1], re.DOTALL)
    ]


def names(html, table="board"):
    body = re.search(rf'<table[^>]* id="{table}".*?</table>', html, re.DOTALL)[0]
    return [unescape(each) for each in re.findall(r'class="name"><a [^>]*><bdi>(.*?)</bdi>', body)]
