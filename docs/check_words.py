"""Check that the project's English is easy to read: `make check`.

    python docs/check_words.py              # exit 1 if a page or a package is over its bar
    python docs/check_words.py --show NAME  # every finding in units with NAME in their name
    python docs/check_words.py --ratchet    # the lines of RATCHET with today's figures

Each page and each package of the code is one unit. The checker compares its sentences with habits that make English
hard to read, and its figures with a bar. Packages over the bar have a higher one in RATCHET. A page can quote bad
English between the comments `<!-- words: off -->` and `<!-- words: on -->`.
"""

import argparse
import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LONG = 26  # words of a sentence
PARAGRAPH = 90  # words
SECTION = 300  # words without a heading
SMALL = 500  # words of a unit in which single findings would count too much
MOST = 54_000  # words of the documentation, without the records of decisions
FEW = 2  # findings that such a unit may have
SHORTEST = 4  # words of a sentence worth a look
TO_BE = r"(?:is|are|was|were|be|been|being)"
PRONOUN = r"(?:its|their|one's|his|her)"


class Bar(NamedTuple):
    """The largest figures that a unit may have.

    habits is the number of findings per 1,000 words, mean the words per sentence, long the percentage of long
    sentences. paragraphs and sections count long paragraphs and long stretches without a heading.
    """

    habits: float = 6.0
    mean: float = 19.0
    long: float = 18.0
    paragraphs: int = 0
    sections: int = 0


BAR = Bar()
RATCHET: dict[str, Bar] = {}  # units over the bar: lower these figures when the words improve, never raise them
RULES: dict[str, tuple[str, ...]] = {
    "what as a noun": (  # "what is gone is voided"
        (
            r"\b(?:of|to|by|for|from|with|in|at|as|than|and|says?|tells?) what (?:\w+ ){0,2}?"
            r"(?:is|are|was|were|has|have|had|does|do|did|stands?|goes|comes?|follows|costs?|brings?)\b"
        ),
    ),
    "who as a noun": (  # "who is missing has quit"
        r"\b(?:of|to|by|for|from|with|as|than|and|that) who (?:\w+s|is|are|was|has|had|did)\b",
        r"\bwhoever\b",
        r"\bthose (?:that|who) are\b",
    ),
    "opens with a question word": (r"^(?:What|Who|Which|Whose|Whether|How)\b[^?]*$",),
    "opens with of or as": (r"^(?:Of|As) (?!of\b|a\b|an\b|soon\b|long\b|well\b)[a-z`]",),
    "participle first": (
        rf"^(?:Counted|Asked|Kept|Left|Refused|Held|Taken|Listed|Told|Undone|Not \w+ed) (?:{TO_BE}|\w+s)\b",
        r"^(?:Counted|Asked|Kept|Refused|Held|Taken)[,:]",
    ),
    "odd idiom": (
        rf"\bof {PRONOUN} own\b",
        r"\bin the stead of\b|\bin the midst\b|\bby halves\b|\bas it stands\b|\ball the same\b|\bin words\b",
        r"\bto the (?:very )?(?:bits?|letter)\b|\btakes? (?:no )?offence\b|\bfor (?:your|its owner's) eyes\b",
    ),
    "odd verb": (
        r"\b(?:mend(?:s|ed|ing)?|anew|whence|thence|hence|owes?|praised|leaves? aside|left aside)\b",
        r"\b(?:tells? of|is told|are told|rates? anew|goes? on (?:from|to))\b",
        r"\bstands? (?:in|there|twice|below|beside|only)\b",
    ),
    "archaic word": (
        r"\b(?:upon|lest|thereof|wherever|whichever|save for|be it|nor (?:does|is|by|one)|neither do|beside)\b",
    ),
    "none or other as an adjective": (
        rf"\b(?:that|which|it) {TO_BE} none\b|\b{TO_BE} no (?!longer|more|way)\w+|\banother than\b",
        r"\b(?:have|is|are|be) others?\b(?= (?:than|now)|[.,;])",
    ),
    "inverted": (
        r"[,;:] (?:and )?so (?:is|are|do|does|did|was|were|has)\b|[,;] neither\b",
        r"^(?:Were|Had|Should) (?:it|they|she|he|the)\b[^?]*$",
    ),
    "article left out": (  # "a line a player"
        (
            r"\b(?:a|one) (?:row|line|file|column|number|point|sheet|process|queue|letter|entry) (?:a|an|each) "
            r"(?:round|player|event|year|process|day|cell|sheet|race|copy|rule)\b"
        ),
    ),
    "too at the end": (r", (?:too|alike|as well)(?=[.;,]|$)",),
}
HABITS = {name: re.compile("|".join(rules)) for name, rules in RULES.items()}
PASSIVE = re.compile(rf"\b{TO_BE} (?:\w+ly |not |also )?(?:\w+(?:ed|en)|made|kept|held|sent|read|said|put|set|shown)\b")
PASSIVES = 2  # of a sentence
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|No|no|cf|Mr|St)\.$")
BOUNDARY = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"“(\[0-9])")
OFF = re.compile(r"<!-- words: off -->.*?(?:<!-- words: on -->|\Z)|<!--.*?-->", re.DOTALL)
ARGUMENT = re.compile(r"^ {4}(?=\w+: )", re.MULTILINE)  # an entry below Args or Raises, a list item
SKIPPED_LINE = re.compile(r"\s*(\||<|\$\$|!\[|\{[*!]|\(\w+\)=$)")


