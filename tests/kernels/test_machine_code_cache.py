"""Machine code on disk: one process stores it, and another loads it if the source is unchanged."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.types.functions import BaseFunction

from podium.kernels import compiled
from podium.kernels.compiled import MAX_INTERPRETED, compile_kernel, compiling_at_once, run_by_steps

MODULE = """
from podium.kernels.compiled import compile_kernel


@compile_kernel
def scaled(number):
    return {factor} * number
"""
PROGRAM = """
import json, sys
from scaling import scaled

value, counts = scaled(21.0), (scaled.stats.cache_hits, scaled.stats.cache_misses)
print(json.dumps([value, *(sum(each.values()) for each in counts), "numba.np.arraymath" in sys.modules]))
"""
# Hits and misses of the cache, and True if numba's registries were loaded, which takes longer than loading machine
# code.
COMPILED, LOADED = [0, 1, True], [1, 0, False]


def run_program(program, folder):
    """Run a program in a separate process, with modules and machine code in a folder, and return its output."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PODIUM_CACHE_DIR": str(folder / "cache"),
    }
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment, cwd=folder)
    return json.loads(done.stdout)


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a kernel in a separate process, and returns its value and if it was compiled or
    loaded.
    """

    def run_kernel(factor):
        (tmp_path / "scaling.py").write_text(MODULE.format(factor=factor))
        value, *source = run_program(PROGRAM, tmp_path)
        return value, source

    return run_kernel


def test_another_process_loads_the_stored_code_of_the_same_source(run):
    assert run("2.0") == (42.0, COMPILED)
    assert run("2.0") == (42.0, LOADED)
    assert run("3.0") == (63.0, COMPILED)  # a source of the same length
    assert run("3.0") == (63.0, LOADED)


def test_numba_resolves_each_operator_once_in_a_compilation(monkeypatch):
    resolved, resolve = [], BaseFunction.get_call_type

    def counted(function, context, args, kws):
        resolved.append((function, *args))
        return resolve(function, context, args, kws)

    monkeypatch.setattr(BaseFunction, "get_call_type", counted)

    def tripled(number):
        return number + number + number

    assert compile_kernel(tripled, cached=False)(2.0) == 6.0
    assert resolved
    assert len(resolved) == len(set(resolved))
    assert BaseFunction.get_call_type is counted  # other users of numba find it as it was


PARAMETERS = """
from typing import NamedTuple


class {name}(NamedTuple):
    value: float
"""
READING = """
from podium.kernels.compiled import compile_kernel


@compile_kernel
def read_value(parameters):
    return parameters.value
"""
READING_BOTH = """
import first, second
from reading import read_value

print([read_value(first.First(1.0)), read_value(second.Second(2.0))])
"""
READING_FIRST = """
import json, sys
import first
from reading import read_value

print(json.dumps([read_value(first.First(1.0)), sum(read_value.stats.cache_hits.values()), "second" in sys.modules]))
"""


def test_code_compiled_for_other_types_is_not_loaded(tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(PARAMETERS.format(name=name.title()))
    (tmp_path / "reading.py").write_text(READING)
    assert run_program(READING_BOTH, tmp_path) == [1.0, 2.0]
    assert run_program(READING_FIRST, tmp_path) == [1.0, 1, False]


DAMAGING = """
import importlib, json
from pathlib import Path
import scaling


def counts():
    scaled = importlib.reload(scaling).scaled  # reloaded, so that it looks on the disk
    value = scaled(21.0)
    return [value, *(sum(each.values()) for each in (scaled.stats.cache_hits, scaled.stats.cache_misses))]


found = {"": counts()}
for suffix in ("nbi", "nbc"):
    for content in ("", "damaged"):
        (file,) = Path("cache").rglob(f"*.{suffix}")
        file.write_text(content)
        found[f"{suffix} {content}"] = [counts(), counts()]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """Return for each damaged file if its code was loaded or compiled. One process damages all files in turn."""
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "scaling.py").write_text(MODULE.format(factor="2.0"))
    found = run_program(DAMAGING, folder)
    assert found.pop("") == [42.0, 0, 1]
    return found


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("content", ["", "damaged"])
def test_a_damaged_file_is_compiled_again(damaged, suffix, content):
    """A loss of power can leave an empty file."""
    assert damaged[f"{suffix} {content}"] == [[42.0, 0, 1], [42.0, 1, 0]]


def divide(numbers, divisors):
    for k in range(numbers.size):
        numbers[k] /= divisors[k]


@pytest.fixture
def divide_kernel(tmp_path, monkeypatch):
    """Return a kernel whose machine code is stored nowhere."""
    monkeypatch.setattr(compiled, "cache_folder", lambda: str(tmp_path))
    return compile_kernel(divide)


def divided(kernel, steps, divisors):
    numbers = np.ones(len(divisors))
    run_by_steps(kernel, steps, numbers, np.array(divisors))
    return numbers.tolist()


def test_a_kernel_runs_in_python_until_its_work_justifies_compiling(divide_kernel):
    for _ in range(2):
        assert divided(divide_kernel, MAX_INTERPRETED // 2, [2.0, 4.0]) == [0.5, 0.25]
        assert not divide_kernel.overloads
    assert divided(divide_kernel, 1, [2.0, 4.0]) == [0.5, 0.25]
    assert divide_kernel.overloads


def test_machine_code_starts_again_after_an_error_in_python(divide_kernel):
    assert divided(divide_kernel, 1, [2.0, 0.0]) == [0.5, np.inf]
    assert divide_kernel.overloads


def multiply(numbers, factors):
    for k in range(numbers.size):
        numbers[k] *= factors[k]


def test_products_of_integers_wrap_around_in_python():
    """The predictions' hashes do so, and would otherwise be compiled for one pair."""
    kernel, numbers = compile_kernel(multiply), np.array([2**63 + 1], np.uint64)
    run_by_steps(kernel, 1, numbers, np.array([3], np.uint64))
    assert numbers.tolist() == [2**63 + 3]
    assert not kernel.overloads


def test_a_kernel_is_compiled_at_once_if_asked(divide_kernel):
    with compiling_at_once():
        assert divided(divide_kernel, 1, [2.0]) == [0.5]
    assert divide_kernel.overloads
    assert divided(compile_kernel(divide), 1, [4.0]) == [0.25]  # from the disk
