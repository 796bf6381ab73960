"""An earlier version can use a newer schema if the migration allows it, so an upgrade can be undone."""

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from newer import set_schema
from races import rows

from podium.log.database import MIGRATIONS, StoreError, is_current, known_revisions
from podium.store import Store
from podium.store.upgrading import is_due
from podium.systems import find


def test_the_revisions_match_alembics_order():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    revisions = [each.revision for each in ScriptDirectory.from_config(config).walk_revisions()]
    assert list(known_revisions()) == revisions[::-1]


def test_only_a_compatible_newer_schema_can_be_opened(store):
    store.create_pool("main", find("elo")())
    url = store.engine.url.render_as_string(hide_password=False)
    assert is_current(store.engine)
    with store.engine.begin() as connection:
        set_schema(connection, "9999", "0012")
    again = Store(url, must_exist=True)
    again.submit("main", rows(1, "ab"))
    assert (is_current(again.engine), is_due(again.engine)) == (True, False)
    assert again.verify() == []
    again.close()
    with store.engine.begin() as connection:
        set_schema(connection, "9999", "9998")
    with pytest.raises(StoreError, match="its schema is 9999, but this version of Podium supports schemas up to"):
        Store(url)
    with pytest.raises(StoreError, match="update Podium"):
        Store(url, must_exist=True)
