"""Pages as somebody with a browser reads them."""

import re
from html import unescape

from starlette.testclient import TestClient

from podium.service import create_app

TAG = re.compile(r"<[^>]*>")


def people(store, **headers):
    """Somebody with a browser."""
    return TestClient(create_app(store), headers={"Accept": "text/html"} | headers, follow_redirects=False)


def words(html):
    """What is read of HTML."""
    return " ".join(unescape(TAG.sub(" ", html)).split())


def main_of(answer, status=200):
    assert answer.status_code == status, words(answer.text)
    return answer.text.partition("<main")[2].partition("</main>")[0]


def lines(html, table="board"):
    """The rows of a table, each as its cells are read."""
    body = re.search(rf'<table[^>]* id="{table}".*?<tbody[^>]*>(.*?)</tbody>', html, re.DOTALL)
    assert body is not None, words(html)
    return [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", body[1], re.DOTALL)
    ]


def names(html, table="board"):
    body = re.search(rf'<table[^>]* id="{table}".*?</table>', html, re.DOTALL)[0]
    return [unescape(each) for each in re.findall(r'class="name"><a [^>]*><bdi>(.*?)</bdi>', body)]
