"""Machine code on disk: one process stores it, another loads it, as long as the source is what it was."""

import json
import os
import subprocess
import sys

import pytest

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
# Hits and misses of the cache, and whether numba's registries were loaded, which take longer to load than machine code.
COMPILED, LOADED = [0, 1, True], [1, 0, False]


@pytest.fixture
def run(tmp_path):
    """Runs a kernel in a process of its own: its value, and whether it was compiled or loaded."""
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = os.environ | {
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PODIUM_CACHE_DIR": str(tmp_path / "cache"),
    }

    def run_kernel(factor):
        (tmp_path / "scaling.py").write_text(MODULE.format(factor=factor))
        program = [sys.executable, "-c", PROGRAM]
        output = subprocess.run(program, check=True, capture_output=True, text=True, env=environment).stdout
        value, *source = json.loads(output)
        return value, source

    return run_kernel


def test_another_process_loads_what_one_stored_for_the_same_source(run):
    assert run("2.0") == (42.0, COMPILED)
    assert run("2.0") == (42.0, LOADED)
    assert run("3.0") == (63.0, COMPILED)  # of a source that is as long
    assert run("3.0") == (63.0, LOADED)


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"damaged"])
def test_a_damaged_file_is_compiled_anew(run, tmp_path, suffix, content):
    """An empty one is what a loss of power leaves."""
    run("2.0")
    (file,) = (tmp_path / "cache").rglob(f"*.{suffix}")
    file.write_bytes(content)
    assert run("2.0") == (42.0, COMPILED)
    assert run("2.0") == (42.0, LOADED)
