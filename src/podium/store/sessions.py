"""The secret that signs the cookies of sessions: one for all processes that serve a database."""

import secrets

import sqlalchemy as sa

from podium.store.keys import timestamp
from podium.store.sql.database import read_transaction, write_transaction
from podium.store.sql.schema import signing_secret

SECRET_BYTES = 32
ROW = 1  # the only one
SELECT_SECRET = sa.select(signing_secret.c.secret).where(signing_secret.c.id == ROW)
INSERT_SECRET = sa.text(
    "INSERT INTO signing_secret (id, secret, created_at) VALUES (:id, :secret, :created_at) ON CONFLICT (id) DO NOTHING"
)


def session_secret(engine: sa.Engine) -> bytes:
    """The secret, which the first process that needs it creates.

    Raises:
        UnavailableError: the database cannot serve at the moment.
    """
    with read_transaction(engine) as connection:
        secret: bytes | None = connection.execute(SELECT_SECRET).scalar()
    if secret is not None:
        return secret
    with write_transaction(engine) as connection:
        connection.execute(INSERT_SECRET, new_row())
        return bytes(connection.execute(SELECT_SECRET).scalar_one())


def rotate_session_secret(engine: sa.Engine) -> None:
    """Replace the secret, which ends every session.

    Raises:
        UnavailableError: the database cannot serve at the moment.
    """
    with write_transaction(engine) as connection:
        connection.execute(sa.delete(signing_secret))
        connection.execute(INSERT_SECRET, new_row())


def new_row() -> dict[str, object]:
    """A row with a new secret."""
    return {"id": ROW, "secret": secrets.token_bytes(SECRET_BYTES), "created_at": timestamp()}
