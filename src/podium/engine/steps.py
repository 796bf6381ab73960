"""Rules for two alone, of models that are no sum over pairs: `rate_two` in three steps.

    face_off(params, a, b, place, other_place)     -> Difference   both enter; what the result is a result of
    judge_result(params, difference)              -> Verdict      what it says: v and w of the papers
    update_two(params, a, b, difference, verdict) -> (State of a, State of b)

`Difference` and `Verdict` are NamedTuples of floats, named by the system as its `duel_types`. The first and the last
step do without branches and calls of the C library, so that a processor takes several duels at once; `judge_result`
may have them. They drop what has no effect on any bit where nobody has a team, a part of a game or a weight: a root
of a square, a number over itself, a second sweep that repeats the first.
"""

from typing import Any

from podium.engine.inputs import Entry, Heat
from podium.kernels.compiled import rule


@rule
def face_off(params: Any, a: Any, b: Any, place: float, other_place: float) -> Any:
    """What the result of two is about, from what both bring; the lower place is better, equal ones are a tie."""
    raise NotImplementedError(f"{type(params).__module__} registers no face_off")


@rule
def judge_result(params: Any, difference: Any) -> Any:
    raise NotImplementedError(f"{type(params).__module__} registers no judge_result")


@rule
def update_two(params: Any, a: Any, b: Any, difference: Any, verdict: Any) -> Any:
    """The new states of both."""
    raise NotImplementedError(f"{type(params).__module__} registers no update_two")


def rate_in_steps(params: Any, a: Any, b: Any, mine: Entry, theirs: Entry, heat: Heat) -> Any:
    difference = face_off(params, a, b, mine.place, theirs.place)
    return update_two(params, a, b, difference, judge_result(params, difference))


@rule
def judge_two_heats(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, middle: int, stop: int, scratch: Any, other: Any
) -> None:
    """Judge a heat in `scratch` and the next one in `other`, to the bits of `judge_heat`; nobody is in both.

    Each is all of its event: entries, and entrants, `start` to `middle`, and from there to `stop`; the second may have
    none.
    """
    raise NotImplementedError(f"{type(params).__module__} registers no judge_two_heats")
