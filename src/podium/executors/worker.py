"""A worker process: takes tasks from its standard input, and gives what comes of them on its standard output.

A message is its length in eight bytes and its pickled value. The process ends when its input does.
"""

import os
import pickle
import signal
import struct
import sys
import threading
import time
import traceback
from typing import Any, BinaryIO

from podium.errors import ExecutorError
from podium.executors.running import run_batch

LENGTH = struct.Struct("<Q")


def send(stream: BinaryIO, value: Any) -> None:
    """Send a message."""
    content = pickle.dumps(value)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Receive a message.

    Raises:
        EOFError: the other side has ended.
    """
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    content = stream.read(LENGTH.unpack(head)[0])
    if len(content) < LENGTH.unpack(head)[0]:
        raise EOFError
    return pickle.loads(content)  # noqa: S301  (from the process that started this one, or from one it started)


def serve(tasks: BinaryIO, results: BinaryIO) -> None:
    """Run tasks until there are no more."""
    while True:
        try:
            function, batch = receive(tasks)
        except EOFError:
            return
        except Exception as error:  # noqa: BLE001  (whatever importing a user's module raises)
            send(results, (None, ExecutorError(f"a task cannot be read by a worker: {error}")))
            continue
        try:
            send(results, (run_batch(function, batch), None))
        except BrokenPipeError:
            return
        except Exception as error:  # noqa: BLE001  (the process that sent the task raises it)
            send(results, (None, portable(error)))


def portable(error: Exception) -> Exception:
    """The error, or where it cannot be pickled one that has its text."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (its own)
    except Exception:  # noqa: BLE001  (an author's error may fail in any way)
        return ExecutorError("".join(traceback.format_exception(error)))
    return error


def leave_with(parent: int) -> None:
    """End this process when the one that started it is gone, whatever it is doing."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def main() -> None:
    """Serve, with what is printed going to stderr, and Ctrl-C being for the process that started this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()
    results = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, results)


if __name__ == "__main__":
    main()
