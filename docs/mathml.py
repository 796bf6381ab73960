"""Formulas as MathML, made when the site is built. Pages load no script, font or picture from elsewhere."""

from typing import Any

from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxTranslator


def visit_inline(translator: SphinxTranslator, node: Any) -> None:
    """Write a formula within a sentence."""
    translator.body.append(convert(node.astext()))
    raise_skip()


def visit_block(translator: SphinxTranslator, node: Any) -> None:
    """Write a displayed formula, one line per formula."""
    for line in node.astext().split(r"\\"):
        translator.body.append(f'<div class="formula">{convert(line.strip(), display="block")}</div>\n')
    raise_skip()


def raise_skip() -> None:
    """Tell Sphinx that a node is done."""
    from docutils.nodes import SkipNode

    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Replace Sphinx's own renderers of formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
