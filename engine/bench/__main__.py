"""`python -m kestrel_engine.bench` is `kestrel-bench`."""

import sys

from kestrel_engine.entry import run_command


def main() -> int:
    return run_command("kestrel_engine.bench.cli")


if __name__ == "__main__":
    sys.exit(main())
