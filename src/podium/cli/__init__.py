"""The command line: each command reads, calls the library, and shows what came back."""

import os
import sys
from typing import Any


def main() -> None:
    """Run `podium`. Status 0, 2 for bad input or usage, 130 when interrupted; never a traceback for those."""
    import typer

    from podium.cli.app import app
    from podium.errors import PodiumError

    # Typer names only the children of the class that every error of usage has.
    usage_error: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    try:
        status = app(prog_name="podium", standalone_mode=False)
    except typer.Exit as stop:
        status = stop.exit_code
    except (KeyboardInterrupt, typer.Abort):
        status = fail("interrupted", 130)
    except usage_error as error:
        status = fail(error.format_message(), 2)
    except PodiumError as error:
        status = fail(str(error), error.exit_status)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status if isinstance(status, int) else 0)


def fail(message: str, status: int) -> int:
    """Print what is wrong on stderr, each line under Podium's name."""
    for line in message.splitlines() or [""]:
        sys.stderr.write(f"podium: {line}\n")
    return status
