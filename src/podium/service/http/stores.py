"""The store of the service, which stands in the app's state."""

from typing import Annotated

from fastapi import Depends, Request

from podium.store import Store


async def get_store(request: Request) -> Store:
    """Return the store of the service; a coroutine, so that no thread is needed for it."""
    store: Store = request.app.state.store
    return store


CurrentStore = Annotated[Store, Depends(get_store)]
