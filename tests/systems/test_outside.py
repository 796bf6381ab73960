"""Systems from other authors: from a file, and from an installed package's entry point."""

import json
import re
import shutil
from pathlib import Path
from unittest import mock

import pytest
from typer.testing import CliRunner

import podium
from podium import systems
from podium.cli.commands import build
from podium.engine import kernel_calls
from podium.engine.system import System
from podium.store import Store

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-system.md").read_text(encoding="utf-8")
TOY = re.search(r"```python\n(# stakes\.py\n.*?)```", PAGE, re.DOTALL)[1]
RESULTS = "event_id,started_at,player,position\n" + "".join(
    f"e{event},2025-01-{event:02},{player},{place}\n" for event in range(1, 21) for place, player in enumerate("ABC", 1)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("outside")


@pytest.fixture
def here(folder, monkeypatch):
    """Enter a folder with the system and the results of the documentation. The same path and text are one system."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (folder / "stakes.py").write_text(TOY, encoding="utf-8")
    (folder / "results.csv").write_text(RESULTS, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def in_python(monkeypatch):
    """Run rules in Python, because compiling takes seconds and other tests do it."""
    monkeypatch.setattr(System, "is_ours", True)
    monkeypatch.setattr(kernel_calls, "SHIPPED", mock.MagicMock(__contains__=lambda *_: True))


def run(*words):
    done = CliRunner().invoke(build(), [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def install(folder, monkeypatch, package, points, source=TOY):
    """Add a package with these entry points to the path, as pip would."""
    module = package.replace("-", "_")
    site = folder / f"site-{package}"
    (site / f"{module}.py").parent.mkdir(exist_ok=True)
    (site / f"{module}.py").write_text(source, encoding="utf-8")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"{name} = {module}:{kind}" for name, kind in points.items()]
    (info / "entry_points.txt").write_text("[podium.systems]\n" + "\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))


def test_every_command_accepts_a_file_as_a_system(here):
    rated = run("rate", "results.csv", "--system", "stakes.py:Stakes", "--set", "stake=5", "--format", "csv")
    assert rated.splitlines()[1].startswith("default,1,A,300.0,20")
    assert "default,1,A,140.0,20" in run("rate", "results.csv", "--system", "stakes.py", "--format", "csv")
    words = ("--system", "elo:k=20", "--system", "stakes.py:Stakes:stake=5,initial=7", "--format", "csv")
    assert "stakes.py:Stakes:stake=5,initial=7" in run("evaluate", "results.csv", *words)
    assert "A newcomer's state: rating 100" in run("systems", "stakes.py:Stakes")
    assert "came last and lost 2.0 points" in run(
        "explain", "results.csv", "-s", "stakes.py", "--event", "e3", "--player", "C"
    )


def test_tuned_settings_can_be_used_with_the_file(here, in_python):
    run("tune", "results.csv", "-s", "stakes.py:Stakes", "--train-until", "60%", "--trials", "2", "-o", "tuned.toml")
    assert 'system = "stakes"' in (here / "tuned.toml").read_text()
    run("rate", "results.csv", "--system", "stakes.py:Stakes", "--system-file", "tuned.toml")


def test_the_command_line_checks_a_files_system(here, monkeypatch):
    monkeypatch.setitem(podium.check_system.__kwdefaults__, "histories", 2)  # a simple and a complex one
    assert json.loads(run("systems", "--check", "stakes.py:Stakes", "--format", "json"))["system"] == "stakes"
    (here / "stakes.py").write_text(TOY.replace("me.rating + totals.points", "me.rating + totals.points + 1.0"))
    with pytest.raises(podium.RuleError, match=r"stakes: .*reasons add up to") as caught:
        run("systems", "--check", "stakes.py:Stakes")
    assert all(line.startswith("stakes: ") for line in str(caught.value).splitlines())


@pytest.mark.parametrize(
    ("text", "old", "new", "words"),
    [
        ("nowhere.py:Stakes", "", "", "nowhere.py: No such file"),
        ("stakes.py:Steaks", "", "", "has no system 'Steaks' (it has Stakes)"),
        ("stakes.py:State", "", "", "has no system 'State' (it has Stakes)"),
        ("stakes.py", "class Stakes(System)", "class Stakes(object)", "it has no subclass of"),
        ("stakes.py:stake=5", "", "", "Write PATH.py:CLASS"),
        ("stakes.py", '"stakes"', '"elo"', "Podium already has a system 'elo'"),
        ("stakes.py", "import podium", "import podum", "stakes.py:5: ModuleNotFoundError: No module named 'podum'"),
        ("stakes.py", "won = 1.0", "won == = 1.0", "stakes.py:43: SyntaxError"),
        ("stakes.py", "params: Params, a", "params, a", "stakes.py:41: TypeError: Invalid first argument"),
    ],
)
def test_a_file_without_a_system_is_a_clear_error(here, text, old, new, words):
    (here / "stakes.py").write_text(TOY.replace(old, new), encoding="utf-8")
    with pytest.raises(podium.PodiumError) as caught:
        systems.load(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["most", "label", "params", "newcomer", "score", "state_type", "standing", "digits"])
def test_a_parameter_cannot_have_the_name_of_a_system_attribute(here, name):
    text = TOY.replace("    def params(", f'    {name}: float = parameter(1.0, "of its own")\n\n    def params(', 1)
    (here / "stakes.py").write_text(text, encoding="utf-8")
    with pytest.raises(podium.ParameterError, match=f"Stakes: every system has an attribute '{name}'.*my_{name}"):
        systems.load("stakes.py")()


def test_an_edited_file_is_loaded_again(here, in_python):
    before = systems.load("stakes.py")
    assert systems.load("stakes.py") is before
    (here / "stakes.py").write_text(TOY.replace("2.0 * params.stake", "4.0 * params.stake"), encoding="utf-8")
    race = [{"event_id": "1", "player": name, "position": place} for place, name in enumerate("AB", 1)]
    one, two = (podium.rate(race, each(stake=5.0)).ratings["rating"][0] for each in (before, systems.load("stakes.py")))
    assert (one, two) == (105.0, 110.0)


def test_the_library_and_live_ratings_open_no_file(here):
    for door in (systems.find, lambda name: podium.rate("results.csv", name), podium.Live):
        with pytest.raises(podium.ParameterError, match="only commands run files"):
            door("stakes.py:Stakes")


def test_a_packages_system_is_found_by_name_and_rates_a_pool(here, in_python, monkeypatch):
    install(here, monkeypatch, "good-stakes", {"stakes": "Stakes"})
    assert podium.rate("results.csv", "stakes", stake=5).ratings["rating"][0] == 300.0
    assert ",stakes," not in run("systems", "stakes")
    assert "\nstakes,Stakes," in run("systems", "--format", "csv")
    url = f"sqlite:///{here}/podium.db"
    run("db", "init", "--db", url)
    run("pool", "create", "main", "--system", "stakes", "--set", "stake=5", "--db", url)
    run("ingest", "results.csv", "--pool", "main", "--db", url)
    run("verify", "--db", url)
    store = Store(url)
    assert {row.player: row.rating for row in store.leaderboard("main", top=9).players} == {
        "A": 300,
        "B": 100,
        "C": -100,
    }
    store.close()


def test_a_pool_accepts_no_file(here):
    url = f"sqlite:///{here}/podium.db"
    run("db", "init", "--db", url)
    with pytest.raises(podium.ParameterError, match="cannot rate a pool"):
        run("pool", "create", "main", "--system", "stakes.py:Stakes", "--db", url)
    run("pool", "create", "main", "--system", "elo", "--db", url)
    with pytest.raises(podium.ParameterError, match="cannot rate a pool"):
        run("pool", "configure", "main", "--system", "stakes.py:Stakes", "--db", url)
    _, pool = run("pool", "list", "--db", url, "--format", "csv").splitlines()
    assert pool.startswith("main,elo,open,")


def test_a_package_cannot_replace_a_built_in_system(here, monkeypatch):
    install(here, monkeypatch, "bad-elo", {"elo": "Stakes"})
    assert systems.find("elo").__module__ == "podium.systems.elo"
    done = CliRunner().invoke(build(), ["systems", "--format", "csv"])
    assert "bad-elo offers a system 'elo', which is the name of one of Podium's own" in done.stderr
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("points", "source", "words"),
    [
        ({"stakes": "Nothing"}, TOY, "AttributeError"),
        ({"stakes": "State"}, TOY, "is not a subclass of"),
        ({"other": "Stakes"}, TOY, "Give both the same name"),
        ({"stakes": "Stakes"}, "import nothing_of_that_name", "No module named"),
    ],
)
def test_a_package_without_a_system_is_a_clear_error(here, monkeypatch, points, source, words):
    install(here, monkeypatch, f"wrong-{len(source)}-{'-'.join(points.values()).lower()}", points, source)
    with pytest.raises(podium.PodiumError, match=words):
        systems.find(next(iter(points)))
    done = CliRunner().invoke(build(), ["systems"])  # the other systems can still be listed
    assert done.exit_code == 0
    assert words in done.stderr


def test_two_packages_cannot_offer_the_same_name(here, monkeypatch):
    install(here, monkeypatch, "one-stakes", {"stakes": "Stakes"})
    install(here, monkeypatch, "two-stakes", {"stakes": "Stakes"})
    with pytest.raises(podium.ParameterError, match="one-stakes and two-stakes both offer a system 'stakes'"):
        systems.find("stakes")
