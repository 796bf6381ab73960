"""Compile kernels. Only this module sets numba's options and the folder for machine code.

numba's own cache watches only the file of the compiled function. If you edited a rule in another file, numba would keep
running the old machine code. The name of the cache folder is therefore a digest of the compiler and of every source
file in the package, because a kernel may use a constant from any of them.
"""

import functools
import hashlib
import importlib
import math
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import llvmlite
import numba
import numpy as np
import platformdirs
from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.datamodel.models import PrimitiveModel
from numba.core.types import Function
from numba.core.typing.templates import AttributeTemplate, infer, infer_getattr, infer_global, make_intrinsic_template
from numba.extending import (
    NativeValue,
    lower_getattr_generic,
    overload,
    register_jitable,
    register_model,
    typeof_impl,
    unbox,
)

from podium.kernels.compilers import HelperCompiler, KernelCompiler

if TYPE_CHECKING:
    from functools import _SingleDispatchCallable


_Value = TypeVar("_Value")


class KernelCache(FunctionCache):  # type: ignore[misc]
    """A cache of machine code on disk that is loaded without numba's registries.

    The registries list everything that numba can type and lower. Loading them takes longer than loading all kernels of
    a replay. Each set of types has its own index, because numba's index for a function names the types of every system
    ever compiled, and reading it would import them all.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for arguments of these types, or None if it is missing or damaged."""
        with self._guard_against_spurious_io_errors():
            files = self._files_of(sig)
            try:
                data = files.load(self._index_key(sig, target_context.codegen()))
                return None if data is None else self._impl.rebuild(target_context, data)
            except OSError:
                raise
            except Exception:  # noqa: BLE001  (a damaged pickle can raise nearly anything)
                files.flush()  # writes an empty index, because nothing could be stored without one
        return None  # the folder cannot be read

    def has(self, sig: Any) -> bool:
        """Return True if there is machine code for arguments of these types."""
        return Path(self._files_of(sig)._index_path).exists()  # noqa: SLF001

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the machine code for arguments of these types."""
        with self._guard_against_spurious_io_errors():
            if self._impl.check_cachable(data):
                self._impl.locator.ensure_cache_path()
                self._files_of(sig).save(self._index_key(sig, data.codegen), self._impl.reduce(data))

    def _files_of(self, sig: Any) -> IndexDataCacheFile:
        """Return the files with the index and code for these types. Types with equal digests share only the index."""
        digest = hashlib.blake2b(str(sig).encode(), digest_size=8).hexdigest()
        return IndexDataCacheFile(
            self._cache_path, f"{self._impl.filename_base}-{digest}", self._impl.locator.get_source_stamp()
        )


def in_kernels(kinds: Callable[..., Any], *functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register code that replaces a Python function in kernels, like numba's `intrinsic`.

    With an `overload` that calls an intrinsic, numba would compile one more function for each set of types.

    Args:
        kinds: Function that takes numba's context and the types of the arguments, and returns the signature, or None if
            it does not apply.
    """

    def attach(generate: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(kinds)  # numba reads the argument names
        def definition(*given: Any) -> Any:
            signature = kinds(*given)
            return None if signature is None else (signature, generate)

        for function in functions:
            template = make_intrinsic_template(function, definition, function.__name__)
            infer(template)
            infer_global(function, Function(template))
        return generate

    return attach


class Reference(types.Type):  # type: ignore[misc]
    """A NamedTuple of many arrays that kernels hold as a pointer.

    Numba would pass each size and stride of each array as an argument of its own. More than half of the code before
    optimisation would then take such tuples apart and put them together.
    """

    def __init__(self, instance_class: type[Any], members: tuple[Any, ...]) -> None:
        self.instance_class, self.members = instance_class, members
        self.tuple_type = types.NamedTuple(members, instance_class)
        short = hashlib.blake2b(str(self.tuple_type).encode(), digest_size=8).hexdigest()
        super().__init__(f"{instance_class.__name__}_{short}")  # a part of the names of machine code

    @property
    def key(self) -> Any:
        return self.instance_class, self.members

    def member(self, name: str) -> int:
        """Return the position of a field."""
        return int(self.instance_class._fields.index(name))


@register_model(Reference)
class ReferenceModel(PrimitiveModel):  # type: ignore[misc]
    """Stores a reference as a pointer to the fields."""

    def __init__(self, models: Any, kind: Reference) -> None:
        fields = ir.global_context.get_identified_type(str(kind))  # a short name in place of a list of fields
        if fields.is_opaque:
            fields.set_body(*models.lookup(kind.tuple_type).get_value_type())
        super().__init__(models, kind, fields.as_pointer())


@infer_getattr
class ReferenceFields(AttributeTemplate):  # type: ignore[misc]
    """Gives the types of the fields."""

    key = Reference

    def generic_resolve(self, kind: Reference, name: str) -> Any:
        """Return the type of a field, or None if there is no such field."""
        return kind.members[kind.member(name)] if name in kind.tuple_type.fields else None


@lower_getattr_generic(Reference)
def _load_field(context: Any, builder: Any, kind: Reference, pointer: Any, name: str) -> Any:
    return builder.load(cgutils.gep_inbounds(builder, pointer, 0, kind.member(name)))


@unbox(Reference)
def _store_fields(kind: Reference, value: Any, c: Any) -> Any:
    fields = c.unbox(kind.tuple_type, value)
    pointer = cgutils.alloca_once(c.builder, c.context.get_value_type(kind).pointee)
    for k, field in enumerate(cgutils.unpack_tuple(c.builder, fields.value)):
        c.builder.store(field, cgutils.gep_inbounds(c.builder, pointer, 0, k))
    return NativeValue(pointer, is_error=fields.is_error, cleanup=fields.cleanup)


def by_reference(kind: type[_Value]) -> type[_Value]:
    """Mark a NamedTuple of arrays, which kernels then receive as a `Reference`. Kernels only read its fields."""

    @typeof_impl.register(kind)
    def _(value: Any, context: Any) -> Reference:
        return Reference(type(value), tuple(typeof_impl(member, context) for member in value))

    return kind


HOME = Path(__file__).parents[1]  # the package
# Packages that kernels never import.
WITHOUT_KERNELS = (
    "cli",
    "reporting",
    "pages",
    "service",
    "store",
    "views",
    "pool",
    "log",
    "client",
    "large",
    "importers",
)
# Suffix for machine code that checks every index (NUMBA_BOUNDSCHECK=1). Numba would not store it separately.
BOUNDS_CHECKED_SUFFIX = "-checked"
CACHE_VARIABLE = "PODIUM_CACHE_DIR"
# Without numba's runtime, kernels cannot allocate memory and do not count references to their arrays. Counting
# references for every pair made a replay a hundred times slower. Nothing calls a kernel from C or a helper from Python.
# Leaving out these wrappers saves a tenth of the compile time.
OPTIONS: dict[str, Any] = {"_nrt": False, "forceinline": True, "no_cfunc_wrapper": True}
IN_KERNELS = OPTIONS | {"no_cpython_wrapper": True, "pipeline_class": HelperCompiler}  # for functions that kernels call


def kernel(function: _Value) -> _Value:
    """Mark a helper function of a rule: plain Python when called from Python, compiled when called from kernels."""
    registered: _Value = register_jitable(**IN_KERNELS)(function)
    return registered


RULES: dict[Any, Callable[..., Any]] = {}  # the default implementation of each rule


def rule(default: Callable[..., _Value]) -> "_SingleDispatchCallable[_Value]":
    """Mark a rule: a function whose implementation is chosen by the type of its first argument, a NamedTuple."""
    chosen = functools.singledispatch(default)
    RULES[chosen] = default

    @overload(chosen, jit_options=IN_KERNELS, strict=False)  # lenient, like `register_jitable`
    def choose(first: Any, *_others: Any) -> Callable[..., Any] | None:
        is_record = isinstance(first, types.NamedTuple | types.NamedUniTuple | Reference)
        return chosen.dispatch(first.instance_class) if is_record else None

    return chosen


_versions: dict[type[Any], dict[tuple[Any, ...], type[Any]]] = {}  # by the type of the parameters and its rules
SHIPPED: set[type[Any]] = set()  # versions with only Podium's own rules


def version_of(kind: type[Any]) -> type[Any]:
    """Return the parameter type for which kernels are compiled: a new type for each set of rules registered for `kind`.

    Numba compiles once per type, and would otherwise keep using the old rules.
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
    """Add the module's name to the name of a type.

    Numba names machine code after its argument types, and treats types with the same name as equal. Two systems loaded
    from the cache would run each other's code if both called their parameters `Params`. A third-party `State` would be
    written into the cache of Podium's own types, and other processes could then not read it.
    """
    if "." not in kind.__name__:
        kind.__name__ = f"{kind.__module__}.{kind.__qualname__}"


def digest(folder: Path = HOME) -> str:
    """Return 16 hex digits that change whenever the compiler or any source file of a kernel changes.

    Packages import only packages below them, so packages above all kernels are excluded. numba's own cache
    distinguishes processors and the versions of numba and Python.
    """
    versions = platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__
    hashed = hashlib.blake2b(" ".join(versions).encode(), digest_size=8)
    for name, path in sorted(source_files(str(folder))):
        with open(path, "rb") as file:  # noqa: PTH123  (faster for the hundred files that are read at each start)
            source = file.read()
        # The lengths ensure that no two sets of files give the same string.
        hashed.update(f"\n{name} {len(source)}\n".encode() + source)
    return hashed.hexdigest()


def source_files(folder: str, within: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name within the folder, and the path, of each source file that a kernel can depend on."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = within + entry.name
            if entry.name.endswith(".py"):
                yield name, entry.path
            elif name not in WITHOUT_KERNELS and entry.is_dir():
                yield from source_files(entry.path, f"{name}/")


@functools.cache
def cache_folder() -> str:
    """Return the folder for machine code that is compiled from the current sources.

    `PODIUM_CACHE_DIR` overrides the user's cache folder. If neither can be written to, this process uses a temporary
    folder.
    """
    root = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("podium")
    folder = Path(root) / (digest() + BOUNDS_CHECKED_SUFFIX if numba.config.BOUNDSCHECK else digest())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return tempfile.mkdtemp(prefix="podium-")
    return str(folder)


def load_without_blas() -> None:
    """Load numba's array module as if SciPy's BLAS were missing. Kernels do not need it, and loading it takes 0.3 s.

    Use this only in Podium's own processes, because other users of numba could not call `np.dot` in kernels.
    """
    blas = "scipy.linalg"
    if blas in sys.modules:
        return
    modules: dict[str, Any] = sys.modules
    modules[blas] = None  # tells Python that the module cannot be imported
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules[blas]


class FirstCompilation(event.Listener):  # type: ignore[misc]
    """Calls a function when the process compiles something for the first time."""

    def __init__(self, announce: Callable[[bool], None]) -> None:
        self.announce: Callable[[bool], None] | None = announce

    def on_start(self, event: Any) -> None:
        """Handle the start of a compilation, which shows that the machine code was not on disk."""
        announce, self.announce = self.announce, None
        if announce is not None:
            announce(event.data["dispatcher"].stats.cache_path is not None)

    def on_end(self, event: Any) -> None:
        """Handle the end of a compilation."""


def compile_without_blas() -> None:
    """Load the modules for the first compilation without SciPy's BLAS.

    Machine code that is loaded from disk does not need these modules.
    """
    announce_compiling(lambda _: load_without_blas())


def announce_compiling(announce: Callable[[bool], None]) -> None:
    """Call a function once before the first compilation, with True if the machine code will be saved to disk."""
    event.register("numba:compile", FirstCompilation(announce))


def compile_twice(function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return two kernels: one cached on disk, keyed by Podium's sources, and one for third-party rules."""
    return compile_kernel(function), compile_kernel(function, cached=False)


def compile_kernel(function: Callable[..., Any], *, cached: bool = True) -> Callable[..., Any]:
    """Compile a module-level function on its first call, without the GIL and without `fastmath`.

    Division follows IEEE 754 (`error_model="numpy"`). Rules never divide by zero, and a check for zero would prevent
    vectorisation.
    """
    before = numba.config.CACHE_DIR  # other libraries keep their own cache folder
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


MAX_INTERPRETED = 10_000  # steps of about 10 µs in Python; compiling a kernel takes seconds
_interpreted: dict[tuple[Any, type[Any]], float] = {}  # steps by kernel and first argument; infinite with machine code
_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


@contextmanager
def compiling_at_once() -> Iterator[None]:
    """Compile every kernel on its first call in this thread."""
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


def run_by_steps(kernel: Any, steps: int, *arguments: Any) -> Any:
    """Run a kernel in plain Python, which gives the same bits, until all its calls together justify compiling it.

    Python raises errors where machine code gives infinity or NaN. The machine code then starts again.

    Args:
        kernel: a kernel that is cached on disk. Machine code on disk is always used.
        steps: the approximate number of rounds in its inner loops.
    """
    key = kernel, type(arguments[0])
    if key not in _interpreted:
        always = numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK
        _interpreted[key] = math.inf if always or is_stored(kernel, arguments) else 0.0
    _interpreted[key] += math.inf if _at_once.get() else steps
    if _interpreted[key] > MAX_INTERPRETED:
        return kernel(*arguments)
    before = [(table, table.copy()) for table in writable(arguments)]
    try:
        with np.errstate(all="raise", over="ignore", under="ignore"):  # hashes of integers wrap around
            return kernel.py_func(*arguments)
    except (ArithmeticError, ValueError):
        for table, numbers in before:
            table[...] = numbers
        return kernel(*arguments)


def is_stored(kernel: Any, arguments: tuple[Any, ...]) -> bool:
    """Return True if a kernel's machine code for these arguments is on disk."""
    return bool(kernel._cache.has(tuple(map(kernel.typeof_pyval, arguments))))  # noqa: SLF001


def writable(arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the arrays among the arguments, and in their records, that a kernel may change."""
    for each in arguments:
        if isinstance(each, tuple):
            yield from writable(each)
        elif isinstance(each, np.ndarray) and each.flags.writeable:
            yield each
