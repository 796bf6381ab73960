"""Budgets of requests that all processes share which serve one PostgreSQL: so many a second, and some more at once."""

import sqlalchemy as sa

from podium.store.sql.database import write_transaction

FORGOTTEN_AFTER_S = 3_600.0  # a budget is full again long before
DRAW = sa.text("""
    INSERT INTO request_budget (owner, counted_at, requests, granted)
    SELECT :owner, extract(epoch FROM clock_timestamp()), :burst - drawn, drawn
    FROM (SELECT least(:most, floor(:burst)) AS drawn) AS new
    ON CONFLICT (owner) DO UPDATE SET (counted_at, requests, granted) = (
        SELECT excluded.counted_at, available - least(:most, floor(available)), least(:most, floor(available))
        FROM (SELECT least(
            :burst, request_budget.requests + (excluded.counted_at - request_budget.counted_at) * :per_second
        ) AS available) AS grown
    )
    RETURNING granted, requests
""")
FORGET = sa.text("DELETE FROM request_budget WHERE counted_at < extract(epoch FROM clock_timestamp()) - :seconds")


def draw(engine: sa.Engine, owner: str, per_second: float, burst: float, most: int) -> tuple[int, float]:
    """Draw requests from a budget of PostgreSQL, for this process to spend.

    Args:
        owner: whose budget it is; one that is not known is full.
        per_second: how fast it grows.
        burst: how large it gets.
        most: requests to draw, or as many as there are.

    Returns:
        How many were drawn, and how many are left.

    Raises:
        UnavailableError: the database cannot serve at the moment.
    """
    sent = {"owner": owner, "per_second": per_second, "burst": burst, "most": most}
    with write_transaction(engine) as connection:
        row = connection.execute(DRAW, sent).one()
    return row.granted, row.requests


def forget_budgets(engine: sa.Engine) -> None:
    """Delete the budgets that nobody has drawn from for an hour.

    Raises:
        UnavailableError: the database cannot serve at the moment.
    """
    if engine.dialect.name == "postgresql":
        with write_transaction(engine) as connection:
            connection.execute(FORGET, {"seconds": FORGOTTEN_AFTER_S})
