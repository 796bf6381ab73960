"""Which pool a question is about."""

from collections.abc import Sequence

from podium.errors import ParameterError, UnknownError


def existing_pool(name: str, pools: Sequence[str]) -> str:
    """The pool of that name.

    Raises:
        UnknownError: there is none.
    """
    if name not in pools:
        raise UnknownError(f"there is no pool {name!r} (there are {', '.join(pools)})")
    return name


def only_pool(pools: Sequence[str], name: str | None) -> str | None:
    """The pool of that name, or the only one; None where there is no pool at all.

    Raises:
        UnknownError: there is none of that name.
        ParameterError: no name is given, and there are several.
    """
    if name is not None:
        return existing_pool(name, pools) if pools else None
    if len(pools) > 1:
        raise ParameterError(f"name the pool: there are {', '.join(pools)}")
    return pools[0] if pools else None
