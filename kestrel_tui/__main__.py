"""`python -m kestrel_tui` is `kestrel-chat`."""

import sys

from kestrel_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
