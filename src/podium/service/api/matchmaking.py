"""The matches that a pool's ratings propose for the players who wait."""

from dataclasses import replace

from podium.matchmaking.matcher import Match, Policy, Ticket, match
from podium.matchmaking.pairing import match_quality, odds_scale
from podium.service.api.models import Tickets
from podium.store import Store


def proposed_matches(store: Store, pool: str, request: Tickets) -> list[Match]:
    """Return the matches to start now, by the ratings of a pool; without a scale, their quality is the system's."""
    system, states = store.system_and_states(pool, [each.player for each in request.tickets])
    scale = odds_scale(system) if request.scale is None else request.scale
    policy = Policy(request.size, request.teams, request.least, request.target_s, scale)
    tickets = [
        Ticket(
            each.player,
            state.rating,
            -each.waited_s,
            getattr(state, "deviation", 0.0),
            each.party,
            each.region,
        )
        for each, state in zip(request.tickets, states, strict=True)
    ]
    matches = match(tickets, 0.0, policy)
    if request.scale is None:
        state_of = {ticket.player: state for ticket, state in zip(tickets, states, strict=True)}
        matches = [
            replace(each, quality=match_quality(system, [[state_of[name] for name in team] for team in each.teams]))
            for each in matches
        ]
    return matches
