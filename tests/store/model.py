"""A plain Python model of a store's content: a dict of events, and the library's live rating."""

import copy
from dataclasses import dataclass, field

import podium
from podium.engine.system import System


@dataclass
class Truth:
    """Events by id, seasons, matches and merged accounts, as they were sent."""

    system: str | System
    events: dict = field(default_factory=dict)
    seasons: list = field(default_factory=list)  # start, order and kept share
    matches: dict = field(default_factory=dict)  # entrants
    merged: dict = field(default_factory=dict)
    equipment: dict = field(default_factory=dict)  # the current name for each present or former name
    starts: dict = field(default_factory=dict)  # starting rating and deviation of each account
    order: int = 0
    is_undated: bool = False  # events have numbers instead of dates
    widens: bool = True  # seasons make ratings less certain

    @property
    def following(self):
        """Return the number for an event that is sent without one."""
        numbers = [each["rows"][0]["sequence"] for each in self.events.values()]
        return max(numbers) // 1 + 1 if numbers else 1.0

    def next(self):
        """Return the next number of the log."""
        self.order += 1
        return self.order

    def copied(self):
        """Return a copy for trying changes."""
        return copy.deepcopy(self)

    def resolved(self, name):
        """Return the account that a player uses now."""
        ends = self.merged | self.equipment
        while name in ends:
            name = ends[name]
        return name

    def upsert(self, event_id, rows, match=None):
        """Store or replace the rows of an event. Players missing from its match have quit."""
        known = self.events.get(event_id) or {"order": self.next(), "voided": False, "match": match}
        match, present = known["match"], None
        if match is not None:
            here = {self.resolved(row["player"]) for row in rows}
            entrants = {self.resolved(name): name for name in self.matches[match]}
            absent = [name for end, name in entrants.items() if end not in here]
            present = len(entrants) - len(absent)
            shared = {key: rows[0][key] for key in ("event_id", "started_at", "sequence") if key in rows[0]}
            rows = [*rows, *(shared | {"player": name, "status": "quit"} for name in absent)]
        self.events[event_id] = known | {"rows": rows, "present": present}

    def start(self, name, rating, deviation):
        """Give someone a starting rating."""
        self.starts[self.resolved(name)] = rating, deviation

    def starting_table(self):
        """Return the starting ratings that count, as rows."""
        found = {self.resolved(account): start for account, start in self.starts.items()}
        found |= {account: start for account, start in self.starts.items() if account not in self.merged}
        rows = [{"player": name, "rating": start[0], "deviation": start[1]} for name, start in found.items()]
        return [{column: value for column, value in row.items() if value is not None} for row in rows]

    def counting(self):
        """Return the events that count, in rating order, with the current accounts of the players."""
        best = {}
        for event_id, each in self.events.items():
            if each["match"] is not None and not each["voided"]:
                best.setdefault(each["match"], []).append((-each["present"], each["order"], event_id))
        entries = []
        for event_id, each in self.events.items():
            if each["voided"] or (each["match"] is not None and min(best[each["match"]])[2] != event_id):
                continue
            rows = [
                row | {name: self.resolved(row[name]) for name in row if name == "player" or name.startswith("shared:")}
                for row in each["rows"]
            ]
            entries.append((rows[0]["sequence" if self.is_undated else "started_at"], each["order"], rows))
        return sorted(entries, key=lambda each: each[:2])

    def possible(self):
        """Return True if no player is in an event twice."""
        return all(len({row["player"] for row in rows}) == len(rows) for _, _, rows in self.counting())

    def ratings(self):
        """Rate the events, and return the ratings of players, and of equipment with its kind before the name."""
        starts = self.starting_table()
        live, starters = podium.Live(self.system, start=starts or None), {row["player"] for row in starts}
        steps = [*self.counting(), *self.seasons]
        for _, _, what in sorted(steps, key=lambda each: each[:2]):
            if isinstance(what, float):
                unplayed = {name for (_, name), state in live.ratings.items() if not state.events}
                rated, before, _ = live.reset(what, widens=True)
                new = [row for row, (_, name) in enumerate(rated) if name in starters & unplayed]
                live._ratings.states[new] = before[new]  # a starting rating counts before the first rated event
            else:
                live.rate(what)
        found = {name: state for (_, name), state in live.ratings.items() if state.events or name not in starters}
        return {name.replace("\x1f", "/"): state.rating for name, state in found.items()}
