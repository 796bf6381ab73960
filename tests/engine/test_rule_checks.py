"""A mistake of a system's author is reported in one sentence with its file and line."""

import re
from pathlib import Path

import pytest
from extent import times

import podium
from podium.analysis.evaluation import evaluate
from podium.analysis.tuning import tune
from podium.engine import rules
from podium.systems import load

PAGE = (Path(__file__).parents[2] / "docs" / "own-system.md").read_text(encoding="utf-8")
TOY = re.search(r"```python\n(# stakes\.py\n.*?)```", PAGE, re.DOTALL)[1]
UNMARKED = "\n\ndef one(number):\n    return number\n"  # a helper that numba cannot compile
RACES = [
    {"event_id": event, "started_at": f"2025-01-0{event}", "player": player, "position": place}
    for event in "123"
    for place, player in enumerate("ABC", 1)
]


def broken(tmp_path, old, new):
    """Write the system of the documentation with one mistake, and return its file."""
    assert TOY.count(old) == 1 or not old
    file = tmp_path / "stakes.py"
    file.write_text(TOY.replace(old, new) + UNMARKED, encoding="utf-8")
    return file


def line_with(file, text):
    return next(n for n, line in enumerate(file.read_text().splitlines(), 1) if text in line)


COMPARE = "@compare.register\n"
# Old text, new text, a part of the reported line, and words of the message.
MISTAKES = {
    "no compare": (COMPARE, "", "class Stakes", "stakes has no rule compare; register it for Params, or rate_event"),
    "no update_state": (
        "@update_state.register\n",
        "",
        "class Stakes",
        "stakes has no rule update_state; register it for Params",
    ),
    "misspelt parameter": (
        "Comparison(won, 0.5, 2.0 * params.stake)",
        "Comparison(won, 0.5, params.stakes)",
        "params.stakes",
        "did you mean 'stake'?",
    ),
    "misspelt state": (
        "State(me.rating +",
        "State(me.raiting +",
        "raiting",
        "State has no field 'raiting'; did you mean 'rating'",
    ),
    "wrong type": (
        "return State(me.rating + totals.points, me.events + entrant.events)",
        "return totals",
        "def add",
        "add (update_state) returns Points; stakes declares State",
    ),
    "nothing": (
        "return State(me.rating + totals.points, me.events + entrant.events)",
        "State(me.rating + totals.points, me.events + entrant.events)",
        "def add",
        "add (update_state) returns nothing",
    ),
    "too few numbers": (
        "State(me.rating + totals.points, me.events + entrant.events)",
        "State(me.rating + totals.points)",
        "State(me.rating + totals.points)",
        "missing 1 required positional argument: 'events'",
    ),
    "one comparison": (
        "Comparison(won, 0.5, 2.0 * params.stake), Comparison(1.0 - won, 0.5, 2.0 * params.stake)",
        "Comparison(won, 0.5, 2.0 * params.stake)",
        "def take_stake",
        "take_stake (compare) returns Comparison; it must return two comparisons",
    ),
    "arguments": (
        "def add(params: Params, me, totals, entrant):",
        "def add(params: Params, me, totals):",
        "def add",
        "add (update_state) takes (params, me, totals); it must take (params, me, totals, entrant), with these names",
    ),
    "other names": (
        "def add(params: Params, me, totals, entrant):",
        "def add(params: Params, me, total, entrant):",
        "def add",
        "it must take (params, me, totals, entrant), with these names",
    ),
    "whole numbers": (
        "State(self.initial, 0.0)",
        "State(self.initial, 0)",
        "def newcomer",
        "gives events 0; it must be a finite float",
    ),
    "bare newcomer": (
        "return State(self.initial, 0.0)",
        "return self.initial, 0.0",
        "def newcomer",
        "newcomer() returns (float, float); it must return State with finite floats",
    ),
    "text in params": (
        "return Params(self.stake)",
        'return Params("5")',
        "def params",
        "params() gives stake '5'; it must be a number",
    ),
    "no params": ("def params(self)", "def parms(self)", "class Stakes", "has no method params()"),
    "no events": (
        "    events: float\n",
        "    races: float\n",
        "class State(",
        "State has no field 'events' (it has rating, races)",
    ),
    "no name": (
        '    name = "stakes"',
        '    nom = "stakes"',
        "class Stakes",
        "Stakes has no name",
    ),
    "no entering state": ("    entering_type = State\n", "", "class Stakes", "stakes has no entering_type"),
    "numba cannot type": (
        "won = 1.0 if mine.place",
        "won = max([1.0, 0.0]) if mine.place",
        "max([",
        "take_stake (compare) runs in Python but cannot be compiled: numba has no max(list(float64)",
    ),
    "an unmarked helper": (
        "won = 1.0 if mine.place",
        "won = one(1.0) if mine.place",
        "won = one(",
        "the helper 'one' is not marked with @podium.engine.rules.kernel",
    ),
    "a branch that no small event takes": (
        "won = 1.0 if mine.place",
        "won = params.nothing if mine.place > 1e6 else 1.0 if mine.place",
        "params.nothing",
        "take_stake (compare) runs in Python but cannot be compiled: Unknown attribute 'nothing' of type Params",
    ),
}


