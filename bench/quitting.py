"""Check that quitting never costs less than last place in `adaptive`: `python bench/quitting.py FOLDER`.

FOLDER has the files that docs/public_histories.py names. The script rates the first tenth, quarter and half of each
history, and all of it. After each part it asks for the stakes of some players in the next (or last) fields. It prints
how many were compared, how many lose less by quitting than by the last place, and the narrowest and mean difference.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

from public_histories import HISTORIES

import podium

NOISE = 1e-9  # points
PARTS = (0.1, 0.25, 0.5, 1.0)
FIELDS = 12  # approximate number compared after each part
MAX_SIDES = 12  # of a field, so that the largest fields have stakes too
LEAST_SIDES = 3  # in a duel a quit is the loss
PLAYERS = 4  # of a field: the best, the worst and two between


def fields_of(frame, count):
    """Return the players of each event as a field of a race. Members of teams and pairs race alone here."""
    fields = [
        event["player"].unique(maintain_order=True)[:MAX_SIDES].to_list()
        for _, event in frame.group_by("event_id", maintain_order=True)
    ]
    return [field for field in fields if len(field) >= LEAST_SIDES][:count]


def compared(rated, field):
    """Return how much more a quit costs than the last place, for some players of a field."""
    known = {*rated.ratings["player"]}
    entrants = [each if each in known else {"player": each, "new": True} for each in field]
    for number in np.linspace(0, len(field) - 1, PLAYERS).astype(int):
        *_, last, quit_ = rated.stakes(entrants, field[number]).frame["delta"]
        yield last - quit_


def main(folder):
    for history in HISTORIES.values():
        frame = history.read(folder).frame
        frame = frame.filter(frame["pool"] == frame["pool"][0])
        ids = frame["event_id"].unique(maintain_order=True)
        more = []
        for part in PARTS:
            seen = ids[: int(part * len(ids))]
            after = ids[len(seen) : len(seen) + FIELDS] if part < 1.0 else ids[-FIELDS:]
            rated = podium.rate(frame.filter(frame["event_id"].is_in(seen.implode())), history.system("adaptive"))
            for field in fields_of(frame.filter(frame["event_id"].is_in(after.implode())), FIELDS):
                more += compared(rated, field)
        cheaper = sum(each < -NOISE for each in more)
        figures = f"narrowest {min(more):.2f}, mean {np.mean(more):.2f} points" if more else "only duels"
        print(f"{history.title:58} {len(more):5} compared, {cheaper} with a cheaper quit; {figures}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
