"""Pages with lists and forms: their fields, their content after an error, and the pages after an action."""

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from datetime import datetime, tzinfo
from typing import Any, NamedTuple, Self, TypeVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from podium.errors import ParameterError, PodiumError
from podium.ledger.leaderboard import instant
from podium.service.admin.dry_run import look_at
from podium.service.admin.intents import Admin, Admission, Intent
from podium.service.http.errors import status_of
from podium.service.http.json import in_utc
from podium.service.http.requests import CurrentStore, run_in
from podium.service.http.visitors import Form
from podium.service.web.rendering import SEE_OTHER, Page, PageRouter, go_on, path_of, render
from podium.support.immutable import immutable

Choices = tuple[tuple[str, str], ...]  # values and labels
Buttons = tuple[tuple[str, str], ...]  # addresses and labels


@immutable
class Field:
    """A field to fill in, or a choice of options."""

    name: str
    label: str
    _: KW_ONLY
    value: str = ""
    choices: Choices = ()  # empty if the field takes free text
    required: bool = False
    most: int = 200  # maximum number of characters
    example: str = ""
    hidden: bool = False
    kind: str = "text"  # a type of input, or "lines"
    note: str = ""  # an example or explanation below the input
    group: str = ""  # heading of the fold that contains this field and its neighbours


@immutable
class Item:
    """An item in a list."""

    name: str
    _: KW_ONLY
    note: str = ""
    address: str = ""  # address to which the name links
    tag: str = ""
    buttons: Buttons = ()
    lines: tuple[tuple[str, str], ...] = ()  # lines that can be unfolded, with subjects and outcomes


@immutable
class Section:
    """A section of a page: a heading with a form, a list, or both."""

    heading: str
    _: KW_ONLY
    action: str = ""  # address to which the form is sent; empty if there is no form
    method: str = "post"
    fields: tuple[Field, ...] = ()
    button: str = ""
    notes: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    guide: tuple[tuple[str, str], ...] = ()  # folded lines that help to choose: names and sentences
    is_large: bool = False  # True if the items are shown as large buttons
    is_severe: bool = False  # True if the form ends or removes something


class FormsPage(Page):
    sections: tuple[Section, ...]
    heading = ""  # if empty, the title is used
    state: tuple[str, ...] = ()  # the pool's newest and next event, and its size
    refusal = ""  # the reason why the form had no effect
    secret = ""  # shown only once
    shown = "key"  # the kind of secret

    def __init__(self, title: str, **content: Any) -> None:
        super().__init__("forms.html", title, **content)

    def with_secret(self, secret: str, shown: str = "key") -> Self:
        self.secret, self.shown = secret, shown
        return self


def filled(section: Section, form: Form) -> Section:
    values = (
        replace(field, value=form.text(field.name)) if field.name in form.fields else field for field in section.fields
    )
    return replace(section, fields=tuple(values))


def moment_in(text: str, zone: tzinfo, check: Callable[[datetime], datetime] = in_utc) -> datetime:
    """Return the time that a form contains, after a check in addition to the usual one."""
    moment = instant(text, whole_day=False, zone=zone)
    try:
        return check(in_utc(moment))
    except ValueError as error:
        raise ParameterError(f"{text} {error}. Enter another date.") from None


class Done(NamedTuple):
    path: str
    sentence: str = ""


Act = Callable[[Admission, Form], Done | FormsPage | Intent]
Build = Callable[[Admission, Form], Page]
Builder = TypeVar("Builder", bound=Build)


def shows(router: PageRouter, path: str, admission_of: Any = Admin) -> Callable[[Builder], Builder]:
    """Add a page for users whom the `admission_of` dependency admits.

    The page receives the address's query as a form.
    """

    def add(build: Builder) -> Builder:
        def show(request: Request, admission: Admission, store: CurrentStore) -> Response:
            return render(request, build(replace(admission, store=store), admission.query()))

        show.__annotations__["admission"] = admission_of
        router.page(path)(show)
        return build

    return add


def acts(router: PageRouter, path: str, build: Build | None = None, admission_of: Any = Admin) -> Callable[[Act], Act]:
    """Add the action for a page's form. The resulting intent is previewed before it is stored.

    After an error, `build` shows the page again with the entered values. Without `build`, a separate page gives the
    reason.
    """

    def add(act: Act) -> Act:
        async def answer(request: Request, admission: Admission) -> Response:
            form = await admission.form()

            async def show_again(error: PodiumError) -> Response:
                if build is None:
                    raise error
                page = await run_in_threadpool(build, admission, form)
                page.refusal = str(error)
                if isinstance(page, FormsPage):
                    sent_to = path_of(request)
                    page.sections = tuple(
                        filled(section, form) if section.action == sent_to else section for section in page.sections
                    )
                return render(request, page, status=status_of(error))

            try:
                done = await run_in(admission.threads.writing, act, admission, form)
            except PodiumError as error:
                return await show_again(error)
            if isinstance(done, Intent):
                return await look_at(admission, done, refused=None if build is None else show_again)
            if isinstance(done, Done):
                return go_on(request, *done) if done.sentence else RedirectResponse(done.path, SEE_OTHER)
            return once(request, done) if done.secret else render(request, done)

        answer.__annotations__["admission"] = admission_of
        router.post(path, include_in_schema=False)(answer)
        return act

    return add


def once(request: Request, page: Page) -> Response:
    answer = render(request, page)
    answer.headers["Cache-Control"] = "no-store"
    return answer
