"""The environment in which Alembic runs the migrations: the connection that Podium passes on."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
