"""Every page as sent is safe and small, and its displayed numbers add up."""

import re
from functools import cache
from urllib.parse import unquote

import pytest
from html_tree import as_number, tree
from leagues import HOSTILE
from served import PAGES, is_missing

MAX_PAGE, MAX_STYLE, MAX_SCRIPT, MAX_REQUESTS = 60_000, 14_000, 10_000, 4
# Pages whose signed numbers are not one event's changes, or not the page's own reasons.
NO_EVENTS_CHANGE = {"why", "big", "move", "sum"}
SCHEMES = ("/", "http:", "https:", "mailto:", "#", "?")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_small_and_safe_and_adds_up(name, site):
    status, headers, text = site.get(PAGES[name])
    assert status == (404 if is_missing(name) else 200), text[-2000:]
    page = name, headers, text, tree(text)
    check_weight(page, site)
    check_that_nothing_can_run_or_style(page)
    check_that_names_keep_their_direction(page)
    check_links_of_changes(page)
    check_columns(page)
    check_rows(page)
    check_waterfalls(page)


def check_weight(page, site):
    name, _, text, root = page
    assert len(text.encode()) <= MAX_PAGE, name
    fetched = {
        each.attributes["href"] for each in root.every("link") if each.attributes["rel"] in ("icon", "stylesheet")
    }
    fetched |= {each.attributes["src"] for kind in ("script", "img", "iframe") for each in root.every(kind)}
    assert len(fetched) < MAX_REQUESTS
    for address in fetched:
        status, headers, content = fetch_once(site, address)
        assert status == 200
        assert "immutable" in headers["Cache-Control"]
        limit = MAX_STYLE if address.endswith(".css") else MAX_SCRIPT
        assert len(content.encode()) <= limit, address


@cache
def fetch_once(site, address):
    return site.get(address)


def check_that_nothing_can_run_or_style(page):
    """Check that names add no scripts, handlers, styles or addresses of other schemes."""
    _, headers, text, root = page
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert all(re.fullmatch(r"/static/[0-9a-f]+/podium\.js", each.attributes["src"]) for each in root.every("script"))
    assert not any(each.text for each in root.every("script"))
    for each in root.every():
        assert each.tag not in {"img", "style", "iframe", "object", "b>signs", "i>server"}
        for attribute, value in each.attributes.items():
            assert not attribute.startswith("on"), each.attributes
            assert attribute != "style"
            if attribute in {"href", "src", "action", "formaction"}:
                assert value.startswith(SCHEMES), value
                assert not unquote(value).lower().startswith(("javascript:", "data:"))
    assert (
        "49" not in root.first("main").text
        or "{{ 7 * 7 }}" not in HOSTILE
        or "{{ 7 * 7 }}" in text
        or "names" not in page[0]
    )


def check_that_names_keep_their_direction(page):
    """Check that names in tables and lists are inside `bdi`, or in options that find their own direction."""
    _, _, _, root = page
    for each in root.every():
        for text in (child for child in each.children if isinstance(child, str)):
            if text.strip() in HOSTILE:
                is_option = each.tag == "option" and each.attributes["dir"] == "auto"
                assert is_option or each.tag in {"bdi", "title"}, (each.tag, text)


def check_links_of_changes(page):
    _, _, _, root = page
    for kind in ("gain", "loss", "even"):
        for each in (*root.every("span", kind), *root.every("a", kind)):
            around = [each, *each.above()]
            if not any(NO_EVENTS_CHANGE & set(above.classes) for above in around):
                assert any(above.tag == "a" for above in around), each.text
                assert any("Why did " in above.attributes.get("aria-label", "") for above in around), each.text


def check_columns(page):
    for table in page[3].every("table"):
        foot = table.first("tfoot")
        if foot is None:
            continue
        rows = [row.nodes for row in table.first("tbody").every("tr")]
        sums = foot.first("tr").nodes
        assert all(len(row) == len(sums) for row in rows)
        checked = 0
        for k, total in enumerate(sums):
            if total.number is not None:
                numbers = [row[k].number for row in rows]
                assert sum(each for each in numbers if each is not None) == total.number, (k, numbers)
                checked += 1
        assert checked


def check_rows(page):
    for table in page[3].every("table"):
        heads = [each.text for each in table.first("tr").nodes]
        if heads[-1] != "Sum":
            continue
        for row in table.every("tr"):
            numbers = [
                cell.number
                for cell in row.nodes
                if {"gain", "loss", "even"} & {name for each in (cell, *cell.every()) for name in each.classes}
            ]
            if len(numbers) > 1:
                assert sum(numbers[:-1]) == numbers[-1], row.text


def check_waterfalls(page):
    """Check that each waterfall adds up from the rating before to the rating after, and each group to its rows."""
    for steps in page[3].every("ol", "why"):
        first, *groups, last = steps.nodes
        before, after = (as_number(each.first("text").text) for each in (first, last))
        points = []
        for group in groups:
            inner = group.first("ol")
            row = group if inner is None else group.first("summary")
            points.append(row.nodes[-1].number)
            if inner is not None:
                assert sum(each.nodes[-1].number for each in inner.nodes) == points[-1], row.text
        assert sum(points) == last.nodes[-1].number == after - before
