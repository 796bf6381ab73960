"""What a command does before it rates: load the engine without what no rule needs, and say when it compiles."""

import functools

import typer


@functools.cache
def prepare() -> None:
    """Load the engine; once a process, and before anything compiles."""
    from podium.kernels.compiled import announce_compiling, compile_without_blas

    compile_without_blas()
    announce_compiling(say_that_it_compiles)


def say_that_it_compiles(found_later: bool) -> None:  # noqa: FBT001  (the engine calls it so)
    """Say on stderr why nothing happens for some seconds."""
    from podium.kernels.compiled import cache_folder

    if found_later:
        when = f"once for each system; later runs find the machine code in {cache_folder()}"
    else:
        when = "as in every run of a system of your own"
    typer.echo(f"podium: compiling, {when}", err=True)
