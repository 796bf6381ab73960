"""Addresses of pages: each name is one part of a path; a pool that is called like a page has its own below `/p`."""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from podium.pages.environment import part
from podium.service.http.stores import read_one_moment
from podium.store.log.reserved_names import is_reserved

METHODS = ["GET", "HEAD"]
Function = TypeVar("Function", bound=Callable[..., Any])


def address(*names: str, **query: str) -> str:
    """The path of these names, each of which may hold any letter, and a query."""
    path = "".join(f"/{part(name)}" for name in names) or "/"
    terms = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return f"{path}?{terms}" if terms else path


def pool_address(pool: str, *names: str, **query: str) -> str:
    """The address of a pool, or of one of its pages."""
    return address("p", pool, *names, **query) if is_reserved(pool) else address(pool, *names, **query)


class PageRouter(APIRouter):
    """Routes of pages, which stand in no OpenAPI document."""

    def page(self, path: str) -> Callable[[Function], Function]:
        """Add a page, all of one moment."""

        def add(function: Function) -> Function:
            options: dict[str, Any] = {"methods": METHODS, "include_in_schema": False, "response_class": HTMLResponse}
            self.add_api_route(path, read_one_moment(function), **options)
            return function

        return add

    def pool_page(self, path: str) -> Callable[[Function], Function]:
        """Add a page of each pool, at both addresses that a pool may have."""

        def add(function: Function) -> Function:
            for prefix in ("/p/{pool}", "/{pool}"):
                self.page(prefix + path)(function)
            return function

        return add

    def pool_form(self, path: str) -> Callable[[Function], Function]:
        """Add what a form of a pool's page sends to, at both addresses that a pool may have."""

        def add(function: Function) -> Function:
            for prefix in ("/p/{pool}", "/{pool}"):
                self.post(prefix + path, include_in_schema=False)(function)
            return function

        return add
