"""Numba's compilers, with less work for helpers of kernels, which only kernels call."""

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import NativeLowering
from numba.core.types.functions import BaseFunction

from podium.support.collector import paused_collection


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles functions that are called from Python."""

    def compile_extra(self, function: Any) -> Any:
        """Compile with garbage collection paused, and without work that numba would repeat.

        Compiling creates few cycles, but each collection would visit all of numba's objects. For each use of an
        operator, numba would try all its definitions again, and format an error for each one that does not apply. After
        most passes, it would compute the lifetimes of variables, which only the last pass reads.
        """
        resolve, analyse, known = BaseFunction.get_call_type, PostProcessor.run, {}

        def resolve_once(function: Any, context: Any, args: Any, kws: Any) -> Any:
            key = function, *args, *kws.items()
            if key not in known:
                known[key] = resolve(function, context, args, kws)
            return known[key]

        def analyse_once(processor: Any, *options: Any, **more: Any) -> None:
            code = processor.func_ir
            if options or more or code.is_generator:
                analyse(processor, *options, **more)
            else:
                code.blocks = canonicalize_cfg(code.blocks)
                code.variable_lifetime = VariableLifetime(code.blocks)  # computed when it is first read

        BaseFunction.get_call_type = resolve_once  # type: ignore[assignment, method-assign]
        PostProcessor.run = analyse_once
        try:
            with paused_collection():
                return super().compile_extra(function)
        finally:
            BaseFunction.get_call_type, PostProcessor.run = resolve, analyse  # type: ignore[method-assign]

    def define_pipelines(self) -> list[Any]:
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


class HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into its callers, without being optimised or compiled to machine code by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(NativeLowering):  # type: ignore[misc]
    """Numba's lowering to LLVM code, with a `HelperLibrary` as its target."""

    _name = "helper_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower a helper. Under the name that its callers look up, register a function without code."""
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
    """Compiles functions that only kernels and helpers call."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, with the lowering pass replaced by the one for helpers."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(HelperLowering if step is NativeLowering else step, why) for step, why in passes.passes]
        passes.finalize()
        return [passes]
