"""A version before may go on with a newer schema, where its migration says so: so that an upgrade can be taken back."""

import pytest
import sqlalchemy as sa
from races import rows

from podium.store import Store
from podium.store.sql.database import StoreError, is_current
from podium.store.sql.schema import compatibility
from podium.store.upgrading.upgrade import is_due
from podium.systems import find


def set_schema(store, revision, earliest):
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
        connection.execute(sa.update(compatibility).values(earliest=earliest))


def test_a_newer_schema_that_only_adds_something_is_served_on_and_others_are_refused(store):
    store.create_pool("main", find("elo")())
    url = store.engine.url.render_as_string(hide_password=False)
    assert is_current(store.engine)
    set_schema(store, "9999", "0012")
    again = Store(url, must_exist=True)
    again.submit("main", rows(1, "ab"))
    assert (is_current(again.engine), is_due(again.engine)) == (True, False)
    assert again.verify() == []
    again.close()
    set_schema(store, "9999", "9998")
    with pytest.raises(StoreError, match="its schema is 9999, and this version of Podium knows those up to"):
        Store(url)
    with pytest.raises(StoreError, match="update Podium"):
        Store(url, must_exist=True)