class Passage(NamedTuple):
    """A piece of prose: its file, its line, its kind (`heading` or `prose`), and its text."""

    path: str
    line: int
    kind: str
    text: str


class Finding(NamedTuple):
    """A place that a reader may stumble over."""

    path: str
    line: int
    rule: str
    text: str


@dataclass
class Figures:
    """The figures of a unit."""

    words: int = 0
    lengths: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def count(self, *rules: str) -> int:
        """Return the number of findings of these rules."""
        return sum(each.rule in rules for each in self.findings)

    def bar(self) -> Bar:
        """Return the figures in the form of a bar."""
        sentences = max(1, len(self.lengths))
        habits = len(self.findings) - self.count("long sentence", "long paragraph", "no heading")
        return Bar(
            round(1000 * habits / max(1, self.words), 1),
            round(sum(self.lengths) / sentences, 1),
            round(100 * self.count("long sentence") / sentences, 1),
            self.count("long paragraph"),
            self.count("no heading"),
        )

    def faults(self, most: Bar) -> list[str]:
        """Return the figures that are over a bar, as text."""
        if self.words < SMALL and len(self.findings) <= FEW:
            return []
        pairs = zip(Bar._fields, self.bar(), most, strict=True)
        return [f"{name} {figure:g} (at most {limit:g})" for name, figure, limit in pairs if figure > limit]


def plain(text: str) -> str:
    """Return Markdown as the words that a reader sees."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(?<![`/])\{[a-z]+\}`([^`]*)`", r"\1", text)
    text = re.sub(r"\$[^$]*\$", "X", text)
    return re.sub(r"\s+", " ", re.sub(r"\*\*|__", "", text)).strip()


def sentences(text: str) -> list[str]:
    """Split prose into sentences."""
    parts, current = [], ""
    for piece in BOUNDARY.split(text):
        current = f"{current} {piece}".strip()
        if not ABBREVIATION.search(current):
            parts.append(current)
            current = ""
    return parts + [current] * bool(current)


def markdown(path: str, text: str) -> Iterator[Passage]:
    """Yield headings, paragraphs and list items of Markdown; code, tables and formulas are left out."""
    text = OFF.sub(lambda found: "\n" * found[0].count("\n"), text)
    fence, start, held = "", 0, []

    def flush() -> Iterator[Passage]:
        if held:
            yield Passage(path, start, "prose", plain(" ".join(held)))
            held.clear()

    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(`{3,}|~{3,}|:{3,})", line)
        if mark and (not fence or line.strip().startswith(fence)):
            yield from flush()
            fence = "" if fence else mark[1]
        elif fence or (line.startswith("    ") and not held) or SKIPPED_LINE.match(line) or not line.strip():
            yield from flush()
        elif heading := re.match(r"#+\s+(.*)", line):
            yield from flush()
            yield Passage(path, number, "heading", heading[1])
        elif item := re.match(r"\s*(?:[-*+]|\d+\.)\s+(.*)", line):
            yield from flush()
            start, held = number, [item[1]]
        else:
            start = start if held else number
            held.append(line.strip())
    yield from flush()


def string_of(node: ast.expr) -> str:
    """Return the text of a string in code, with X for inserted values. Other nodes give an empty text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return ""


