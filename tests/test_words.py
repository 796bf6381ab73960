"""The checker of the project's English finds the named habits, and passes sentences without them."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def checker():
    found: Any = importlib.util.spec_from_file_location("check_words", ROOT / "docs" / "check_words.py")
    module = importlib.util.module_from_spec(found)
    sys.modules["check_words"] = module  # its dataclass looks up its module here
    found.loader.exec_module(module)
    yield module
    del sys.modules["check_words"]


def rules_of(checker, text):
    return {each.rule for each in checker.judge(checker.markdown("page.md", text)).findings}


BAD = {
    "what as a noun": "The receipt says what is stored in the pool.",
    "who as a noun": "The page belongs to whoever came first that day.",
    "opens with a question word": "Whether the state of an entrant is read.",
    "opens with of or as": "Of each row in the order of the event.",
    "participle first": "Refused are names that show nothing at all.",
    "odd idiom": "Every key has a pool of its own here.",
    "odd verb": "The next release will mend the broken wheel.",
    "archaic word": "Keep the file beside the database of the pool.",
    "none or other as an adjective": "A car is no player in this table.",
    "inverted": "Both sides are kept, and so are their names.",
    "article left out": "The file has a row a player and nothing else.",
    "too at the end": "The pages show the names of cars, too.",
    "semicolons": "One is here; one is there; one is gone.",
    "passives": "It is stored, it is rated and it is shown.",
    "long sentence": f"The service {'really ' * 26}works.",
}


@pytest.mark.parametrize("rule", BAD)
def test_a_habit_is_found(checker, rule):
    assert rules_of(checker, BAD[rule]) == {rule}


def test_every_rule_has_an_example(checker):
    assert BAD.keys() == checker.RULES.keys() | {"semicolons", "passives", "long sentence"}


@pytest.mark.parametrize(
    "text",
    [
        "You can correct any result at any time, even last season's.",
        "Who did what? The log of the pool tells you.",
        "As soon as a result arrives, the service rates it.",
        "How do you undo a mistake in the pool?",
        "The function returns `what is gone is voided` in code.",
        "A rating is no longer provisional after five events.",
        "Podium asks if it isn't sure about the date.",
    ],
)
def test_plain_sentences_pass(checker, text):
    assert rules_of(checker, text) == set()


def test_code_tables_comments_and_quotations_are_not_read(checker):
    text = """
```text
Whoever is missing has quit the race.
```

    whoever is missing has quit the race

| whoever | is missing has quit |

<!-- whoever is missing has quit -->

<!-- words: off -->
Whoever is missing has quit the race.
<!-- words: on -->

This sentence is the only prose here.
"""
    figures = checker.judge(checker.markdown("page.md", text))
    assert (figures.words, figures.findings) == (7, [])


def test_long_paragraphs_and_sections_are_found(checker):
    sentence = "The service stores each result that you send. "
    paragraph = sentence * 10
    assert rules_of(checker, sentence * 12) == {"long paragraph"}
    assert rules_of(checker, "\n\n".join([paragraph] * 4)) == {"no heading"}
    assert rules_of(checker, "\n\n## More\n\n".join([paragraph] * 4)) == set()


def test_only_texts_for_people_are_read_in_code(checker):
    source = '''"""Read results from files."""

LIMIT = "whoever is missing has quit the race"


def rate(path: str = option(help="The file with the results to rate")) -> None:
    """Rate the results in a file.

    Args:
        path: the file.
        seed: the seed of the draws.
    """
    place: int = described("The place of the player in the race.")
    raise RateError(f"{path}: this file has no results. Add one row per player.")
'''
    passages = list(checker.python("rate.py", source))
    assert {each.text for each in passages} >= {
        "Read results from files.",
        "Rate the results in a file.",
        "path: the file.",
        "The file with the results to rate",
        "The place of the player in the race.",
        "X: this file has no results. Add one row per player.",
    }
    assert not any("whoever" in each.text for each in passages)
    assert next(each.line for each in passages if each.text.startswith("X:")) == 14


def test_the_visible_text_of_a_template_is_read(checker):
    source = (
        '{% if x %}\n<p>{{ name }} won <b>two</b> races.</p>{% endif %}<script>whoever()</script><img alt="A chart">'
    )
    assert [each.text for each in checker.template("page.html", source)] == ["X won two races.", "A chart."]


def test_a_short_page_may_have_a_few_findings(checker):
    bad = "The receipt says what is stored in the pool.\n\n"
    good = "The service rates each result as it arrives. It tells you about every change.\n\n"

    def faults(text):
        return checker.judge(checker.markdown("page.md", text)).faults(checker.BAR)

    long_page = ("## More\n\n" + good * 15) * 4
    assert faults(good + bad * 2) == []
    assert faults(good + bad * 3)[0].startswith("habits")
    assert faults(long_page + bad * 2) == []
    assert faults(long_page + bad * 9)[0].startswith("habits")


def test_a_figure_may_not_exceed_its_ratchet(checker, monkeypatch):
    bad = checker.judge(checker.markdown("page.md", "The receipt says what is stored in the pool.\n\n" * 3))
    today = bad.bar().habits
    for limit, faulty in ((today + 1.0, 0), (today, 0), (today - 1.0, 1)):
        monkeypatch.setitem(checker.RATCHET, "package", checker.Bar(habits=limit))
        assert checker.report({"package": bad}, None)[1] == faulty
    assert checker.ratchet({"package": bad}) == f'    "package": Bar(habits={today}),\n'


def test_every_page_meets_the_bar_and_only_code_has_a_ratchet(checker):
    assert not [name for name in checker.RATCHET if name.endswith(".md")]
    units = checker.units()
    assert {"README.md", "docs/faq.md", "docs/service/index.md", "templates", "explanations"} <= units.keys()
    assert set(checker.RATCHET) <= units.keys()
    assert not [name for name in units if name.startswith(("docs/decisions", "docs/reference"))]
    assert {page.name for page in checker.pages()} >= {"commands.md", "http.md", "faq.md"}
    assert not [page for page in checker.pages() if "decisions" in page.parts]
    assert all(files for files in units.values())


def test_the_documentation_may_not_grow_beyond_its_limit(checker, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["check_words.py"])
    monkeypatch.setattr(checker, "units", dict)
    assert 10_000 < checker.length() <= checker.MOST
    assert checker.main() == 0
    monkeypatch.setattr(checker, "MOST", checker.length() - 1)
    assert checker.main() == 1
    assert "(at most" in capsys.readouterr().out
