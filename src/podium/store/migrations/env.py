"""How Alembic runs the migrations: on the connection that Podium hands over."""

from alembic import context

from podium.store.sql.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
