"""Rules for two single players in models that are not sums over pairs: `rate_two` in three steps.

    face_off(params, a, b, place, other_place)     -> Difference   both enter; the difference that the result is about
    judge_result(params, difference)              -> Verdict      v and w of the papers
    update_two(params, a, b, difference, verdict) -> (State of a, State of b)

`Difference` and `Verdict` are NamedTuples of floats, which the system names as its `duel_types`. The first and the last
step have no branches and do not call the C library, so that a processor handles several duels at once. `judge_result`
may have both. The steps omit operations that cannot change a bit without teams, parts of a game and weights: the root
of a square, a number divided by itself, a second sweep equal to the first.
"""

from typing import Any

from podium.engine.inputs import Entry, Heat
from podium.kernels.compiled import rule


@rule
def face_off(params: Any, a: Any, b: Any, place: float, other_place: float) -> Any:
    """Return the difference that the result is about. The lower place is better, and equal places are a tie."""
    raise NotImplementedError(f"{type(params).__module__} registers no face_off")


@rule
def judge_result(params: Any, difference: Any) -> Any:
    raise NotImplementedError(f"{type(params).__module__} registers no judge_result")


@rule
def update_two(params: Any, a: Any, b: Any, difference: Any, verdict: Any) -> Any:
    """Return the new states of both players."""
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
