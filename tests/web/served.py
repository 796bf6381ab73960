"""The pages for the tests of all pages. Every page in this list is checked in every way."""

import os
from itertools import product
from urllib.parse import quote

from leagues import HOSTILE

PAGES_SEEN = os.environ.get("PODIUM_PAGES", "some")  # `each` shows a page on one or two screens; `make soak` uses `all`
EVERY_WAY = PAGES_SEEN == "all"
# Widths, and whether scripts run: the first two cover both, and `make soak` uses all.
WAYS = [(320, True), (1280, False), (390, True), (390, False), (1280, True)][: 5 if EVERY_WAY else 2]
MAIN_WAYS = WAYS if EVERY_WAY else WAYS[:1]  # for pages that other tests of the file use without scripts
# Steps through the pages' six screens: without a common divisor with six, they reach each screen equally often.
STEPS = {"all": 1, "each": 5, "some": 17}
SCREENS = [*product((320, 390, 1280), ("light", "dark"))]
FIELDS = {"pairs": 2, "eights": 8, "grid": 22, "forty": 40}

PAGES = {
    "sign in": "/sign-in?next=/bikes",
    "sign out": "/sign-out",
    "home": "/",
    "leaderboard": "/bikes",
    "leaderboard with deviations": "/forty",
    "leaderboard by the newest event": "/karts?sort=move",
    "leaderboard of some": "/stunts?active=90d&min=10",
    "leaderboard of everybody": "/stunts?all=1",
    "leaderboard of nobody": "/bikes?min=1000",
    "names on a leaderboard": "/names",
    "empty leaderboard": "/empty",
    "events": "/bikes/events",
    "names in events": "/names/events",
    "no events": "/empty/events",
    "distribution": "/karts/distribution",
    "no distribution": "/empty/distribution",
    "clubs": "/names/groups/club",
    "no countries": "/bikes/groups/country",
    "leaderboard of a club": f"/names?club={quote(HOSTILE[0])}",
    "no seasons": "/bikes/seasons",
    "best ever": "/learnt/best",
    "no such best ever": "/bikes/best",
    "player in hindsight": "/learnt/players/Entrant%2001",
    "find": "/find",
    "found": "/find?q=a",
    "found names": "/names/find?q=%3C&list=1",
    "no such player": "/bikes/find?q=Draganna",
    "no such name": f"/find?q={quote('<b>nobody')}",
    "event": "/bikes/events/bikes-058",
    "why": "/bikes/events/bikes-058/Chidi",
    "why of a loser": "/stunts/events/stunts-020",
    "why by rounds": "/karts/events/karts-020",
    "why between teams": "/dm/events/dm-040",
    "first event": "/club/events/e4/Eve",
    "corrected event": "/club/events/e2",
    "void event": "/club/events/e6",
    "unrated event": "/club/events/e5",
    "no such event": "/bikes/events/nothing",
    "names in an event": f"/names/events/{quote('</title>7', safe='')}",
    "a name's why": f"/names/events/{quote('</title>7', safe='')}/{quote(HOSTILE[0], safe='')}",
    "a long name's why": f"/names/events/{quote('</title>7', safe='')}/{HOSTILE[10]}",
    "player": "/bikes/players/Dragana",
    "reasons of a player": "/bikes/players/Dragana/reasons",
    "player in a year": "/bikes/players/Dragana?range=1y",
    "player without deviation": "/karts/players/Tom%C3%A1s",
    "player of many heats": "/forty/players/Entrant%2002",
    "player of one event": "/club/players/Eve",
    "a name's page": f"/names/players/{quote(HOSTILE[0], safe='')}",
    "a long name's page": f"/names/players/{HOSTILE[10]}",
    "no such player's page": "/bikes/players/Draganna",
    "changes": "/karts/players/Tom%C3%A1s/changes",
    "a name's changes": f"/names/players/{quote(HOSTILE[4], safe='')}/changes",
    "rivals": "/bikes/players/Dragana/rivals",
    "a name's rivals": f"/names/players/{quote(HOSTILE[1], safe='')}/rivals",
    "compare": "/bikes/compare",
    "compare two": "/karts/compare?player=Tom%C3%A1s&other=Chidi",
    "compare names": f"/names/compare?player={quote(HOSTILE[0], safe='')}&other={HOSTILE[10]}",
    "no such pair": f"/bikes/compare?player=Draganna&other={quote('<b>nobody', safe='')}",
    "nobody to compare": "/empty/compare",
    "predict": "/bikes/predict",
    "predict a large field": "/grid/predict",
    "predict names": "/names/predict",
    "predict strangers": f"/bikes/predict?entrants=Dragana&entrants=Zo%C3%AB&entrants={quote('<i>who', safe='')}",
    "nobody to predict": "/empty/predict",
    "calendar": "/bikes/calendar",
    "no upcoming race": "/empty/calendar",
    "race": "/bikes/matches/tonight",
    "race of a stranger": f"/bikes/matches/tonight?player={quote(HOSTILE[0], safe='')}",
    "race of many": "/forty/matches/tonight",
    "race of two": "/pairs/matches/tonight",
    "seeds of names": "/names/matches/tonight/seeds?groups=3",
    "race by times": "/karts/matches/tonight",
    "race of names": "/names/matches/tonight",
    "race of whoever comes": "/bikes/matches/open",
    "race that is off": "/bikes/matches/off",
    "registered match": "/club/matches/lobby",
    "no such race": "/bikes/matches/nothing",
    "trials": "/bikes/system",
    "stk": "/karts/system",
    "folyami": "/stunts/system",
    "xonstat": "/dm/system",
    "rules among names": "/names/system",
    "rules without events": "/empty/system",
} | {
    f"field of {size}, {heats} heats": f"/{pool}/events/{pool}-{size}-{heats}-6/Entrant%2002"
    for pool, size in FIELDS.items()
    for heats in (1, 8)
}


def ways():
    """Return all pages on all screens, each page on one or two screens, or a tenth of these."""
    every = [(name, width, scheme) for name in PAGES for width, scheme in SCREENS]
    return every[:: STEPS[PAGES_SEEN]]


def is_missing(name):
    """Return True for the page of a missing thing."""
    return name.startswith("no such")
