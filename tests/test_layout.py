"""Rules for the source files that no linter checks: sizes, imports, names and docstrings."""

import ast
import functools
import importlib.util
import inspect
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

import pytest

import podium
from podium.analysis.audit import audit
from podium.analysis.evaluation import evaluate
from podium.analysis.recovery import recover
from podium.analysis.simulation import simulate
from podium.analysis.tuning import tune
from podium.ledger.forecast import forecast
from podium.reporting.histories import curve
from podium.store import Store
from podium.systems import names

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
SCRIPTS = sorted(path for folder in ("tests", "bench", "docs") for path in (ROOT / folder).rglob("*.py"))


@functools.cache
def docs_builder():
    found = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert found is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_generated_pages_match_the_code():
    """`make docs` updates them."""
    for path, text in docs_builder().pages().items():
        assert path.exists(), f"{path.name} is missing: run make docs"
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run make docs"


@pytest.mark.parametrize("name", names())
def test_every_system_has_its_own_tests(name):
    path = ROOT / "tests" / "systems" / f"test_{name.replace('-', '_')}.py"
    assert path.exists(), f"{name} has no tests of its own: write {path.relative_to(ROOT)}"
    assert "def test_" in path.read_text(encoding="utf-8"), f"{path.relative_to(ROOT)} tests nothing"


def lines_of(paths):
    """Yield every line of these files: the file's name, the line's number from 1, and the line."""
    for path in paths:
        name = str(path.relative_to(ROOT))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            yield name, number, line


def test_no_source_file_is_longer_than_500_lines():
    lines = Counter(name for name, _, _ in lines_of(SOURCES))
    assert {name: count for name, count in lines.items() if count > 500} == {}


# A change that adds a feature may raise these limits by the size of the feature.
MAX_FILES, MAX_TOKENS = 372, 620_310
MAX_NAMES = 14
LAYOUT_TOKENS = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def docstring_lines(tree):
    """Return the numbers of the docstrings' lines."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node.body[0] for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)]
    return {number for node in found for number in range(node.lineno, node.end_lineno + 1)}


def count_tokens(path):
    """Return the number of tokens in a source file, without comments, docstrings and layout."""
    with tokenize.open(path) as file:
        text = file.read()
    skipped = docstring_lines(ast.parse(text))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type not in LAYOUT_TOKENS and token.start[0] not in skipped for token in tokens)


def test_the_code_stays_within_its_size_limits():
    assert len(SOURCES) <= MAX_FILES
    assert sum(count_tokens(path) for path in SOURCES) <= MAX_TOKENS


def test_a_package_has_few_public_names():
    """The exceptions are the root and the systems, which have a file each."""
    package = ROOT / "src" / "podium"
    floors = {path.parent for path in SOURCES} - {package, package / "systems", package / "log/migrations/versions"}
    names_on = {
        str(floor.relative_to(package)): sorted(
            each.stem for each in floor.iterdir() if each.suffix == ".py" or (each / "__init__.py").exists()
        )
        for floor in floors
    }
    assert {name: found for name, found in names_on.items() if len(set(found) - {"__init__"}) > MAX_NAMES} == {}


@functools.cache
def trees():
    """Return the parsed source of every module, by its name."""
    return {module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def module_name(path):
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_module_imports_itself_through_others():
    """Imports in functions count, but imports only for types do not."""
    arrows = {name: set() for name in trees()}
    for name, tree in trees().items():
        for node in runtime_nodes(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("podium"):
                for each in node.names:
                    whole = f"{node.module}.{each.name}"
                    arrows[name].add(whole if whole in arrows else node.module)
    while True:
        ends = {name for name, imported in arrows.items() if not imported & arrows.keys() - {name}}
        if not ends:
            break
        arrows = {name: imported for name, imported in arrows.items() if name not in ends}
    assert {name: sorted(imported & arrows.keys()) for name, imported in arrows.items()} == {}


def runtime_nodes(tree):
    """Yield a module's nodes except code only for type checkers."""
    ends = [tree]
    while ends:
        node = ends.pop()
        yield node
        is_for_types = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        ends.extend(node.orelse if is_for_types else ast.iter_child_nodes(node))


