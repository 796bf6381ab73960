"""How kernels and their helpers are compiled: a helper only as far as the kernel that takes it in needs it.

numba would optimise each helper and make machine code of it, with all that it calls, and again in every caller: half
of the time to compile. Nothing runs a helper but a kernel, which optimises what it takes in anyway.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from numba import _dynfunc
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.types import Function
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template

from podium.support.collector import paused_collection


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles what Python calls, and what that calls meanwhile."""

    def compile_extra(self, function: Any) -> Any:
        """The compiled function; compiling makes few cycles, and the collector would walk all of numba."""
        with paused_collection():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """The passes of numba."""
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


def in_kernels(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say what a Python function is in kernels: its type, and what builds its code; as numba's `intrinsic` does.

    An `overload` that calls an intrinsic is a function more to compile, for each set of types.
    """

    def attach(definition: Callable[..., Any]) -> Callable[..., Any]:
        template = make_intrinsic_template(function, definition, function.__name__)
        infer(template)
        infer_global(function, Function(template))
        return definition

    return attach
