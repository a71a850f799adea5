"""Running a command so that ctrl+c never prints a traceback, not even while Python imports the command."""

from __future__ import annotations

import importlib
import signal


def run_command(module: str) -> int:
    """The exit status of `main()` of `module`, which is imported here.

    Before and after, ctrl+c ends the process as the system has it: an exception would find nobody to handle it.
    Nothing that takes time may be imported before this is called.
    """
    handler = signal.getsignal(signal.SIGINT)
    system = signal.SIG_IGN if handler == signal.SIG_IGN else signal.SIG_DFL
    signal.signal(signal.SIGINT, system)
    command = importlib.import_module(module)
    try:
        signal.signal(signal.SIGINT, handler)
        return command.main()
    except KeyboardInterrupt:  # before `main` could handle it, or after
        return 130
    finally:
        signal.signal(signal.SIGINT, system)
