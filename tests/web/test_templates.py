"""Templates: escaped without exception, each with no other names than its page has."""

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
    """Each template with the names that a module gives to its page."""
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
    """The names that a template, and those that it extends, give to something."""
    parsed = parsed_template(name)
    names = {each.name for each in parsed.find_all(nodes.Macro)} | {
        each.target for each in parsed.find_all(nodes.Import)
    }
    names |= {each.name for each in parsed.find_all(nodes.Name) if each.ctx in ("store", "param")}
    return names.union(*(names_set_in(each.template.value) for each in parsed.find_all(nodes.Extends)))


def names_in(template, variable):
    """The attributes of a variable that a template and those that it extends or includes have of it."""
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
def test_a_template_shows_only_what_its_page_has(template, given):
    assert names_in(template, "page") - given - {*dir(Page)} == set()
    assert names_in(template, "site") - {each.name for each in fields(Site)} == set()


@pytest.mark.parametrize(("package", "name"), TEMPLATES)
def test_a_label_stands_on_what_has_a_role(package, name):
    """ARIA 1.2 has no names for what has none: readers pass over it."""
    text = files(package).joinpath("templates", name).read_text(encoding="utf-8")
    assert re.findall(r"<(?:span|div|p|td|b|small)\b(?![^>]*\brole=)[^>]*\baria-label=", text) == []


@pytest.mark.parametrize(("package", "name"), TEMPLATES)
def test_a_template_escapes_all(package, name):
    text = files(package).joinpath("templates", name).read_text(encoding="utf-8")
    assert re.search(r"\|\s*safe|autoescape\s+false|\sstyle=|\son[a-z]+=|<style|javascript:", text) is None
    own = names_set_in(name) | set(environment().globals)
    for _, other in TEMPLATES:
        if name in {each.template.value for each in parsed_template(other).find_all(nodes.Include)}:
            own |= names_set_in(other)
    assert jinja2.meta.find_undeclared_variables(parsed_template(name)) - own <= {"page", "site"}


def test_markup_is_made_in_a_few_modules_only():
    """Of strings that the module has; whatever else is put in is escaped."""
    for path in [*files("podium.pages").iterdir(), *files(web).iterdir()]:
        if path.name.endswith(".py"):
            text = path.read_text(encoding="utf-8")
            if path.name == "numbers.py":
                text = text.replace("Markup(str.format(self, *map(escape, values), **safe))", "")  # of a `Shape`
            assert re.search(r"\b(Markup|Shape)\((?!['\")DASH]|\n|str\):)", text) is None, path.name


def test_a_shape_is_filled_as_markup_is():
    for value in ("<b>'\"&", Markup("<i>&amp;</i>"), 1.5, None, "{0}"):
        text = "<b class='{name}'>{0} {1}</b>"
        assert Shape(text).format(value, "&", name=value) == Markup(text).format(  # noqa: S704
            value, "&", name=value
        )


def test_the_environment_escapes_and_knows_no_missing_name():
    template = create_environment("podium.service.web").from_string("{{ text }}")
    assert template.render(text="<b>") == "&lt;b&gt;"
    with pytest.raises(jinja2.UndefinedError):
        template.render()
