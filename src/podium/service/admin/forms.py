"""Pages of lists and forms: their fields, their content after an error, and the page after their action."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from podium.errors import PodiumError
from podium.service.admin.intents import Admin, Admission
from podium.service.http.errors import status_of
from podium.service.http.requests import CurrentStore, run_in
from podium.service.http.visitors import Form
from podium.service.web.rendering import Page, PageRouter, go_on, render
from podium.store import Store

Choices = tuple[tuple[str, str], ...]  # values and labels
Buttons = tuple[tuple[str, str], ...]  # addresses and labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field to fill in, or a choice."""

    name: str
    label: str
    value: str = ""
    choices: Choices = ()  # empty for free text
    required: bool = False
    most: int = 200  # characters
    example: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item of a list."""

    name: str
    note: str = ""
    address: str = ""  # of the name's link
    tag: str = ""
    buttons: Buttons = ()
    lines: tuple[tuple[str, str], ...] = ()  # folded: subjects and outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with a form, a list, or both."""

    heading: str
    action: str = ""  # address of the form; empty without a form
    method: str = "post"
    fields: tuple[Field, ...] = ()
    button: str = ""
    notes: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsPage(Page, template="forms.html"):
    sections: tuple[Section, ...]
    heading: str = ""  # empty for the title
    current: str = ""  # the current link to a pool's pages
    refusal: str = ""  # the reason why the form had no effect
    secret: str = ""  # shown only once
    shown: str = "key"  # kind of secret
    may_administer: bool = True


def filled(section: Section, form: Form) -> Section:
    values = (
        replace(each, value=form.text(each.name)) if each.name in form.fields else each for each in section.fields
    )
    return replace(section, fields=tuple(values))


async def show_again(request: Request, form: Form, build: Callable[[], FormsPage], error: PodiumError) -> Response:
    """Return the page of a rejected form, with the reason and the entered values."""
    page, path = await run_in_threadpool(build), request.scope["raw_path"].decode("ascii")
    sections = tuple(filled(each, form) if each.action == path else each for each in page.sections)
    return render(request, replace(page, sections=sections, refusal=str(error)), status=status_of(error))


class Done(NamedTuple):
    path: str
    sentence: str


class Secret(NamedTuple):
    text: str
    what: str


Act = Callable[[Store, Admission, Form], Done | Secret | FormsPage]
Build = Callable[[Store, Admission], FormsPage]


def shows(router: PageRouter, path: str, admission_of: Any = Admin) -> Callable[[Build], Build]:
    """Add a page of forms for users admitted by the dependency `admission_of`."""

    def add(build: Build) -> Build:
        def show(request: Request, admission: Admission, store: CurrentStore) -> Response:
            return render(request, build(store, admission))

        show.__annotations__["admission"] = admission_of
        router.page(path)(show)
        return build

    return add


def acts(router: PageRouter, path: str, build: Build, admission_of: Any = Admin) -> Callable[[Act], Act]:
    """Add the action of a page's form. After an error, `build` shows the page again with the entered values."""

    def add(act: Act) -> Act:
        async def answer(request: Request, admission: Admission, store: CurrentStore) -> Response:
            form = await admission.form(request)
            numbers = {name: (str(value),) for name, value in request.path_params.items() if name != "pool"}
            sent = replace(form, fields={**form.fields, **numbers})
            built = partial(build, store, admission)
            try:
                done = await run_in(request.app.state.threads.writing, act, store, admission, sent)
            except PodiumError as error:
                return await show_again(request, form, built, error)
            if isinstance(done, FormsPage):
                return render(request, done)
            if isinstance(done, Done):
                return go_on(request, *done)
            page = await run_in_threadpool(built)
            return once(request, replace(page, secret=done.text, shown=done.what))

        answer.__annotations__["admission"] = admission_of
        router.post(path, include_in_schema=False)(answer)
        return act

    return add


def once(request: Request, page: FormsPage) -> Response:
    answer = render(request, page)
    answer.headers["Cache-Control"] = "no-store"
    return answer