OLD_WORDS = {
    "stretch", "Stretch", "touched", "doubled", "stood", "Chosen", "Outcome", "PoolFrame", "pool_frame", "scalp",
    "work_out", "carry_out", "rehearse", "few_moves", "long_work", "taking", "as_sent", "as_entry", "as_spelt",
    "of_rows", "lookalike", "lookalikes", "doubted", "door",
}  # fmt: skip


def names_given(node):
    """Yield the names that a node defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            yield name


def test_no_name_is_too_vague():
    found = {
        f"{module}: {name}"
        for module, tree in trees().items()
        for node in ast.walk(tree)
        for name in names_given(node)
        if name.strip("_") in OLD_WORDS or name.startswith("Insight")
    }
    stems = {path.stem for path in SOURCES}
    assert found | (stems & OLD_WORDS) == set()


FORMER_PARTS = {  # parts of former names, in upper or lower case
    "ladder", "ladders", "promise", "promised", "promises", "pseudonymise", "pseudonymize", "settle", "settled",
    "settlement", "settlements", "settles", "settling", "thing", "things", "unsettled",
}  # fmt: skip
FORMER_NAMES = {"board_newest", "listed_board", "parse_reach", "reach_s", "refuse_out_of_reach", "season_board"}
STORED_NAMES = {"k_settled"}  # parameters of stored pools


def has_former_part(name):
    parts = {part.lower() for part in re.split(r"_|(?<=[a-z])(?=[A-Z])", name)}
    return name in FORMER_NAMES or bool(parts & FORMER_PARTS)


def test_former_parts_are_found_by_words_and_capitals():
    assert all(map(has_former_part, ["settle_all", "SharedThing", "FIRST_THING", "is_unsettled", "reach_s"]))
    assert not any(map(has_former_part, ["smoothing", "nothing", "resettling_cost", "reach", "restore", "pseudonym"]))


def test_no_former_name_is_used():
    found = {
        f"{module}: {name}"
        for module, tree in trees().items()
        if ".migrations" not in module
        for node in ast.walk(tree)
        for name in names_given(node)
        if has_former_part(name) and name not in STORED_NAMES
    }
    assert found == set()


FORMER_WORDS = re.compile(
    r"\b(ladders?|(?:un)?settled|settles?|settlements?|settling|promised)\b"
    r"|\b(races? to come|counted pools?|pseudonymi[sz]\w*)\b",
    re.IGNORECASE,
)
STORED_WORDS = '"pseudonymise"'  # a kind of log entry


def test_texts_for_users_have_no_former_words():
    """This covers code with its messages and docstrings, templates, the README and the documentation."""
    package = ROOT / "src" / "podium"
    pages = [ROOT / "README.md", *(page for page in (ROOT / "docs").rglob("*.md") if "decisions" not in page.parts)]
    code = [path for path in SOURCES if "migrations" not in path.parts]
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, number, line in lines_of([*code, *package.rglob("*.html"), *pages])
        if FORMER_WORDS.search(line.replace(STORED_WORDS, ""))
    ]
    assert found == []


def test_a_property_is_a_plain_function():
    """From Python 3.14 on, a dataclass with slots reads the functions of its properties."""
    decorated = [
        (name, node.name)
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and "property" in map(ast.unparse, node.decorator_list[:-1])
    ]
    assert decorated == []


def test_help_loads_no_engine():
    check = "import sys, podium.cli.commands as cli; cli.build(); print({'numba', 'numpy', 'polars'} & {*sys.modules})"
    process = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True)
    assert process.stdout.strip() == "set()"


def test_rating_a_standard_table_loads_neither_maps_nor_reasons():
    check = (
        "import sys, podium, podium.rated; podium.read_results('examples/season.csv', lenient=True)\n"
        "unused = 'podium.importers.tables.applying', 'podium.ledger.reasons'\n"
        "print(sorted({*unused} & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True, cwd=ROOT)
    assert process.stdout.strip() == "[]"


def public_functions():
    """Yield the public functions and methods of classes by name."""
    objects = [getattr(podium, name) for name in podium.__all__]
    for each in (*objects, audit, curve, evaluate, forecast, recover, simulate, Store, tune):
        if inspect.isfunction(each):
            yield each.__name__, each
        elif inspect.isclass(each):
            for name, member in inspect.getmembers(each, inspect.isfunction):
                if not name.startswith("_") and member.__module__.startswith("podium."):
                    yield f"{each.__name__}.{name}", inspect.unwrap(member)


PUBLIC = dict(public_functions())


def test_public_functions_document_results_and_errors():
    for name, function in PUBLIC.items():
        text = inspect.getdoc(function) or ""
        first = text.split("\n", 1)[0]
        assert first.endswith("."), f"{name}: a line of what it does"
        assert not first.startswith("The same"), f"{name}: it stands alone in a reference"
        returned = str(inspect.signature(function).return_annotation)
        gives = returned != "None" and "Iterator" not in returned
        assert not gives or "Returns:" in text, name
        own = re.sub(r'"""(.|\n)*?"""', "", inspect.getsource(function))
        assert not re.search(r"\n\s+raise \w+Error\(", own) or "Raises:" in text, name


def test_no_docstring_refers_to_the_one_above():
    assert [(name, number) for name, number, line in lines_of(SOURCES) if '"""The same' in line] == []