USES = {
    "rate": lambda system: podium.rate(RACES, system),
    "live": lambda system: podium.Live(system).rate(RACES[:3]),
    "evaluate": lambda system: evaluate(podium.read_results(RACES), [system]),
    "tune": lambda system: tune(podium.read_results(RACES), system, "2025-01-02", trials=1),
}


# All uses run the same checks. `rate` tries every mistake, the others one of each kind.
KINDS = times(["no compare", "misspelt state", "whole numbers", "numba cannot type"], MISTAKES)


@pytest.mark.parametrize(
    ("use", "mistake"), [(use, mistake) for use in USES for mistake in (MISTAKES if use == "rate" else KINDS)]
)
def test_a_mistake_is_reported_with_file_and_line(tmp_path, use, mistake):
    old, new, line, words = MISTAKES[mistake]
    file = broken(tmp_path, old, new)
    system = load(f"{file}:Stakes")()
    with pytest.raises(podium.RuleError) as caught:
        USES[use](system)
    sentence = str(caught.value)
    assert sentence.startswith(f"{file}:{line_with(file, line)}: ")
    assert words in sentence
    assert "\n" not in sentence
    assert caught.value.__suppress_context__ or caught.value.__context__ is None  # without numba's message


@pytest.mark.parametrize(
    ("rule", "arguments", "mistake"),
    [
        ("credit", "params: Params, me, totals, after, comparison", "comparison.lost"),
        ("causes", "params: Params, before, me, totals, after", "before.lost"),
    ],
)
def test_rules_for_explanations_are_checked_before_rating(tmp_path, rule, arguments, mistake):
    file = broken(tmp_path, "", "")
    explaining = f"\n\n@podium.engine.rules.{rule}.register\ndef give({arguments}):\n    return {mistake}\n"
    file.write_text(file.read_text(encoding="utf-8") + explaining, encoding="utf-8")
    with pytest.raises(
        podium.RuleError, match=rf"stakes.py:{line_with(file, mistake)}: give \({rule}\) cannot run: .*lost"
    ):
        podium.rate(RACES, load(f"{file}:Stakes")())


def test_the_system_without_a_mistake_is_rated(tmp_path):
    rated = podium.rate(RACES, load(f"{broken(tmp_path, '', '')}:Stakes")(stake=5.0))
    assert rated.ratings["rating"].to_list() == [130.0, 100.0, 70.0]


def test_a_rule_is_checked_again_after_a_new_registration(tmp_path):
    kind = load(f"{broken(tmp_path, '', '')}:Stakes")
    podium.rate(RACES, kind())

    def forgetful(params, me, totals, entrant):
        return totals

    rules.update_state.register(type(kind().params()), forgetful)
    with pytest.raises(podium.RuleError, match="returns Points; stakes declares State"):
        podium.rate(RACES, kind())
