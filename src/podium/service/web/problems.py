"""Errors as pages, for browsers; programs have problem+json."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastapi import Request, Response

from podium.service.http.paths import POOLS_PATH
from podium.service.http.problems import Problem, ProblemResponse
from podium.service.http.request_ids import HEADER
from podium.service.web.rendering import Page, path_of, render

API_PATH = POOLS_PATH.split("/")[1]
HEADLINES = {
    401: "These pages need a key.",
    403: "This key opens other pages.",
    404: "There is no such page.",
    405: "This page cannot be sent anything.",
    409: "This cannot be shown at the moment.",
    422: "This address is not right.",
    429: "That was a lot at once.",
    500: "Something went wrong here.",
    503: "The pages are busy for a moment.",
}
REMEDIES = {
    404: "The name may be spelt otherwise, or the event may have been sent to another pool.",
    429: "Wait a little, then load the page again. Nothing was stored.",
    500: "Nothing was stored. The reason is in the log of the service; whoever runs it finds it by the number below.",
    503: "Nothing was stored. Load the page again in a moment.",
}
SIGN_IN_HELPS = (401, 403)
Handler = Callable[[Request, Any], Any]
PASSED_ON = ("www-authenticate", "retry-after", "allow", HEADER.decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemPage(Page):
    """What went wrong, what is safe, and what to do."""

    template: ClassVar[str] = "problem.html"

    problem: Problem
    headline: str
    remedy: str
    next: str = ""  # where to go on once signed in, where that may help


def is_for_people(request: Request) -> bool:
    """Whether a browser wants a page."""
    first = request.url.path.split("/")[1:2]
    return first != [API_PATH] and "text/html" in request.headers.get("accept", "")


def problem_page(request: Request, problem: Problem) -> Response:
    """What went wrong, as a page."""
    headline = HEADLINES.get(problem.status, f"{problem.title}.")
    page = ProblemPage(
        title=headline.rstrip("."),
        problem=problem,
        headline=headline,
        remedy=REMEDIES.get(problem.status, ""),
        next=path_of(request) if problem.status in SIGN_IN_HELPS and request.method in ("GET", "HEAD") else "",
    )
    return render(request, page, status=problem.status)


def page_or_problem(handler: Handler) -> Handler:
    """The handler of an error, which answers browsers with a page."""

    async def handle(request: Request, error: Exception) -> Response:
        answer: ProblemResponse = await handler(request, error)
        if not is_for_people(request):
            return answer
        page = problem_page(request, answer.problem)
        page.headers.update({name: answer.headers[name] for name in PASSED_ON if name in answer.headers})
        return page

    return handle


def with_pages(handlers: Mapping[int | type[Exception], Handler]) -> dict[int | type[Exception], Handler]:
    """Error handlers that answer browsers with pages."""
    return {error: page_or_problem(handler) for error, handler in handlers.items()}