def test_the_hooks_contain_no_address():
    """The hooks download nothing from other hosts."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]
    assert "://" not in hooks


FORBIDDEN = re.compile(r"\b(told|said|asked|of: Pool)\b")


def test_sources_use_no_forbidden_words():
    """Variables are named after their values, and a pool is called `pool`. This also covers comments and messages."""
    lines = lines_of(SOURCES)
    assert [f"{name}:{number}: {line.strip()}" for name, number, line in lines if FORBIDDEN.search(line)] == []


def test_variables_of_tests_and_scripts_have_no_forbidden_names():
    found = []
    for path in SCRIPTS:
        if not FORBIDDEN.search(path.read_text(encoding="utf-8")):  # tokenizing a file is slow
            continue
        with path.open(encoding="utf-8") as source:
            tokens = [token for token in tokenize.generate_tokens(source.readline) if token.type == tokenize.NAME]
        found += [(path.name, token.start[0], token.string) for token in tokens if FORBIDDEN.fullmatch(token.string)]
    assert found == []


def test_every_path_in_contributing_exists():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", page) + re.findall(r"\]\(([\w./-]+)\)", page)
    assert len(paths) >= 30
    examples = {"tests/systems/test_NAME.py"}
    assert [path for path in paths if path not in examples and not (ROOT / path).exists()] == []


def test_contributing_has_three_short_paths():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.split("## Three paths")[1].split("\n## ")[0]
    steps = [len(re.findall(r"(?m)^\d\. ", path)) for path in re.split(r"(?m)^\*\*.*\*\*$", section)[1:]]
    assert len(steps) == 3
    assert 3 <= min(steps) <= max(steps) <= 6


def test_contributing_lists_every_package():
    """The list has every folder and module at the root of the package, and no others."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = re.findall(r"(?m)^    ([\w/.]+) {2,}", page.split("## Packages")[1].split("\n## ")[0])
    package = ROOT / "src" / "podium"
    folders = {f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").exists()}
    modules = {path.name for path in package.glob("[!_]*.py")}
    assert folders <= set(drawn)
    assert set(drawn) - folders <= modules
