"""Names of unknown entrants that are similar to known ones: Podium asks, or rejects them with a suggestion."""

import pytest
from commands import run, streams

import podium
from podium.errors import NearNameError
from podium.support.words import is_nearly

NAMES = ["Kowalski, Jan", "Anna", "Ben & Cleo", "player11"]
ROWS = [{"event_id": "e", "player": name, "position": place} for place, name in enumerate(NAMES, start=1)]
SLIPS = ["Kowalsky, Jan", "kowalski, jan", "Kowalski, Jna", "Ana", "Annna", "Cleo / Ben", "ben and cleo", "Ben+Cleo"]
OTHERS = ["Kowalewski, Jan", "Bo", "Ben / Dev", "player12", "Anders", "\N{CJK UNIFIED IDEOGRAPH-96EA}"]


@pytest.fixture
def path(tmp_path):
    lines = ["event_id,player,position", *(f'{row["event_id"]},"{row["player"]}",{row["position"]}' for row in ROWS)]
    (tmp_path / "results.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "results.csv"


def live():
    ratings = podium.Live("elo")
    ratings.rate(ROWS)
    return ratings


@pytest.mark.parametrize("name", SLIPS)
def test_a_similar_name_is_rejected_unless_it_is_declared_new(name):
    rated = podium.rate(ROWS)
    for look in (rated.predict, rated.stakes, live().predict):
        with pytest.raises(NearNameError, match="has not played, but"):
            look([name, "player11"])
        look([{"player": name, "new": True}, "player11"])
    with pytest.raises(NearNameError):
        rated.stakes(["Anna", "player11"], name)
    with pytest.raises(NearNameError):
        rated.predict(sides=[[name], ["player11"]])


@pytest.mark.parametrize("name", OTHERS)
def test_a_different_name_is_a_newcomer(name):
    assert podium.rate(ROWS).predict([name, "Anna"]).newcomers == (name,)


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("Bob", "Rob"), ("P1", "P2"), ("Zoë 1", "Zoë 2"), ("", "a")])
def test_short_names_and_numbers_are_not_misspellings(one, other):
    assert not is_nearly(one, other)
    assert not is_nearly(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("Jürgen Müller", "Juergen Mueller"), ("BÄR", "Baer"), ("Strauß", "Strauss")]
)
def test_written_out_umlauts_are_misspellings(one, other):
    assert is_nearly(one, other)
    assert is_nearly(other, one)


@pytest.mark.parametrize("words", [["predict"], ["stakes"]])
def test_a_command_rejects_the_name_and_suggests_new(words, path):
    typed = [*words, path, "-s", "elo", "--entrant", "Kowalsky, Jan", "--entrant", "Anna"]
    message = run(*typed, status=2)
    assert "Kowalsky, Jan has not played, but Kowalski, Jan has." in message
    assert "--new 'Kowalsky, Jan'" in message
    assert "Kowalsky, Jan" in run(*typed, "--new", "Kowalsky, Jan")


@pytest.mark.parametrize(("answer", "rated"), [("y\n", "Kowalski, Jan"), ("n\n", "Kowalsky, Jan")])
def test_a_terminal_asks_for_the_intended_name(answer, rated, path, monkeypatch):
    monkeypatch.setattr("podium.cli.service.storing.is_terminal", lambda: True)
    err, out = streams("predict", path, "-s", "elo", "--entrant", "Kowalsky, Jan", "--entrant", "Anna", stdin=answer)
    assert "Kowalsky, Jan has not played. Did you mean Kowalski, Jan?" in err
    assert rated in out
    assert "did you mean" not in err
    err, out = streams("stakes", path, "-s", "elo", "--entrant", "Anna", "--player", "Kowalsky, Jan", stdin=answer)
    assert f"{rated}: " in out
