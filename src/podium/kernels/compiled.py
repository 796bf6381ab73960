"""The one place with numba's options, and where its machine code is kept.

numba's own cache watches only the file that holds the compiled function, so an edited rule in another
file would go on running as old machine code. The cache folder is therefore named after a digest of
every source file of the package, since a kernel may take a constant from any, and of who compiles.
"""

import functools
import hashlib
import importlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import llvmlite
import numba
import numpy as np
import platformdirs
from numba import _dynfunc, types
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.types import Function
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template
from numba.extending import overload, register_jitable

from podium.support.collector import paused_collection

if TYPE_CHECKING:
    from functools import _SingleDispatchCallable


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles what Python calls, and what that calls meanwhile."""

    def compile_extra(self, function: Any) -> Any:
        """The compiled function; compiling makes few cycles, and the collector would walk all of numba."""
        with paused_collection():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk; to load it takes none of numba's registries, which a compilation loads by itself.

    They hold all that numba knows how to type and to lower, and take longer to load than all kernels of a replay. Each
    set of types has an index of its own: numba's of a whole function names the types of every system that was ever
    compiled, and so imports them all.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for arguments of these types; None where there is none, or its file is damaged."""
        with self._guard_against_spurious_io_errors():
            files = self._files_of(sig)
            try:
                data = files.load(self._index_key(sig, target_context.codegen()))
                return None if data is None else self._impl.rebuild(target_context, data)
            except OSError:
                raise
            except Exception:  # noqa: BLE001  (what is no pickle raises nearly anything)
                files.flush()  # an empty index, without which nothing could be stored again
        return None  # of a folder that cannot be read

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the machine code for arguments of these types."""
        with self._guard_against_spurious_io_errors():
            if self._impl.check_cachable(data):
                self._impl.locator.ensure_cache_path()
                self._files_of(sig).save(self._index_key(sig, data.codegen), self._impl.reduce(data))

    def _files_of(self, sig: Any) -> IndexDataCacheFile:
        """The index and the machine code for these types; others of the same digest would only share its index."""
        digest = hashlib.blake2b(str(sig).encode(), digest_size=8).hexdigest()
        return IndexDataCacheFile(
            self._cache_path, f"{self._impl.filename_base}-{digest}", self._impl.locator.get_source_stamp()
        )


class HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into its callers: neither optimised as a whole nor made machine code of."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(NativeLowering):  # type: ignore[misc]
    """numba's step to LLVM's language, into such a library."""

    _name = "helper_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower a helper, and give it the name by which its callers find it: a function without code."""
        state.library = HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        described = lowered.fndesc
        name = described.qualname.rpartition(".")[2]
        function = _dynfunc.make_function(described.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(function, described, [state.library])
        state["cr"] = lowered._replace(cfunc=function)
        return True


class HelperCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles what only kernels and helpers call."""

    def define_pipelines(self) -> list[Any]:
        """The passes of numba, but a helper's way to lower."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(HelperLowering if each is NativeLowering else each, why) for each, why in passes.passes]
        passes.finalize()
        return [passes]


def in_kernels(kinds: Callable[..., Any], *functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say what builds the code of Python functions in kernels, as numba's `intrinsic` does.

    An `overload` that calls an intrinsic is a function more to compile, for each set of types.

    Args:
        kinds: the signature, of numba's context and the types of the arguments; None where it does not serve them.
    """

    def attach(generate: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(kinds)  # numba reads the names of the arguments
        def definition(*given: Any) -> Any:
            signature = kinds(*given)
            return None if signature is None else (signature, generate)

        for function in functions:
            template = make_intrinsic_template(function, definition, function.__name__)
            infer(template)
            infer_global(function, Function(template))
        return generate

    return attach


HOME = Path(__file__).parents[1]  # the package
# Rooms that nothing compiled imports.
WITHOUT_KERNELS = ("cli", "reporting", "pages", "service", "store", "pool", "log", "client", "large", "importers")
# Of machine code that checks every index (NUMBA_BOUNDSCHECK=1), which numba would not keep apart.
BOUNDS_CHECKED_SUFFIX = "-checked"
CACHE_VARIABLE = "PODIUM_CACHE_DIR"
# Without numba's runtime no kernel can allocate, and none counts references to its arrays: counting every
# column for every pair made a replay a hundred times slower. Nothing calls a kernel from C, nor a helper from Python:
# leaving out the functions that would let them be called takes a tenth off the time to compile.
OPTIONS: dict[str, Any] = {"_nrt": False, "forceinline": True, "no_cfunc_wrapper": True}
IN_KERNELS = OPTIONS | {"no_cpython_wrapper": True, "pipeline_class": HelperCompiler}  # of what kernels call
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Value = TypeVar("_Value")


def kernel(function: _Function) -> _Function:
    """Mark a helper of a rule: plain Python to Python, compiled to the compiled."""
    registered: _Function = register_jitable(**IN_KERNELS)(function)
    return registered


RULES: dict[Any, Callable[..., Any]] = {}  # what each does by default


def rule(default: Callable[..., _Value]) -> "_SingleDispatchCallable[_Value]":
    """Mark what one function or another does by the type of the first argument, a NamedTuple: alike in kernels."""
    chosen = functools.singledispatch(default)
    RULES[chosen] = default

    @overload(chosen, jit_options=IN_KERNELS, strict=False)  # not strict, as `register_jitable` is not
    def choose(first: Any, *_others: Any) -> Callable[..., Any] | None:
        is_record = isinstance(first, types.NamedTuple | types.NamedUniTuple)
        return chosen.dispatch(first.instance_class) if is_record else None

    return chosen


_versions: dict[type[Any], dict[tuple[Any, ...], type[Any]]] = {}  # by parameters' type, and by its own rules
SHIPPED: set[type[Any]] = set()  # versions of which Podium itself registered every rule


def version_of(kind: type[Any]) -> type[Any]:
    """The type of parameters that kernels are compiled for: another one for each set of rules that `kind` had.

    numba compiles once for a type, and would go on with the rules of that time.
    """
    functions = tuple([own for rule, default in RULES.items() if (own := rule.dispatch(kind)) is not default])
    versions = _versions.setdefault(kind, {})
    if functions not in versions:
        if versions:
            versions[functions] = type(kind.__name__ + ".again" * len(versions), (kind,), {"__slots__": ()})
        else:
            qualify(kind)
            versions[functions] = kind
            if all(function.__module__.startswith("podium.") for function in functions):
                SHIPPED.add(kind)
    return versions[functions]


def qualify(kind: type[Any]) -> None:
    """Give a type of numbers its module's name too.

    numba names machine code after the names of its arguments' types, and takes types of one name for one: two systems
    loaded from the cache would run each other's code where both call them `Params`, and a stranger's `State` would be
    written into the cache of Podium's own, which no process without that stranger could read.
    """
    if "." not in kind.__name__:
        kind.__name__ = f"{kind.__module__}.{kind.__qualname__}"


def digest(folder: Path = HOME) -> str:
    """Sixteen hex digits that change with any source file that a kernel can be made from, and with what compiles them.

    Rooms import only rooms below them, so what stands above all kernels reaches none.

    numba's own cache tells processors apart, and the versions of numba and Python.
    """
    versions = platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__
    hashed = hashlib.blake2b(" ".join(versions).encode(), digest_size=8)
    for name, path in sorted(source_files(str(folder))):
        with open(path, "rb") as file:  # noqa: PTH123  (a hundred of them, at each start)
            source = file.read()
        # Lengths part the names and the texts: no two sets of files are one string.
        hashed.update(f"\n{name} {len(source)}\n".encode() + source)
    return hashed.hexdigest()


def source_files(folder: str, within: str = "") -> Iterator[tuple[str, str]]:
    """The source files that a kernel can be made from: the name within the folder, and the path."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = within + entry.name
            if entry.name.endswith(".py"):
                yield name, entry.path
            elif name not in WITHOUT_KERNELS and entry.is_dir():
                yield from source_files(entry.path, f"{name}/")


@functools.cache
def cache_folder() -> str:
    """The folder for machine code made from the sources as they are now.

    `PODIUM_CACHE_DIR` overrides the user's cache folder; where neither can be written, a temporary
    folder serves this process alone.
    """
    root = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("podium")
    folder = Path(root) / (digest() + BOUNDS_CHECKED_SUFFIX if numba.config.BOUNDSCHECK else digest())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return tempfile.mkdtemp(prefix="podium-")
    return str(folder)


def load_without_blas() -> None:
    """Load numba's array module as if SciPy's BLAS were missing: a command's kernels need none, and it takes 0.3 s.

    For a process of Podium's own: other users of numba in the process could not call `np.dot` in kernels.
    """
    blas = "scipy.linalg"
    if blas in sys.modules:
        return
    modules: dict[str, Any] = sys.modules
    modules[blas] = None  # how Python marks a module that cannot be imported
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules[blas]


class FirstCompilation(event.Listener):  # type: ignore[misc]
    """Calls a function when the process begins to compile for the first time."""

    def __init__(self, announce: Callable[[bool], None]) -> None:
        self.announce: Callable[[bool], None] | None = announce

    def on_start(self, event: Any) -> None:
        """A kernel is compiled, since no machine code of it was found on disk."""
        announce, self.announce = self.announce, None
        if announce is not None:
            announce(event.data["dispatcher"].stats.cache_path is not None)

    def on_end(self, event: Any) -> None:
        """A kernel is compiled."""


def compile_without_blas() -> None:
    """Load what the first compilation needs without SciPy's BLAS; machine code from the disk needs nothing of it."""
    event.register("numba:compile", FirstCompilation(lambda _: load_without_blas()))


def announce_compiling(announce: Callable[[bool], None]) -> None:
    """Call a function once, before the first kernel is compiled, with whether later processes find its machine code."""
    event.register("numba:compile", FirstCompilation(announce))


def compile_twice(function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The kernel whose machine code is kept on disk, keyed by Podium's sources, and that for a stranger's rules."""
    return compile_kernel(function), compile_kernel(function, cached=False)


def compile_kernel(function: Callable[..., Any], *, cached: bool = True) -> Callable[..., Any]:
    """Compile a module-level function on its first call, without the GIL and without `fastmath`.

    Division follows IEEE 754 (`error_model="numpy"`): the rules never divide by zero, and the check
    would keep loops from being vectorised.
    """
    before = numba.config.CACHE_DIR  # another library's cache is not ours to move
    numba.config.CACHE_DIR = cache_folder() if cached else before
    try:
        compiled: Callable[..., Any] = numba.njit(
            function, error_model="numpy", nogil=True, pipeline_class=KernelCompiler, **OPTIONS
        )
        if cached:
            compiled._cache = KernelCache(function)  # type: ignore[attr-defined]  # noqa: SLF001  (as `cache=True` does)
    finally:
        numba.config.CACHE_DIR = before
    return compiled
