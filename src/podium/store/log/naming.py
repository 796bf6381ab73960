"""The names of many players at once, as an import has them for their ids."""

from collections.abc import Mapping

import sqlalchemy as sa

from podium.errors import ParameterError
from podium.results.names import normalise
from podium.store.log import players
from podium.store.log.log import RENAME, append, json_entry
from podium.store.log.pools import Pool
from podium.store.sql.database import StoreError


def name_players(connection: sa.Connection, pool: Pool, names: Mapping[str, str], actor: str) -> list[str]:
    """Call players by other names, who are still found by those that they have; unknown players are left aside.

    Args:
        names: what to call each, by a name or id that is known.

    Returns:
        Why a player is not called so, a sentence each: another player has the name, or the rule refuses it.
    """
    numbers = players.known_numbers(connection, pool, list(names))
    present = players.names_of(connection, pool, set(numbers.values()))
    entries, refusals = [], []
    for player, number in numbers.items():
        name = names[player]
        if normalise(name) == present[number]:
            continue
        try:
            renamed = players.rename(connection, pool, player, name)
        except (StoreError, ParameterError) as error:
            refusals.append(f"{player} is not called {name!r}: {error}")
        else:
            entries.append(json_entry(str(renamed), None, actor))  # no name goes into the log
    append(connection, pool, RENAME, entries)
    return refusals
