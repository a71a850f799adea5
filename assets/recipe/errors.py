"""The one error of the recipe: bad input, said in one line."""

import sys
from collections.abc import Callable


class RecipeError(Exception):
    """The input cannot be used. The message is one line: what is wrong, and what to do about it."""


def run_command(command: Callable[[], None]) -> int:
    """Run `command`; print a RecipeError as one line on stderr. Returns the exit status, 0 or 2."""
    try:
        command()
    except RecipeError as error:
        print(f"kestrel-nano: {error}", file=sys.stderr)
        return 2
    return 0
