"""The environment in which Alembic runs the migrations: the connection that Podium passes on."""

from alembic import context

from podium.store.sql.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
