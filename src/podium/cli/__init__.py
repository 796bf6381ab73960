"""The command line. Each command reads its input, calls the library and shows the result."""

import atexit
import gc
import os
import sys
import threading
from typing import Any, NoReturn

# Polars' allocator keeps free memory for half a second or longer, up to the size of a table.
ALLOCATOR_VARIABLE, ALLOCATOR_SETTINGS = "_RJEM_MALLOC_CONF", "dirty_decay_ms:50,muzzy_decay_ms:0"
ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000  # number of objects that may form cycles; Python's default is hundreds
INTERRUPTED = (
    "interrupted. Finished files and database changes are kept; nothing is left half done. Run the command again to do"
    " the rest."
)

AT_ONCE: tuple[list[str], ...] = ([], ["--version"])  # answered without the commands' libraries
FIRST_LINES = """\
Podium rates players of races and games, and gives a reason for every point.
  podium demo         see it on an example season
  podium rate FILE    rate your own results: a spreadsheet, CSV, JSON or Parquet
  podium serve        run the live service, with web pages and an HTTP API
All commands: podium --help. Documentation: https://github.com/podium-ratings/podium#readme
"""


def is_answered_at_once() -> bool:
    return sys.argv[1:] in AT_ONCE and "_PODIUM_COMPLETE" not in os.environ  # otherwise, a shell is completing a line


def run() -> None:
    """Run the `podium` command. After a short command, the process ends without freeing its memory first."""
    os.environ.setdefault(ALLOCATOR_VARIABLE, ALLOCATOR_SETTINGS)
    if not is_answered_at_once():
        gc.disable()  # the collector would repeatedly search everything that is loaded
        from podium.cli.commands import LONG_LIVED

        gc.enable()
        if named_command() in LONG_LIVED:
            main()
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS)
    try:
        main()
    except SystemExit as stop:
        leave(stop)


def named_command() -> str | None:
    """Return the command's name: the first word that does not begin with a dash."""
    return next((word for word in sys.argv[1:] if not word.startswith("-")), None)


def leave(stop: SystemExit) -> NoReturn:
    """End the process as soon as all output is written.

    Python would otherwise free everything that it has loaded first.

    If a thread is still running, or the output cannot be written, let Python end the process.
    """
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.current_thread()):
        raise stop
    atexit._run_exitfuncs()  # noqa: SLF001  (removes temporary files, writes logs)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        raise stop from None
    os._exit(stop.code if isinstance(stop.code, int) else 0)


def main() -> None:
    """Run `podium`.

    The exit status is 0 for success, 2 for invalid input or usage, and 130 if interrupted. There is never a traceback.
    """
    if is_answered_at_once():
        from podium import __version__

        sys.exit(write(f"podium {__version__}\n" if sys.argv[1:] else FIRST_LINES))
    import typer

    from podium.cli.commands import NAMES, build
    from podium.errors import PodiumError

    name = named_command()
    app = build(name if name in NAMES else None, listed=sys.argv[1:] in (["--help"], ["-h"]))

    # Typer exports only the subclasses of the class that all usage errors share.
    usage_error: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    try:
        status = app(prog_name="podium", standalone_mode=False)
        sys.stdout.flush()
    except typer.Exit as stop:
        status = stop.exit_code
    except (KeyboardInterrupt, typer.Abort):
        status = fail(INTERRUPTED, 130)
    except usage_error as error:
        is_alone = type(error).__name__ == "NoArgsIsHelpError"  # a group without a command shows its help
        status = fail(error.format_message() if is_alone else with_help(error), 2, "" if is_alone else "podium: ")
    except PodiumError as error:
        status = fail(str(error), error.exit_status)
    except OSError as error:
        status = fail_to_write(error)
    sys.exit(status if isinstance(status, int) else 0)


def with_help(error: Any) -> str:
    """Return the message of a usage error, with the command that lists the arguments and options."""
    message: str = error.format_message()
    if error.ctx is None:
        return message
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {error.ctx.command_path} --help."


def write(text: str) -> int:
    """Print text. Return the status of the command."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        return fail_to_write(error)
    return 0


def fail_to_write(error: OSError) -> int:
    """Return the status after a write failed, because the reader closed a pipe or the disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if isinstance(error, BrokenPipeError) else fail(str(error), 2)


def fail(message: str, status: int, name: str = "podium: ") -> int:
    """Print an error on stderr, with Podium's name at the start of each line."""
    for line in message.splitlines() or [""]:
        sys.stderr.write(f"{name}{line}\n")
    return status
