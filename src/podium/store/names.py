"""Players by their present names: who goes on as whom after merges, and renaming."""

from collections.abc import Mapping

from podium.engine.tables.things import kind_and_name, thing_name
from podium.errors import ParameterError
from podium.log.database import StoreError
from podium.log.log import RENAME, append, json_entry
from podium.log.players import (
    forget_alias,
    insert_aliases,
    known_numbers,
    names_of,
    update_name,
)
from podium.log.removed import give_back
from podium.results.names import admit, normalise
from podium.store.following import PoolReader
from podium.views.names import number_of


def rename(pool: PoolReader, name: str, new: str) -> int:
    """Rename a player or a piece of equipment, and return the number. The old name still finds it."""
    kind, bare = kind_and_name(new)
    new = thing_name(kind, admit(bare, "a name")) if kind else admit(new, "a player's name")
    number = number_of(pool, name)
    taken = known_numbers(pool, [new]).get(new)
    if taken not in (None, number):
        raise StoreError(f"there is a {kind or 'player'} {bare!r} already; merge the two if they are one")
    (old,) = names_of(pool, [number]).values()
    forget_alias(pool, new)
    give_back(pool, new)
    if old != new:
        forget_alias(pool, old)
        insert_aliases(pool, [(old, number)])
        update_name(pool, number, new)
    return number


def rename_player(pool: PoolReader, name: str, new: str, *, kind: str = "", actor: str = "") -> None:
    """Rename a player, or a piece of equipment of a `kind`. Results under the old name still count as theirs.

    Raises:
        UnknownError: no such pool, player or thing.
        StoreError: another has the name.
    """
    number = rename(pool, *(thing_name(kind, each) if kind else each for each in (name, new)))
    append(pool, RENAME, [json_entry(str(number), None, actor)])  # no name goes into the log


def name_players(pool: PoolReader, names: Mapping[str, str], *, actor: str = "") -> list[str]:
    """Give players the names that an import has for their ids. Results under the ids still count as theirs.

    Args:
        names: by id. Players who are not in the pool are skipped.

    Returns:
        A sentence for each player who could not be renamed.
    """
    numbers = known_numbers(pool, list(names))
    present = names_of(pool, set(numbers.values()))
    entries, refusals = [], []
    for spelling, number in numbers.items():
        name = names[spelling]
        if normalise(name) == present[number]:
            continue
        try:
            renamed = rename(pool, spelling, name)
        except (StoreError, ParameterError) as error:
            refusals.append(f"{spelling} is not called {name!r}: {error}")
        else:
            entries.append(json_entry(str(renamed), None, actor))  # no name goes into the log
    append(pool, RENAME, entries)
    return refusals
