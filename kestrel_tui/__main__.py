"""`python -m kestrel_tui` is `kestrel-chat`."""

import sys

from kestrel_engine.entry import run_command


def main() -> int:
    return run_command("kestrel_tui.cli")


if __name__ == "__main__":
    sys.exit(main())
