"""Describe errors in a system's own code in one sentence: the rule, the file, the line and the reason."""

import inspect
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.engine import rules
from podium.engine.system import System
from podium.errors import RuleError
from podium.kernels.compiled import HOME, RULES
from podium.support.words import suggestion

# Patterns of numba's messages: a location, and the lines around a cause.
LOCATION = re.compile(r'(?P<indent> *)File "(?P<file>.+)", line (?P<line>\d+):')
HELPER = re.compile(r"Untyped global name ('\w+'):.*<class 'function'>")
FRAMING = ("Failed in", "Rejected as", "There are", "During:", "- Of which", "Overload", "raised from", "^")


@contextmanager
def translate_errors(system: System, function: Any, rule: Any = None) -> Iterator[None]:
    """Turn an error in a system's own code into a RuleError whose message names the line that raised it."""
    try:
        yield
    except RuleError:
        raise
    except NotImplementedError as error:
        lacking = str(error) or f"{type(system).__name__} has no method {function.__name__}()"
        raise RuleError(f"{whereabouts(type(system))}: {lacking}") from None
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own_code(frame.filename, system)]
        where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else whereabouts(function)
        name = f"{function.__name__}()" if rule is None else rule_title(rule, system)
        raise RuleError(f"{where}: {name} cannot run: {reason(error)}") from None


def compile_sentence(system: System, error: Exception) -> RuleError:
    """Convert numba's error to one sentence, with the deepest rule and line of the author's code in the error."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()
    for number, line in enumerate(lines):
        place = LOCATION.fullmatch(line)
        if place is not None and is_own_code(place["file"], system):
            file, own_line = str(Path(place["file"]).resolve()), int(place["line"])
            cause = numba_reason(lines[:number], len(place["indent"]))
            subject = name_at(system, file, own_line)
            return RuleError(f"{file}:{own_line}: {subject} runs in Python but cannot be compiled: {cause}")
    return RuleError(f"{whereabouts(type(system))}: {system.name} cannot be compiled: {lines[0]}")


def numba_reason(lines: list[str], indent: int) -> str:
    """Return the reason above a location in numba's message: the first line of the block with the same indentation."""
    cause, signature = "", ""
    for line in reversed(lines):
        text, depth = line.strip(), len(line) - len(line.lstrip())
        if text and depth < indent:
            break
        if text.startswith(">>> ") and depth == indent + 1:
            signature = text.removeprefix(">>> ")
        elif text and depth == indent and not text.startswith(FRAMING):
            cause = text
    if (helper := HELPER.match(cause)) is not None:
        return f"the helper {helper[1]} is not marked with @podium.engine.rules.kernel"
    cause = f"numba has no {signature}" if cause.startswith("No implementation") and signature else cause
    return re.sub(r"podium_file_\w+\.|\(float64 x \d+\)", "", cause) or "numba gives no reason"


def name_at(system: System, file: str, line: int) -> str:
    """Return the title of the rule that contains a line, or the system's name if the line belongs to a helper."""
    for rule in RULES:
        code = rule.dispatch(type(system.params())).__code__
        last = max(number for _, _, number in code.co_lines() if number is not None)
        if str(Path(code.co_filename).resolve()) == file and code.co_firstlineno <= line <= last:
            return rule_title(rule, system)
    return system.name


def is_own_code(file: str, system: System) -> bool:
    """Return True if a file is the author's or one of Podium's systems, not other Podium code or a library."""
    path = Path(file).resolve()
    if system.shipped:
        return path.is_relative_to(HOME / "systems")
    return not path.is_relative_to(HOME) and "numba" not in path.parts


def reason(error: Exception) -> str:
    """Return the description of an error. If a field does not exist, suggest the most similar one that does."""
    kind = type(getattr(error, "obj", None))
    if isinstance(error, AttributeError) and is_record(kind):
        return missing_field(kind, str(error.name))
    return f"{type(error).__name__}: {error}"


def missing_field(kind: type[Any], field: str) -> str:
    """Return a sentence that names the field that a NamedTuple lacks, and lists its fields."""
    hint = suggestion(field, kind._fields)
    return f"{kind.__name__.rpartition('.')[2]} has no field {field!r}{hint} (it has {', '.join(kind._fields)})"


def is_record(kind: Any) -> bool:
    """Return True if a type is a NamedTuple."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def description(value: Any) -> str:
    """Describe a value by its type, or a tuple by the types of its members."""
    if isinstance(value, tuple) and not is_record(type(value)):
        return f"({', '.join(type(item).__name__ for item in value)})"
    return type(value).__name__ if value is not None else "nothing"


def rule_title(rule: Any, system: System) -> str:
    """Describe a rule in terms of the function that the system calls for it."""
    function = rule.dispatch(type(system.params()))
    is_default = function.__module__ == rules.__name__
    return f"the rule {rule.__name__}" if is_default else f"{function.__name__} ({rule.__name__})"


def whereabouts(item: Any) -> str:
    """Return the file and line that define a function or class, or its module if the source is not available."""
    try:
        lines, first = inspect.getsourcelines(item)
        file = inspect.getsourcefile(item)
    except (OSError, TypeError):
        code = getattr(item, "__code__", None)
        return str(item.__module__) if code is None else f"{code.co_filename}:{code.co_firstlineno}"
    decorators = next((k for k, line in enumerate(lines) if line.lstrip().startswith(("def ", "class "))), 0)
    return f"{file}:{first + decorators}"