def is_read_by_people(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call that users read: help, descriptions, error messages."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    yield from (each.value for each in call.keywords if each.arg in {"help", "description", "summary"})
    if name in {"described", "parameter"} or name.endswith("Error"):
        yield from call.args
    elif name in {"option", "flag"}:
        yield from call.args[name == "flag" :][:1]


def python(path: str, text: str) -> Iterator[Passage]:
    """Yield the docstrings, the help, the descriptions and the error messages of a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = getattr(node, "lineno", 1)
            for each in markdown(path, ARGUMENT.sub("    - ", ast.get_docstring(node) or "")):
                yield each._replace(line=first + each.line)
        elif isinstance(node, ast.Call):
            for argument in is_read_by_people(node):
                if words := plain(string_of(argument)):
                    yield Passage(path, argument.lineno, "prose", words)


class VisibleText(HTMLParser):
    """The visible text of a template, one passage per block of HTML."""

    BLOCKS = frozenset(
        [
            "p",
            "h1",
            "h2",
            "h3",
            "h4",
            "li",
            "dt",
            "dd",
            "td",
            "th",
            "label",
            "legend",
            "summary",
            "figcaption",
            "button",
            "option",
            "title",
            "div",
        ]
    )

    def __init__(self, path: str) -> None:
        """Begin a template."""
        super().__init__()
        self.path, self.held, self.hidden = path, "", 0
        self.passages: list[Passage] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block, hide the text of scripts, and add texts for screen readers."""
        self.hidden += tag in {"script", "style"}
        self.flush(tag)
        self.held += " ".join(f"{value}." for name, value in attrs if name in {"alt", "aria-label"} and value)

    def handle_endtag(self, tag: str) -> None:
        """End a block."""
        self.hidden -= tag in {"script", "style"}
        self.flush(tag)

    def handle_data(self, data: str) -> None:
        """Add text to the block."""
        self.held += "" if self.hidden else data

    def flush(self, tag: str) -> None:
        """Keep the text so far if a tag begins or ends a block."""
        if tag in self.BLOCKS:
            if words := plain(self.held):
                self.passages.append(Passage(self.path, self.getpos()[0], "prose", words))
            self.held = ""


def template(path: str, text: str) -> Iterator[Passage]:
    """Yield the visible text of a Jinja template; a value that is filled in counts as one word."""
    parser = VisibleText(path)
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    parser.feed(re.sub(r"\{\{.*?\}\}", "X", text, flags=re.DOTALL))
    parser.flush("p")
    yield from parser.passages


def lines(path: str, text: str) -> Iterator[Passage]:
    """Yield each line of a text file as a passage."""
    for number, line in enumerate(text.splitlines(), 1):
        yield Passage(path, number, "prose", re.sub(r"^\s*(?:e\d+ )?", "", line))


READERS: dict[str, Callable[[str, str], Iterator[Passage]]] = {
    ".md": markdown,
    ".py": python,
    ".html": template,
    ".txt": lines,
}


def findings_in(passage: Passage, sentence: str) -> Iterator[Finding]:
    """Yield the findings in one sentence."""
    found = []
    if len(sentence.split()) > LONG:
        found.append("long sentence")
    if sentence.count(";") > 1 or (";" in sentence and ":" in sentence):
        found.append("semicolons")
    if len(PASSIVE.findall(sentence)) > PASSIVES:
        found.append("passives")
    without_code = re.sub(r"`[^`]*`", "`x`", sentence)
    found += [name for name, rule in HABITS.items() if rule.search(without_code)]
    yield from (Finding(passage.path, passage.line, rule, sentence) for rule in found)


def judge(passages: Iterable[Passage]) -> Figures:
    """Return the figures of a unit."""
    figures, under = Figures(), 0
    for each in passages:
        if each.kind == "heading":
            under = 0
            continue
        size = len(each.text.split())
        figures.words += size
        under += size
        if size > PARAGRAPH:
            figures.findings.append(Finding(each.path, each.line, "long paragraph", each.text))
        if each.path.endswith(".md") and under - size <= SECTION < under:
            figures.findings.append(Finding(each.path, each.line, "no heading", each.text))
        for sentence in sentences(each.text):
            if len(sentence.split()) >= SHORTEST:
                figures.lengths.append(len(sentence.split()))
                figures.findings += findings_in(each, sentence)
    return figures


def units() -> dict[str, list[Path]]:
    """Return the files of each unit by its name.

    Each page is one unit. The reference is left out, because it repeats texts of the code.
    """
    found = {name: [ROOT / name] for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")}
    docs = ROOT / "docs"
    found |= {page.relative_to(ROOT).as_posix(): [page] for page in pages() if page.parent.name != "reference"}
    package = ROOT / "src" / "podium"
    for path in sorted(package.iterdir()):
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        if files and files[0].suffix == ".py":
            found[path.relative_to(ROOT).as_posix()] = files
    found["docs/*.py"] = sorted(docs.glob("*.py"))
    found["templates"] = sorted(package.rglob("*.html"))
    found["explanations"] = [ROOT / "tests" / "ledger" / "sentences.golden.txt"]
    return found


def passages_of(files: Iterable[Path]) -> Iterator[Passage]:
    """Yield the prose of files."""
    for path in files:
        yield from READERS[path.suffix](path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


def pages() -> list[Path]:
    """Return every page of the documentation, without the records of decisions."""
    docs = ROOT / "docs"
    return [page for page in sorted(docs.rglob("*.md")) if page.relative_to(docs).parts[0] not in {"decisions", "site"}]


def length() -> int:
    """Return the number of words in the documentation, code and tables included."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages())


def ratchet(judged: dict[str, Figures]) -> str:
    """Return the lines of RATCHET with today's figures: each unit over the bar, with the figures that are over it."""
    rows = []
    for name, figures in judged.items():
        if figures.faults(BAR):
            pairs = zip(Bar._fields, figures.bar(), BAR, strict=True)
            over = ", ".join(f"{key}={value}" for key, value, limit in pairs if value > limit)
            rows.append(f'    "{name}": Bar({over}),\n')
    return "".join(rows)


def report(judged: dict[str, Figures], shown: str | None) -> tuple[str, int]:
    """Return a table of figures, the worst unit first, and the number of units over their bar."""
    rows = [f"{'habits':>7}{'mean':>6}{'long %':>7}{'paragraphs':>11}{'sections':>9}{'words':>7}  unit"]
    faulty = 0
    for name, figures in sorted(judged.items(), key=lambda item: -item[1].bar().habits):
        bar, over = figures.bar(), figures.faults(RATCHET.get(name, BAR))
        faulty += bool(over)
        row = f"{bar.habits:7.1f}{bar.mean:6.1f}{bar.long:7.1f}{bar.paragraphs:11}{bar.sections:9}{figures.words:7}"
        rows.append(f"{row}  {name}{': ' if over else ''}{', '.join(over)}")
        if shown and shown in name:
            rows += [f"{each.path}:{each.line}: {each.rule}: {each.text}" for each in figures.findings]
    if faulty:
        rows.append(f"{faulty} over the bar. See the findings with: python docs/check_words.py --show NAME")
    return "\n".join(rows) + "\n", faulty


def main() -> int:
    """Print the figures of every unit; return 1 if one is over its bar."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--show", metavar="NAME", help="print every finding in units with this name")
    parser.add_argument("--ratchet", action="store_true", help="print RATCHET with today's figures")
    options = parser.parse_args()
    judged = {name: judge(passages_of(files)) for name, files in units().items()}
    if options.ratchet:
        sys.stdout.write(ratchet(judged))
        return 0
    text, faulty = report(judged, options.show)
    words = length()
    sys.stdout.write(f"{text}The documentation has {words:,} words (at most {MOST:,}).\n")
    return 1 if faulty or words > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
