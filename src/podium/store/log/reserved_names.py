"""Names that no new pool may have, since a page of the service has their address."""

from podium.errors import ParameterError

# A pool's pages are at /{pool}; whatever else begins an address has to stand in this list. A pool that had such a name
# before is at /p/{pool}, as every pool is.
RESERVED = frozenset(
    {
        ".well-known", "about", "admin", "api", "apple-touch-icon.png", "docs", "embed", "favicon.ico", "feed.xml",
        "find", "healthz", "help", "login", "logout", "manifest.json", "metrics", "openapi.json", "p", "pools",
        "readyz", "robots.txt", "search", "security.txt", "service-worker.js", "sign-in", "sign-out", "sitemap.xml",
        "static", "submit",
    }
)  # fmt: skip


def is_reserved(pool_name: str) -> bool:
    """Whether a pool of that name is at /p/{pool} alone."""
    return pool_name.casefold() in RESERVED


def refuse_reserved(pool_name: str) -> None:
    """Refuse a name that a page of the service has.

    Raises:
        ParameterError: it has.
    """
    if is_reserved(pool_name):
        raise ParameterError(
            f"a pool's name: {pool_name!r} is the address of a page of the service; take another name, and give the "
            "pool the title that people should read"
        )
