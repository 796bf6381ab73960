"""Names that look alike cause a warning, but are accepted."""

import pytest
from typer.testing import CliRunner

from podium.cli.commands import build
from podium.results.names import are_alike, key, pairs_alike

ALIKE = [
    ("Ana", "ana"), ("Pérez", "Perez"), ("аna", "ana"), ("АNA", "ana"), ("Ian", "lan"), ("Bill", "Bi11"),
    ("ＡＮＡ", "ana"), ("Bern", "Bem"), ("O'Neil", "0'Neil"), ("Straße", "STRASSE"), ("Łódź", "lodz"), ("Ваня", "ВАНЯ"),
    ("ВEN", "BEN"),
]  # fmt: skip
UNLIKE = [("Lan", "Ian"), ("Ali", "Ail"), ("player 1", "player 2"), ("ana", "anna"), ("雪", "雨"), ("p1", "p11")]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_similar_names_are_alike(one, other):
    assert are_alike(one, other)
    assert key(one) == key(other)  # otherwise a pool would not find them
    assert pairs_alike(["zoe", one, other]) == [(other, one)]


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_visibly_different_names_are_not_alike(one, other):
    assert not are_alike(one, other)
    assert pairs_alike([one, other]) == []


def test_check_warns_but_accepts_the_file(tmp_path):
    path = tmp_path / "r.csv"
    names = ("Pérez", "Perez", "аna", "ana", "[bold]x", "Jo  Ray", "Jo Ray")
    rows = "".join(f"1,{name},{place}\n" for place, name in enumerate(names, 1))
    path.write_text(f"event_id,player,position\n{rows}", encoding="utf-8")
    ran = CliRunner().invoke(build(), ["check", str(path)])
    assert ran.exit_code == 0
    assert "all good" in ran.stdout
    assert "'Perez' looks like 'Pérez'" in ran.stderr
    assert "'ana' looks like '\\u0430na'" in ran.stderr
    assert "'Jo Ray' looks like 'Jo  Ray'" in ran.stderr


def test_receipts_warn_of_new_players_with_similar_names(store):
    from races import rows

    from podium.systems import find

    store.create_pool("main", find("elo")())
    assert store.submit("main", rows(1, ["ana", "Ben"]))[0].warnings == ()
    one, two = store.submit("main", [*rows(2, ["ana", "ben"]), *rows(3, ["ben", "Cy", "cy", "zoe"])])
    assert [each.count("looks like") for each in one.warnings] == [1]
    assert "'ben' looks like 'Ben'" in one.warnings[0]
    assert len(two.warnings) == 2
    assert store.submit("main", rows(4, ["ben", "cy"]))[0].warnings == ()
    store.rename("main", "zoe", "Ana Maria")
    assert "'Ana Maria'" in store.submit("main", rows(5, ["ana maria", "ben"]))[0].warnings[0]
    assert store.submit("main", rows(5, ["ana maria", "ben"]))[0].warnings == ()
    assert store.verify() == []
