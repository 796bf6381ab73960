"""Databases of a newer version."""

import sqlalchemy as sa

from podium.log.schema import compatibility


def set_schema(connection, revision, earliest):
    """Set a database's schema to a newer one, which versions from `earliest` on can use."""
    connection.execute(sa.text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    connection.execute(sa.update(compatibility).values(earliest=earliest))
