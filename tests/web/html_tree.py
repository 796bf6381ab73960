"""Pages as trees, as a browser reads them, and the numbers in them."""

import re
from decimal import Decimal
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
NUMBER = re.compile(r"[+\N{MINUS SIGN}]?\d+(?:\.\d+)?")


class Node:
    """An element with its attributes and its children, including text."""

    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children, self.nodes = [], []  # nodes are the children without text

    @property
    def classes(self):
        return (self.attributes.get("class") or "").split()

    @property
    def text(self):
        parts = (each if isinstance(each, str) else each.text for each in self.children)
        return re.sub(r"\s+", " ", "".join(parts)).strip()

    def every(self, tag=None, name=None):
        """Yield every element below with this tag and class, in page order."""
        waiting = self.nodes[::-1]
        while waiting:
            each = waiting.pop()
            if (tag is None or each.tag == tag) and (name is None or name in each.classes):
                yield each
            waiting += each.nodes[::-1]

    def first(self, tag=None, name=None):
        return next(self.every(tag, name), None)

    def above(self):
        """Yield the enclosing elements, nearest first."""
        each = self.parent
        while each is not None:
            yield each
            each = each.parent

    @property
    def number(self):
        """Return the text as a number, or None."""
        return as_number(self.text)


def as_number(text):
    return Decimal(text.replace("\N{MINUS SIGN}", "-")) if NUMBER.fullmatch(text) else None


class Builder(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.at = Node("", {}, None)

    def handle_starttag(self, tag, attributes):
        node = self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attributes):
        node = Node(tag, dict(attributes), self.at)
        self.at.children.append(node)
        self.at.nodes.append(node)
        return node

    def handle_endtag(self, tag):
        assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


def tree(html):
    """Return the page as a tree. Every element must be closed inside its parent."""
    builder = Builder()
    builder.feed(html)
    builder.close()
    assert builder.at is builder.root, f"<{builder.at.tag}> is not closed"
    return builder.root
