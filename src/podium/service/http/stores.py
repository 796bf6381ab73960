"""The store of the service, which stands in the app's state, and routes that read one moment of it."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, iscoroutinefunction, signature
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response

from podium.store import Store

VERSION_HEADER: Final = "Pool-Version"  # the number of the newest log entry that an answer knows of
ANSWER: Final = "_answer"  # the parameter of a route that takes its headers


async def get_store(request: Request) -> Store:
    """Return the store of the service; a coroutine, so that no thread is needed for it."""
    store: Store = request.app.state.store
    return store


CurrentStore = Annotated[Store, Depends(get_store)]


def read_one_moment(route: Callable[..., Any]) -> Callable[..., Any]:
    """Let a route read its store at one moment, and say in a header which version of its pool it saw.

    Args:
        route: is left as it is where it has no parameter `store`, or is a coroutine.
    """
    taken = signature(route)
    own = next((name for name, each in taken.parameters.items() if each.annotation is Response), None)
    if "store" not in taken.parameters or iscoroutinefunction(route):
        return route

    @wraps(route)
    def answer(**arguments: Any) -> Any:
        headers = arguments.get(own) if own else arguments.pop(ANSWER, None)  # None where the caller is no route
        with arguments["store"].at_one_moment() as view:
            found = route(**arguments | {"store": view})
            pool = arguments["visit"].pool if "visit" in arguments else arguments.get("pool")
            if pool is not None:
                answered = found if isinstance(found, Response) else headers
                if answered is not None:
                    answered.headers[VERSION_HEADER] = str(view.version(pool))
        return found

    if own is None:
        more = Parameter(ANSWER, Parameter.KEYWORD_ONLY, annotation=Response)
        answer.__signature__ = taken.replace(parameters=[*taken.parameters.values(), more])  # type: ignore[attr-defined]
    return answer


class ReadRouter(APIRouter):
    """Routes each of which reads one moment."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route."""
        super().add_api_route(path, read_one_moment(endpoint), **options)
