"""Errors that reach a person: one line that says what is wrong and what to do."""


class KestrelError(Exception):
    """A failure the user can act on. `str(error)` is one line: "what is wrong: what to do"."""

    exit_status = 1


class UsageError(KestrelError):
    """A bad option, configuration or model: exit status 2 (see the command-line contract)."""

    exit_status = 2
