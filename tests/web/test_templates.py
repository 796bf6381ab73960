"""Templates escape everything and use only names that their page provides."""

import ast
import functools
import re
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import jinja2.meta
import pytest
from jinja2 import nodes
from markupsafe import Markup

from podium.pages.environment import create_environment
from podium.pages.numbers import Shape
from podium.service import web
from podium.service.web.rendering import PACKAGES, Page, Site, environment


def pages():
    """Yield each template with the names that a module gives to its page."""
    for package in PACKAGES:
        for path in sorted(Path(str(files(package))).rglob("*.py")):
            tree = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
            keys = {
                key.value for each in tree if isinstance(each, ast.Dict) for key in each.keys if hasattr(key, "value")
            }
            for call in (each for each in tree if isinstance(each, ast.Call) and each.args):
                called = getattr(call.func, "attr", getattr(call.func, "id", ""))
                if called in ("Page", "show") and isinstance(call.args[0], ast.Constant):
                    names = {each.arg for each in call.keywords}
                    yield call.args[0].value, names | (keys if None in names else set())


TEMPLATES = sorted(
    (package, path.name)
    for package in (*PACKAGES, "podium.pages")
    for path in files(package).joinpath("templates").iterdir()
)


@functools.cache
def parsed_template(name):
    source, *_ = environment().loader.get_source(environment(), name)
    return environment().parse(source)


def names_set_in(name):
    """Return the names that a template and its parent templates define."""
    parsed = parsed_template(name)
    names = {each.name for each in parsed.find_all(nodes.Macro)} | {
        each.target for each in parsed.find_all(nodes.Import)
    }
    names |= {each.name for each in parsed.find_all(nodes.Name) if each.ctx in ("store", "param")}
    return names.union(*(names_set_in(each.template.value) for each in parsed.find_all(nodes.Extends)))


def names_in(template, variable):
    """Return a variable's attributes used by a template and the templates that it extends or includes."""
    parsed = parsed_template(template)
    names = {
        each.attr
        for each in parsed.find_all(nodes.Getattr)
        if isinstance(each.node, nodes.Name) and each.node.name == variable
    }
    for other in parsed.find_all((nodes.Extends, nodes.Include)):
        names |= names_in(other.template.value, variable)
    return names


@pytest.mark.parametrize(("template", "given"), [*pages()])
def test_a_template_uses_only_its_pages_names(template, given):
    assert names_in(template, "page") - given - {*dir(Page("", ""))} == set()
    assert names_in(template, "site") - {each.name for each in fields(Site)} == set()


@pytest.mark.parametrize(("package", "name"), TEMPLATES)
def test_labels_are_on_elements_with_a_role(package, name):
    """ARIA 1.2 allows no label without a role, and screen readers ignore it."""
    text = files(package).joinpath("templates", name).read_text(encoding="utf-8")
    assert re.findall(r"<(?:span|div|p|td|b|small)\b(?![^>]*\brole=)[^>]*\baria-label=", text) == []


@pytest.mark.parametrize(("package", "name"), TEMPLATES)
def test_a_template_escapes_everything(package, name):
    text = files(package).joinpath("templates", name).read_text(encoding="utf-8")
    assert re.search(r"\|\s*safe|autoescape\s+false|\sstyle=|\son[a-z]+=|<style|javascript:", text) is None
    own = names_set_in(name) | set(environment().globals)
    for _, other in TEMPLATES:
        if name in {each.template.value for each in parsed_template(other).find_all(nodes.Include)}:
            own |= names_set_in(other)
    assert jinja2.meta.find_undeclared_variables(parsed_template(name)) - own <= {"page", "site"}


def test_markup_is_built_only_from_constants():
    """Its strings are in the module, and every inserted value is escaped."""
    for path in [*files("podium.pages").iterdir(), *files(web).iterdir()]:
        if path.name.endswith(".py"):
            text = path.read_text(encoding="utf-8")
            if path.name == "numbers.py":
                text = text.replace("Markup(str.format(self, *map(escape, values), **safe))", "")  # in `Shape`
            assert re.search(r"\b(Markup|Shape)\((?!['\")DASH]|\n|str\):)", text) is None, path.name


def test_a_shape_is_filled_like_markup():
    for value in ("<b>'\"&", Markup("<i>&amp;</i>"), 1.5, None, "{0}"):
        text = "<b class='{name}'>{0} {1}</b>"
        assert Shape(text).format(value, "&", name=value) == Markup(text).format(  # noqa: S704
            value, "&", name=value
        )


def test_the_environment_escapes_and_rejects_missing_names():
    template = create_environment("podium.service.web").from_string("{{ text }}")
    assert template.render(text="<b>") == "&lt;b&gt;"
    with pytest.raises(jinja2.UndefinedError):
        template.render()
